package datasets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed data/iris.csv
var irisCSV string

//go:embed data/wine.csv
var wineCSV string

//go:embed data/breast_cancer.csv
var breastCancerCSV string

//go:embed data/digits.csv.gz
var digitsGzip []byte

//go:embed data/motorcycle.csv
var motorcycleCSV string

//go:embed data/co2.csv
var co2CSV string

//go:embed data/diabetes.csv
var diabetesCSV string

//go:embed data/cars.csv
var carsCSV string

// kept parses a data set once, when it is first used. It has no initialiser, so a program
// links only the data sets that it uses.
type kept struct {
	once sync.Once
	set  *Dataset
}

func (k *kept) get(parse func() (*Dataset, error), about Dataset) *Dataset {
	k.once.Do(func() {
		d, err := parse()
		if err != nil {
			k.set = about.failed(err)
			return
		}
		d.Source, d.Licence = about.Source, about.Licence
		k.set = d
	})
	return k.set.clone()
}

func csvOf(name, text string) func() (*Dataset, error) {
	return func() (*Dataset, error) {
		return ReadCSV(strings.NewReader(text), CSV{Name: name, Header: HasHeader})
	}
}

var iris, wine, breastCancer, digits, motorcycle, co2, diabetes, cars kept

// Iris returns Fisher's irises (1936): 150 flowers with 4 lengths in cm, 150 × 4, and the
// classes setosa, versicolor and virginica with 50 flowers each. The values are those of the
// paper and of R. In UCI's file two flowers, 35 and 38, have wrong values.
func Iris() *Dataset {
	return iris.get(csvOf("iris", irisCSV), Dataset{
		Source:  "Fisher (1936), UCI Machine Learning Repository, doi:10.24432/C56C76, corrected as in the paper",
		Licence: "CC BY 4.0",
	})
}

// Wine returns a chemical analysis of 178 wines of three cultivars (59, 71, 48) from one
// region of Italy, 178 × 13. The features have very different scales.
func Wine() *Dataset {
	return wine.get(csvOf("wine", wineCSV), Dataset{
		Source:  "Aeberhard and Forina (1992), UCI Machine Learning Repository, doi:10.24432/C5PC7J",
		Licence: "CC BY 4.0",
	})
}

// BreastCancer returns Wisconsin's diagnostic set: 569 tumours with 30 measurements of their
// cell nuclei, 569 × 30, and the classes benign (0, 357 tumours) and malignant (1, 212).
func BreastCancer() *Dataset {
	return breastCancer.get(csvOf("breast cancer", breastCancerCSV), Dataset{
		Source:  "Wolberg, Mangasarian, Street and Street (1995), UCI Machine Learning Repository, doi:10.24432/C5DW2B",
		Licence: "CC BY 4.0",
	})
}

// Digits returns 1797 handwritten digits 0 … 9 as pictures of 8 × 8 pixels, 1797 × 64, row by
// row. A pixel is 0 … 16, from white to black. It is the test part of the set of Alpaydin and
// Kaynak.
func Digits() *Dataset {
	return digits.get(parseDigits, Dataset{
		Source:  "Alpaydin and Kaynak (1998), UCI Machine Learning Repository, doi:10.24432/C50P49, test part",
		Licence: "CC BY 4.0",
	})
}

func parseDigits() (*Dataset, error) {
	z, err := gzip.NewReader(bytes.NewReader(digitsGzip))
	if err != nil {
		return nil, err
	}
	d, err := ReadCSV(z, CSV{Name: "digits", Header: NoHeader})
	if err != nil {
		return nil, err
	}
	for p := range 64 {
		d.Features = append(d.Features, fmt.Sprintf("pixel %d:%d", p/8, p%8))
	}
	for k := range 10 {
		d.Classes = append(d.Classes, fmt.Sprint(k))
	}
	return d, nil
}

// Diabetes returns data of 442 patients, 442 × 10: age in years, sex (1, 2), body mass index,
// mean blood pressure, and six measurements of the blood serum (s1 … s6 of scikit-learn: total
// cholesterol, LDL, HDL, their ratio, the logarithm of triglycerides, sugar). The target is
// the progression of the disease a year later, 25 … 346. The features are unscaled;
// scikit-learn's default is Standardised()/√442.
func Diabetes() *Dataset {
	return diabetes.get(csvOf("diabetes", diabetesCSV), Dataset{
		Source:  "Efron, Hastie, Johnstone and Tibshirani (2004), Annals of Statistics 32, by way of scikit-learn",
		Licence: "facts, no copyright; scikit-learn distributes them under BSD-3-Clause",
	})
}

// Cars returns R's cars, 50 cars of the 1920s, 50 × 1: the speed in miles per hour and, as the
// target, the stopping distance in feet.
func Cars() *Dataset {
	return cars.get(csvOf("cars", carsCSV), Dataset{
		Source:  "Ezekiel (1930), Methods of Correlation Analysis, by way of R's cars",
		Licence: "facts, no copyright",
	})
}

// Motorcycle returns R's MASS::mcycle, a simulated motorcycle crash, 133 × 1: the time after
// the impact in ms and, as the target, the acceleration of the rider's head in g. Times
// repeat, and the noise is much smaller before the blow than after it.
func Motorcycle() *Dataset {
	return motorcycle.get(csvOf("motorcycle", motorcycleCSV), Dataset{
		Source:  "Schmidt, Mattern and Schüler (1981), in Silverman (1985), JRSS B 47, by way of R's MASS::mcycle",
		Licence: "facts, no copyright",
	})
}

// CO2 returns R's co2, Keeling's curve of the carbon dioxide over Mauna Loa, 468 × 1: the time
// in years, 1959 + i/12 in month i = 0 … 467, and as the target the concentration in parts per
// million. The values of February to April 1964 were not measured but interpolated.
func CO2() *Dataset {
	return co2.get(parseCO2, Dataset{
		Source:  "Keeling and Whorf, Scripps Institution of Oceanography, by way of R's co2",
		Licence: "facts, no copyright; Scripps publishes its record under CC BY 4.0",
	})
}

func parseCO2() (*Dataset, error) {
	d, err := csvOf("co2", co2CSV)()
	if err != nil {
		return nil, err
	}
	d.Features[0] = "year"
	for _, row := range d.X {
		row[0] = 1959 + row[0]/12
	}
	return d, nil
}
