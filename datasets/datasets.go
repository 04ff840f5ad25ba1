// Package datasets has small real data with its source and licence, seeded
// generators that give the same points on every machine, readers whose errors
// name line and column, and scaling that is fitted on training data only.
package datasets

// Dataset is n points of d features with a target each. Rows of X share one
// backing array; methods return new data sets and never change the receiver.
type Dataset struct {
	Name     string
	X        [][]float64 // n × d
	Y        []float64   // n targets: class numbers or real values
	Features []string    // d names; may be nil
	Classes  []string    // Classes[k] names the class whose Y is k; nil when targets speak for themselves
	Source   string      // where the data come from
	Licence  string
}
