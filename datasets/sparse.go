package datasets

import "fmt"

// Sparse is n points of d features, most of which are 0, with a target each.
// [ReadLIBSVMSparse] makes one.
type Sparse struct {
	Name   string
	X      CSR
	Y      []float64 // n targets: class numbers or real values
	Source string    // where the data come from
}

// CSR is n points of d features by compressed rows: point i has the features
// Index[Start[i]:Start[i+1]], from 0 and increasing, with the Value of each, and 0
// in all others. The conversion kernels.CSR(x) makes it an argument of
// kernels.NewSparseGram.
type CSR struct {
	Start []int     // n + 1 places, the first 0
	Index []int32   // of a feature
	Value []float64 // as many
	D     int       // features of a point
}

// N returns the number of points.
func (s *Sparse) N() int { return len(s.Y) }

// D returns the number of features.
func (s *Sparse) D() int { return s.X.D }

// String describes the data in one line: "a9a: 32561 × 123, 11.3 % of the values
// are there".
func (s *Sparse) String() string {
	return fmt.Sprintf("%s: %d × %d, %.3g %% of the values are there", s.Name, s.N(), s.D(), 100*float64(len(s.X.Value))/max(1, float64(s.N())*float64(s.D())))
}
