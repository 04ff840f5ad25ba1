package datasets

import (
	"math"
	"slices"
	"sync"
	"testing"
)

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}

// Shape, classes and what has been published of the data: means of R's
// summary(iris), the tables of scikit-learn's descriptions, UCI's counts.
func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		get    func() *Dataset
		n, d   int
		count  map[string]int
		means  map[string]float64 // to 1e-6 relative
		extent map[string][2]float64
	}{
		{Iris, 150, 4, map[string]int{"setosa": 50, "versicolor": 50, "virginica": 50},
			map[string]float64{"sepal length (cm)": 876.5 / 150, "sepal width (cm)": 458.6 / 150, "petal length (cm)": 563.7 / 150, "petal width (cm)": 179.9 / 150},
			map[string][2]float64{"sepal length (cm)": {4.3, 7.9}, "sepal width (cm)": {2, 4.4}, "petal length (cm)": {1, 6.9}, "petal width (cm)": {0.1, 2.5}}},
		{Wine, 178, 13, map[string]int{"cultivar 1": 59, "cultivar 2": 71, "cultivar 3": 48},
			map[string]float64{"alcohol": 13.00061798, "proline": 746.8932584},
			map[string][2]float64{"malic acid": {0.74, 5.8}, "magnesium": {70, 162}, "OD280/OD315 of diluted wines": {1.27, 4}, "proline": {278, 1680}}},
		{BreastCancer, 569, 30, map[string]int{"benign": 357, "malignant": 212},
			map[string]float64{"mean radius": 14.12729174, "mean area": 654.8891037},
			map[string][2]float64{"mean radius": {6.981, 28.11}, "mean area": {143.5, 2501}, "texture error": {0.3602, 4.885}, "worst area": {185.2, 4254}, "mean concavity": {0, 0.4268}}},
		{Digits, 1797, 64, map[string]int{"0": 178, "1": 182, "2": 177, "3": 183, "4": 181, "5": 182, "6": 181, "7": 179, "8": 174, "9": 180},
			map[string]float64{"pixel 0:0": 0},
			map[string][2]float64{"pixel 0:3": {0, 16}, "pixel 7:7": {0, 16}}},
	} {
		d := c.get()
		t.Run(d.Name, func(t *testing.T) {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			if d.N() != c.n || d.D() != c.d || len(d.Features) != c.d || len(d.Classes) != len(c.count) || d.Source == "" || d.Licence != "CC BY 4.0" {
				t.Errorf("%v, %d features, source %q, licence %q", d, len(d.Features), d.Source, d.Licence)
			}
			for k, count := range d.Counts() {
				if count.N != c.count[count.Class] || count.Y != float64(k) || d.Classes[k] != count.Class {
					t.Errorf("class %d: %v", k, count)
				}
			}
			for name, mean := range c.means {
				one := d.ColumnsNamed(name)
				if err := one.Check(); err != nil {
					t.Fatal(err)
				}
				if got := sum(column(one, 0)) / float64(d.N()); math.Abs(got-mean) > 1e-6*mean {
					t.Errorf("mean of %s is %v, want %v", name, got, mean)
				}
			}
			for name, want := range c.extent {
				values := column(d.ColumnsNamed(name), 0)
				if got := [2]float64{slices.Min(values), slices.Max(values)}; got != want {
					t.Errorf("%s lies in %v, want %v", name, got, want)
				}
			}

			// Each caller has its own copy.
			d.X[0][0], d.Y[0], d.Classes[0], d.Features[0] = math.NaN(), math.NaN(), "changed", "changed"
			if again := c.get(); again.Check() != nil || again.Classes[0] == "changed" || again.Features[0] == "changed" {
				t.Error("a change reaches the next caller")
			}
		})
	}
}

func TestIrisIsFishers(t *testing.T) {
	iris := Iris()
	for flower, want := range map[int][]float64{35: {4.9, 3.1, 1.5, 0.2}, 38: {4.9, 3.6, 1.4, 0.1}} {
		if got := iris.X[flower-1]; !slices.Equal(got, want) {
			t.Errorf("flower %d is %v, Fisher's is %v", flower, got, want)
		}
	}
	// Table 2 of the paper: the means of each species.
	for k, want := range [][]float64{{5.006, 3.428, 1.462, 0.246}, {5.936, 2.770, 4.260, 1.326}, {6.588, 2.974, 5.552, 2.026}} {
		for j := range want {
			if got := sum(column(iris, j)[50*k:50*k+50]) / 50; math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("%s, %s: mean %v, want %v", iris.Classes[k], iris.Features[j], got, want[j])
			}
		}
	}
}

