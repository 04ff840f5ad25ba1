package kernels

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// A point that is a string has the code points of its letters as features, followed by end
// until all points have the same width. A letter may be any number ≥ 0, so a sequence of
// notes, for example, is a string too.
const end = -1

// mostLetters is the largest count of numbers that [Strings] makes for a given width: 4 GiB.
const mostLetters = 1 << 29

// Strings returns a point of width features for each string, for the kernels
// [Spectrum] and [GapWeighted]:
//
//	x := kernels.Strings(40, corpus...)
//	fit := svmnb.Classify(datasets.New(x, y)).Kernel(kernels.Spectrum(3)).MustFit()
//	classes, err := fit.Predict(kernels.Strings(40, "a new one"))
//
// Width 0 means the length of the longest string given. A string longer than width makes a
// longer point, which a machine refuses with an error. So choose the width for the longest
// string that will come. Letters are code points; bytes that are not UTF-8 become U+FFFD. A
// width that is negative, or so large that the points would take more than 4 GiB, panics with
// a *[ParamError].
func Strings(width int, list ...string) [][]float64 {
	if most := mostLetters / max(len(list), 1); width < 0 || width > most {
		panic(&ParamError{"Strings", "width", float64(width), fmt.Sprintf("want at most %d letters for each string, or 0 for the longest", most)})
	}
	if width == 0 {
		for _, s := range list {
			width = max(width, utf8.RuneCountInString(s))
		}
	}
	width = max(width, 1)
	x := make([][]float64, len(list))
	for i, s := range list {
		x[i] = make([]float64, 0, width)
		for _, letter := range s {
			x[i] = append(x[i], float64(letter))
		}
		for len(x[i]) < width {
			x[i] = append(x[i], end)
		}
	}
	return x
}

// StringOf returns the string of a point that [Strings] has made. The Eval of a string kernel
// of your own begins with it.
func StringOf(x []float64) string {
	letters := letters(x)
	runes := make([]rune, len(letters))
	for i, l := range letters {
		runes[i] = utf8.RuneError
		if l <= utf8.MaxRune {
			runes[i] = rune(l)
		}
	}
	return string(runes)
}

// letters returns the letters of x, without the end.
func letters(x []float64) []float64 {
	if i := slices.IndexFunc(x, func(v float64) bool { return v < 0 }); i >= 0 {
		return x[:i:i]
	}
	return x
}

// checkStrings is CheckPoints for kernels of strings.
func checkStrings(k Kernel, x [][]float64) error {
	for i, row := range x {
		ended := false
		for j, v := range row {
			if v < 0 && v != end || v >= 0 && ended {
				return &DataError{"x", i, j, v, fmt.Sprintf("%v is not a letter, and %v compares strings: make the points by kernels.Strings", v, k)}
			}
			ended = v == end
		}
	}
	return nil
}

// compare returns K of two strings as points.
func compare(k Kernel, a, b string) float64 {
	x := Strings(0, a, b)
	return k.Eval(x[0], x[1])
}

// checkLength returns a *ParamError unless k ≥ 1.
func checkLength(kernel string, k int) error {
	if k < 1 || k > math.MaxInt32 {
		return &ParamError{kernel, "k", float64(k), "want a number of letters of at least 1"}
	}
	return nil
}
