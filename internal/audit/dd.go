package audit

import "math"

// dd is a number hi + lo with |lo| ≤ ½ ulp(hi), which has about 106 bits (Dekker 1971; Hida,
// Li and Bailey 2001).
type dd struct{ hi, lo float64 }

// twoSum returns a + b exactly (Knuth).
func twoSum(a, b float64) dd {
	s := a + b
	v := s - a
	return dd{s, (a - (s - v)) + (b - v)}
}

// fast is twoSum for |a| ≥ |b| (Dekker).
func fast(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

// product returns a·b exactly, unless |a·b| is below 1e-290.
func product(a, b float64) dd {
	p := a * b
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) plus(b dd) dd {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = fast(s.hi, s.lo+t.hi)
	return fast(s.hi, s.lo+t.lo)
}

func (a dd) times(b dd) dd {
	p := product(a.hi, b.hi)
	return fast(p.hi, p.lo+math.FMA(a.hi, b.lo, a.lo*b.hi))
}

func (a dd) over(b dd) dd {
	q := a.hi / b.hi
	if math.IsInf(q, 0) || math.IsNaN(q) {
		return dd{q, 0}
	}
	rest := a.plus(b.times(dd{-q, 0}))
	return fast(q, rest.hi/b.hi)
}

func (a dd) by(f float64) dd { return a.times(dd{f, 0}) }
func (a dd) neg() dd         { return dd{-a.hi, -a.lo} }
func (a dd) minus(b dd) dd   { return a.plus(b.neg()) }
func (a dd) float() float64  { return a.hi + a.lo }
func (a dd) less(b dd) bool  { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }
func (a dd) positive() bool  { return a.hi > 0 }
func exact(f float64) dd     { return dd{f, 0} }
func larger(a, b dd) dd {
	if a.less(b) {
		return b
	}
	return a
}