func TestDigitsInk(t *testing.T) {
	total := 0.0
	for i, row := range Digits().X {
		for j, v := range row {
			if v < 0 || v > 16 || v != math.Trunc(v) {
				t.Fatalf("row %d, pixel %d is %v", i, j, v)
			}
			total += v
		}
	}
	if total != 561718 {
		t.Errorf("%v of ink, want 561718", total)
	}
}

func TestEmbeddedFromManyGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d := Wine()
			d.X[0][0]++
			if d.X[0][0] != 15.23 {
				t.Errorf("%v", d.X[0][0])
			}
		})
	}
	wg.Wait()
}

// The sets for regression against the files that they were taken from: first
// and last rows, and the mean of the targets.
func TestEmbeddedRegression(t *testing.T) {
	for _, c := range []struct {
		get         func() *Dataset
		n, d        int
		first, last []float64 // features, then the target
		mean        float64   // of the targets
		says        string
	}{
		{Motorcycle, 133, 1, []float64{2.4, 0}, []float64{57.6, 10.7}, -25.5458646617, "motorcycle: 133 × 1, acceleration (g) -134 … 75"},
		{CO2, 468, 1, []float64{1959, 315.42}, []float64{1959 + 467.0/12, 364.34}, 337.0535256410, "co2: 468 × 1, CO2 (ppm) 313.2 … 366.8"},
		{Diabetes, 442, 10, []float64{59, 2, 32.1, 101, 157, 93.2, 38, 4, 4.8598, 87, 151}, []float64{36, 1, 19.6, 71, 250, 133.2, 97, 3, 4.5951, 92, 57}, 152.13348416289594, "diabetes: 442 × 10, progression 25 … 346"},
		{Cars, 50, 1, []float64{4, 2}, []float64{25, 85}, 42.98, "cars: 50 × 1, distance (ft) 2 … 120"},
	} {
		d := c.get()
		t.Run(d.Name, func(t *testing.T) {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			if d.N() != c.n || d.D() != c.d || len(d.Features) != c.d || d.Classes != nil || d.Source == "" || d.Licence == "" || d.String() != c.says {
				t.Errorf("%v, %d features, source %q, licence %q", d, len(d.Features), d.Source, d.Licence)
			}
			for i, want := range map[int][]float64{0: c.first, c.n - 1: c.last} {
				if got := append(slices.Clone(d.X[i]), d.Y[i]); !slices.Equal(got, want) {
					t.Errorf("row %d is %v, want %v", i, got, want)
				}
			}
			if got := sum(d.Y) / float64(c.n); math.Abs(got-c.mean) > 1e-10*math.Abs(c.mean) {
				t.Errorf("mean of the targets is %.10f, want %.10f", got, c.mean)
			}
			d.X[0][0], d.Y[0] = math.NaN(), math.NaN()
			if again := c.get(); again.Check() != nil {
				t.Error("a change reaches the next caller")
			}
		})
	}
}

// The features as scikit-learn 1.2.1 gives them by load_diabetes(): centred, and
// of length 1.
func TestDiabetesAsScaledByOthers(t *testing.T) {
	d := Diabetes().Standardised()
	want := []float64{0.038075906433423026, 0.05068011873981862, 0.061696206518683294, 0.0218723855140367, -0.04422349842444599,
		-0.03482076283769895, -0.04340084565202491, -0.002592261998183278, 0.019907486170462722, -0.01764612515980379}
	for j := range want {
		if got := d.X[0][j] / math.Sqrt(442); math.Abs(got-want[j]) > 1e-14 {
			t.Errorf("%s: %v, want %v", d.Features[j], got, want[j])
		}
	}
}

// The line of least squares of every introduction to R, lm(dist ~ speed, cars):
// -17.5791 + 3.9324 speed.
func TestCarsLine(t *testing.T) {
	d := Cars()
	x, mx, my := column(d, 0), sum(column(d, 0))/50, sum(d.Y)/50
	sxy, sxx := 0.0, 0.0
	for i := range x {
		sxy += (x[i] - mx) * (d.Y[i] - my)
		sxx += (x[i] - mx) * (x[i] - mx)
	}
	if slope := sxy / sxx; math.Abs(slope-3.9324) > 5e-5 || math.Abs(my-slope*mx+17.5791) > 5e-5 {
		t.Errorf("%v + %v speed", my-slope*mx, slope)
	}
}

// What R's help says of the three months without measurement.
func TestCO2Interpolated(t *testing.T) {
	y := CO2().Y[60:65] // January to May 1964
	for k, v := range y {
		if want := y[0] + (y[4]-y[0])*float64(k)/4; math.Abs(v-want) > 0.0051 {
			t.Errorf("month %d: %v, want %v", k, v, want)
		}
	}
}
