package selection

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Split is one division of a data set: the rows to train on and the rows held out.
type Split struct{ Train, Test []int }

// Folds decides which rows are held out in turn. The package has [KFold],
// [StratifiedKFold], [RepeatedKFold] and [LeaveOneOutFolds]. Implement Folds yourself when
// groups of points must stay together or times must stay in order.
type Folds interface {
	Splits(data *datasets.Dataset) ([]Split, error)
	String() string
}

// Deal divides the rows at random into K parts and holds out one part after the other. The
// seed determines the parts.
type Deal struct {
	K          int
	Times      int  // how many times the rows are divided, each time into other parts; 0 means 1
	Stratified bool // every part gets its share of each class or, in a regression, of each range of targets
	Seed       uint64
}

// KFold divides the rows at random into k ≥ 2 parts whose sizes differ by at most one.
func KFold(k int, seed uint64) Deal { return Deal{K: k, Seed: seed} }

// StratifiedKFold is [KFold] with stratified parts: the numbers of points of each class in
// the parts also differ by at most one (Kohavi 1995). In a regression, the points are
// sorted by target, and each run of k neighbours goes to k different parts. Every class
// needs at least two points.
func StratifiedKFold(k int, seed uint64) Deal { return Deal{K: k, Stratified: true, Seed: seed} }

// RepeatedKFold divides the rows several times as [StratifiedKFold] does, so k·times parts
// are held out in all. This averages over the random choice of the parts.
func RepeatedKFold(k, times int, seed uint64) Deal {
	return Deal{K: k, Times: times, Stratified: true, Seed: seed}
}

// String returns the call that makes the value.
func (f Deal) String() string {
	switch {
	case f.Times != 0 && f.Stratified:
		return fmt.Sprintf("RepeatedKFold(%d, %d, %d)", f.K, f.Times, f.Seed)
	case f.Stratified:
		return fmt.Sprintf("StratifiedKFold(%d, %d)", f.K, f.Seed)
	case f.Times != 0:
		return say.Literal(f)
	}
	return fmt.Sprintf("KFold(%d, %d)", f.K, f.Seed)
}

// mostListed is the limit for the number of row numbers in all splits together: 1 GiB.
const mostListed = 1 << 27

// foldsFit reports whether k folds of n rows, made so many times, stay within mostListed.
func foldsFit(n, k, times int) bool { return times <= mostListed/k/n }

func (f Deal) Splits(data *datasets.Dataset) ([]Split, error) {
	if data == nil {
		return nil, data.Check()
	}
	n := data.N()
	switch {
	case f.K < 2 || f.K > n:
		return nil, arguments.Wrong("Folds", float64(f.K), "%s for %s; give from 2 folds to as many as there are points", say.Several(f.K, "fold"), say.Several(n, "point"))
	case f.Times > 1 && !foldsFit(n, f.K, f.Times):
		return nil, arguments.Wrong("Folds", float64(f.Times), "%d folds dealt %d times over %d points are more than the %d row numbers that are listed at once: deal them less often, or split by Folds of your own", f.K, f.Times, n, mostListed)
	case !foldsFit(n, f.K, 1):
		return nil, arguments.Wrong("Folds", float64(f.K), "%d folds of %d points are more than the %d row numbers that are listed at once: take fewer folds", f.K, n, mostListed)
	case f.Times < 0:
		return nil, arguments.Wrong("Folds", float64(f.Times), "the points are dealt %d times; deal them at least once", f.Times)
	}
	classes := false
	if f.Stratified {
		counts := data.Counts()
		classes = data.Classes != nil || len(counts) <= 10
		for _, c := range counts {
			if classes && c.N < 2 {
				return nil, arguments.Wrong("Folds", c.Y, "class %s has 1 point, and needs 2, one to learn from and one to hold out; leave the class out, or take KFold", c.Class)
			}
		}
	}
	rng := rand.New(rand.NewPCG(f.Seed, 0x5e1ec7))
	var splits []Split
	for range max(f.Times, 1) {
		order := rng.Perm(n)
		if f.Stratified {
			slices.SortStableFunc(order, func(a, b int) int {
				switch ya, yb := data.Y[a], data.Y[b]; {
				case ya < yb:
					return -1
				case ya > yb:
					return 1
				}
				return 0
			})
		}
		part, seats := make([]int, n), rng.Perm(f.K)
		for at, i := range order {
			if at%f.K == 0 && f.Stratified && !classes {
				seats = rng.Perm(f.K) // otherwise one part would get the least of every k targets
			}
			part[i] = seats[at%f.K]
		}
		for k := range f.K {
			var s Split
			for i, p := range part {
				if p == k {
					s.Test = append(s.Test, i)
				} else {
					s.Train = append(s.Train, i)
				}
			}
			splits = append(splits, s)
		}
	}
	return splits, nil
}

