package datasets_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/svmnb/svmnb/datasets"
)

func Example() {
	flowers := datasets.Iris().Pair("virginica", "versicolor").Columns(2, 3)
	train, test := flowers.Split(0.8, 1)
	fmt.Println(train)
	fmt.Println(test)
	// Output:
	// iris virginica/versicolor (train): 80 × 2, 2 classes (versicolor 40, virginica 40)
	// iris virginica/versicolor (test): 20 × 2, 2 classes (versicolor 10, virginica 10)
}

func ExampleMoons() {
	moons := datasets.Moons(200, 0.15, 42) // n, noise, seed
	fmt.Println(moons)
	fmt.Printf("%.6f %+.0f\n", moons.X[0], moons.Y[0])
	// Output:
	// moons: 200 × 2, 2 classes (-1 100, +1 100)
	// [1.076721 0.475043] +1
}

func ExampleSinc() {
	fmt.Println(datasets.Sinc(5, 0, 1).X)    // n, noise, seed
	fmt.Println(datasets.Sinc(100, 0.1, 42)) // sin(x)/x, and errors of deviation 0.1
	// Output:
	// [[-8] [-4] [0] [4] [8]]
	// sinc: 100 × 1, targets -0.3663 … 1.102
}

func ExampleFriedman1() {
	train, test := datasets.Friedman1(200, 1, 42).Split(0.8, 1)
	fmt.Println(train)
	fmt.Println(test)
	// Output:
	// friedman1 (train): 160 × 10, targets 1.672 … 28.44
	// friedman1 (test): 40 × 10, targets 4.869 … 26.89
}

func ExampleFriedman2() {
	fmt.Println(datasets.Friedman2(200, 125, 42).Features)
	// Output:
	// [R omega L C]
}

func ExampleFriedman3() {
	fmt.Println(datasets.Friedman3(200, 0.1, 42))
	// Output:
	// friedman3: 200 × 4, targets 0.2104 … 1.74
}

func ExampleDiabetes() {
	patients := datasets.Diabetes()
	fmt.Println(patients)
	fmt.Println(patients.Features)
	// Output:
	// diabetes: 442 × 10, progression 25 … 346
	// [age sex bmi bp tc ldl hdl tch ltg glu]
}

func ExampleMotorcycle() {
	crash := datasets.Motorcycle()
	fmt.Println(crash)
	fmt.Println("against", crash.FeatureName(0))
	// Output:
	// motorcycle: 133 × 1, acceleration (g) -134 … 75
	// against time (ms)
}

func ExampleCO2() {
	air := datasets.CO2()
	fmt.Println(air)
	fmt.Printf("%.3f %.2f\n", air.X[467], air.Y[467])
	// Output:
	// co2: 468 × 1, CO2 (ppm) 313.2 … 366.8
	// [1997.917] 364.34
}

func ExampleCars() {
	fmt.Println(datasets.Cars())
	// Output:
	// cars: 50 × 1, distance (ft) 2 … 120
}

func ExampleFitTarget() {
	train := datasets.Motorcycle()
	scaler, err := datasets.FitTarget(train)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scaler)
	fmt.Printf("%.4f, %.4f g\n", scaler.Apply(train).Y[0], scaler.Invert(0.5))
	// Output:
	// target scaler: mean -25.55, standard deviation 48.14
	// 0.5307, -1.4758 g
}

func ExampleDataset_Check() {
	fmt.Println(datasets.Moons(200, -0.15, 42).Check())

	err := datasets.New([][]float64{{1, 2}, {3}}, []float64{1, -1}).Check()
	if place := (*datasets.Error)(nil); errors.As(err, &place) {
		fmt.Println(err)
		fmt.Println("look at row", place.Row)
	}
	// Output:
	// datasets: moons: noise is -0.15; it is a standard deviation, 0 or a positive number
	// datasets: data, row 1: the row has 1 value, row 0 has 2; all rows must be equally long (rows and columns count from 0)
	// look at row 1
}

func ExampleDataset_Binary() {
	_, _, _, err := datasets.Wine().Binary()
	fmt.Println(err)
	y, negative, positive, err := datasets.Wine().OneVsRest("cultivar 2").Binary()
	fmt.Println(y[0], negative, positive, err)
	// Output:
	// datasets: wine: there are 3 classes (cultivar 1, cultivar 2, cultivar 3) where two are needed; pick two by Pair("cultivar 3", "cultivar 2") or one against all others by OneVsRest("cultivar 3")
	// -1 rest cultivar 2 <nil>
}

func ExampleReadCSV() {
	table := "height,weight,sport\n190,85,rowing\n170,55,running\n"
	d, err := datasets.ReadCSV(strings.NewReader(table), datasets.CSV{Name: "athletes"})
	fmt.Println(d, err)

	_, err = datasets.ReadCSV(strings.NewReader("190,85,1\n170,5o,0\n"), datasets.CSV{})
	fmt.Println(err)
	// Output:
	// athletes: 2 × 2, 2 classes (rowing 1, running 1) <nil>
	// datasets: csv, line 2, column 2: "5o" is not a number
}

func ExampleReadLIBSVM() {
	d, err := datasets.ReadLIBSVM(strings.NewReader("+1 1:0.5 3:2\n-1 2:1 # a comment\n"), 0)
	fmt.Println(d.X, d.Y, err)

	_, err = datasets.ReadLIBSVM(strings.NewReader("+1 1:0.5\n-1 2:1 1:3\n"), 0)
	fmt.Println(err)
	// Output:
	// [[0.5 0 2] [0 1 0]] [1 -1] <nil>
	// datasets: libsvm, line 2, column 8: index 1 comes after 2; indices must increase
}

func ExampleFitMinMax() {
	train := datasets.New([][]float64{{0, 100}, {10, 300}}, []float64{-1, 1})
	test := datasets.New([][]float64{{5, 400}}, []float64{1})
	scaler, err := datasets.FitMinMax(train)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scaler.Apply(train).X)
	fmt.Println(scaler.Apply(test).X)
	// Output:
	// [[-1 -1] [1 1]]
	// [[0 2]]
}

func ExampleDataset_WriteLIBSVM() {
	if err := datasets.XOR(4, 0, 0).WriteLIBSVM(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 1:-1 2:1
	// -1 1:1 2:1
	// 1 1:1 2:-1
	// -1 1:-1 2:-1
}
