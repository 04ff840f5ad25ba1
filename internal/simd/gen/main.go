// Command gen writes the assembly of package simd for amd64, with avo.
//
// Every loop is written once, for a machine that has the width of a register and the element
// type, and emitted four times: for AVX-512 and AVX2, float32 and float64. The package's
// portable.go defines what each one computes.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	for _, wide := range []bool{true, false} {
		for _, single := range []bool{false, true} {
			m := machine{wide, single}
			m.tile("tile", m.tileRows())
			m.tile("cross", across*m.lanes())
			m.divide()
			m.lessRows()
			m.lessDots()
			m.panels(1)
			m.panels(4)
			m.exp()
			m.gaussian()
			if m.wide {
				m.gaussians("gaussianSums", toSums)
			}
			if m.wide && m.single {
				m.gaussians("gaussianValues", toC)
			}
			if m.wide && !m.single {
				m.gaussians("gaussianBoth", toBoth)
			}
			m.dot()
			m.axpy()
			m.axpy4()
			m.sparse(false)
			m.sparse(true)
			if !(m.wide && m.single) { // otherwise the tiles are eight rows high, too few for a strip of sixteen
				m.transpose()
			}
			m.smoUpdate()
			m.smoSecond()
			if single {
				m.smoSingleUpdate()
				m.smoSingleSecond()
			} else {
				m.dots()
				m.distances()
				m.expScaled()
				m.tally()
				m.gap()
				m.twofold()
				m.smoPair()
				m.smoPartner()
			}
		}
	}
	Generate()
}

// text opens the function with the name for this machine: dotF32AVX2 for "dot". In its
// In signature, T is the element type.
func (m machine) text(name, signature string) {
	element, level := "F64", "AVX2"
	if m.single {
		element = "F32"
	}
	if m.wide {
		level = "AVX512"
	}
	TEXT(name+element+level, NOSPLIT, m.goType(signature))
	Pragma("noescape")
}

func (m machine) goType(signature string) string {
	t := "float64"
	if m.single {
		t = "float32"
	}
	out := ""
	for _, r := range signature {
		if r == 'T' {
			out += t
		} else {
			out += string(r)
		}
	}
	return out
}

// end closes a function.
func end() {
	VZEROUPPER()
	RET()
}

func label(format string, args ...any) string { return fmt.Sprintf(format, args...) }