// LeaveOneOutFolds holds out each point in turn, which takes n fits. Three kinds of fits
// have cheaper results of their own: svmnb.Regressor.Ridge and package gp compute the
// errors from one fit, and svmnb.Fit has bounds.
func LeaveOneOutFolds() Folds { return oneOut{} }

type oneOut struct{}

func (oneOut) String() string { return "LeaveOneOutFolds()" }

func (oneOut) Splits(data *datasets.Dataset) ([]Split, error) {
	if data == nil {
		return nil, data.Check()
	}
	n := data.N()
	if n < 2 {
		return nil, arguments.Wrong("Folds", float64(n), "there is only %s; leaving one out needs 2", say.Several(n, "point"))
	}
	if !foldsFit(n, n, 1) {
		return nil, arguments.Wrong("Folds", float64(n), "%d points left out one by one are more than the %d row numbers that are listed at once: take StratifiedKFold(10, 1)", n, mostListed)
	}
	splits := make([]Split, n)
	for i := range splits {
		splits[i].Test = []int{i}
		for j := range n {
			if j != i {
				splits[i].Train = append(splits[i].Train, j)
			}
		}
	}
	return splits, nil
}

// split asks folds for its splits and checks them, since folds may be a user's type: the
// rows exist, both sides have rows, and no row is on both sides.
func split(folds Folds, data *datasets.Dataset) ([]Split, error) {
	if folds == nil {
		return nil, arguments.Wrong("Folds", math.NaN(), "the folds are nil; give some such as selection.StratifiedKFold(5, 1)")
	}
	var splits []Split
	err := panics.Call(func() string { return fmt.Sprintf("the folds %v", folds) }, func() (err error) {
		splits, err = folds.Splits(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(splits) == 0 {
		return nil, arguments.Wrong("Folds", 0, "%v holds nothing out; give folds such as selection.KFold(5, 1)", folds)
	}
	side := make([]int, data.N()) // k+1 if the last split that trains on the row is split k
	for k, s := range splits {
		if len(s.Train) == 0 || len(s.Test) == 0 {
			return nil, arguments.Wrong("Folds", float64(k), "fold %d has %d rows to learn from and %d to hold out; it needs at least one of both", k+1, len(s.Train), len(s.Test))
		}
		for _, i := range slices.Concat(s.Train, s.Test) {
			if i < 0 || i >= data.N() {
				return nil, arguments.At("Folds", i, -1, float64(i), "fold %d names this row of %d", k+1, data.N())
			}
		}
		for _, i := range s.Train {
			side[i] = k + 1
		}
		for _, i := range s.Test {
			if side[i] == k+1 {
				return nil, arguments.At("Folds", i, -1, float64(i), "fold %d learns from this row and holds it out; what is seen in training says nothing about new points", k+1)
			}
		}
	}
	return splits, nil
}

// twins counts held-out points that are also in the training part of their fold, with the
// same features and target. A machine that memorises its data predicts them without error.
func twins(splits []Split, data *datasets.Dataset) (twin, held int) {
	point := make([]string, data.N())
	all := points.Of(data)
	for i := range point {
		point[i] = string(binary.LittleEndian.AppendUint64(all.AppendRow(nil, i), math.Float64bits(data.Y[i])))
	}
	for _, s := range splits {
		seen := make(map[string]bool, len(s.Train))
		for _, i := range s.Train {
			seen[point[i]] = true
		}
		for _, i := range s.Test {
			held++
			if seen[point[i]] {
				twin++
			}
		}
	}
	return twin, held
}
