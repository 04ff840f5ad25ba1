// Package schemes decides among several classes by the values of several machines. It imports
// nothing of the library, so that the engine of living figures can have it too.
package schemes

import (
	"math"
	"slices"
)

// Scheme is the way in which several machines decide together.
type Scheme int

const (
	OneVsOne Scheme = iota
	OneVsRest
	CrammerSinger
)

func (s Scheme) String() string {
	return [...]string{"one against one", "one against the rest", "Crammer–Singer"}[s]
}

// Winner returns the index of the class that these decision values predict. The two classes
// of each value are in duels.
func (s Scheme) Winner(classes int, duels [][2]int, values []float64) int {
	if s == OneVsOne {
		return Votes(make([]int, classes), duels, values)
	}
	return slices.Index(values, slices.Max(values))
}

// Keeps reports whether the class wins for all decision values between lower and upper.
func (s Scheme) Keeps(class, classes int, duels [][2]int, lower, upper []float64) bool {
	if s != OneVsOne {
		for k, high := range upper {
			if k != class && !(lower[class] > high) {
				return false
			}
		}
		return true
	}
	least, most := 0, make([]int, classes) // votes that the class surely gets, and that each class can get
	for k, d := range duels {
		if upper[k] > 0 {
			most[d[0]]++
		}
		if !(lower[k] > 0) {
			most[d[1]]++
		}
		if d[0] == class && lower[k] > 0 || d[1] == class && !(upper[k] > 0) {
			least++
		}
	}
	for r, votes := range most {
		if r != class && (votes > least || votes == least && r < class) {
			return false // Votes takes the first of equal classes
		}
	}
	return true
}

// Votes counts the duels that each class wins, into votes, which are 0 before, and returns
// the class that wins most.
func Votes(votes []int, duels [][2]int, values []float64) int {
	for k, v := range values {
		if v > 0 {
			votes[duels[k][0]]++
		} else {
			votes[duels[k][1]]++
		}
	}
	return slices.Index(votes, slices.Max(votes))
}

// Scores returns a score of each class; see svmnb.MultiFit.Scores.
func (s Scheme) Scores(classes int, duels [][2]int, values []float64) []float64 {
	if s != OneVsOne {
		return values
	}
	votes, sums := make([]float64, classes), make([]float64, classes)
	for k, v := range values {
		i, j := duels[k][0], duels[k][1]
		sums[i], sums[j] = sums[i]+v, sums[j]-v
		if v > 0 {
			votes[i]++
		} else {
			votes[j]++
		}
	}
	for k, v := range sums {
		votes[k] += v / (3 * (math.Abs(v) + 1))
	}
	return votes
}

// Leads returns for each class by how much it wins against its strongest rival. Only the
// winner's value is positive: if it has won among equal votes, its value is raised to 1e-9.
func (s Scheme) Leads(classes int, duels [][2]int, values []float64) []float64 {
	lead := slices.Repeat([]float64{math.Inf(1)}, classes)
	if s == OneVsOne {
		for k, v := range values {
			i, j := duels[k][0], duels[k][1]
			lead[i], lead[j] = min(lead[i], v), min(lead[j], -v)
		}
	} else {
		for i, v := range values {
			for j, w := range values {
				if i != j {
					lead[i] = min(lead[i], v-w)
				}
			}
		}
	}
	const tiny = 1e-9
	winner := s.Winner(classes, duels, values)
	for k := range lead {
		if k == winner {
			lead[k] = max(lead[k], tiny)
		} else {
			lead[k] = min(lead[k], -tiny)
		}
	}
	return lead
}

// AllOthers returns the duels of each of k classes with all others.
func AllOthers(k int) [][2]int {
	duels := make([][2]int, k)
	for i := range duels {
		duels[i] = [2]int{i, -1}
	}
	return duels
}

// AllPairs returns the duels of all pairs of k classes, or nil unless there are n of them.
func AllPairs(k, n int) [][2]int {
	if n != k*(k-1)/2 {
		return nil
	}
	duels := make([][2]int, 0, n)
	for i := range k {
		for j := i + 1; j < k; j++ {
			duels = append(duels, [2]int{i, j})
		}
	}
	return duels
}
