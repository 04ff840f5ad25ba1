package steps

import (
	"math"
	"strconv"
)

// TargetMap is a fitted transformation of real targets: t = (ln(y + Shift) − Centre)/Width, or
// without Log t = (y − Centre)/Width. It is increasing.
type TargetMap struct {
	Log    bool    `json:"log,omitempty"`
	Shift  float64 `json:"shift,omitempty"` // used with Log only
	Centre float64 `json:"centre"`
	Width  float64 `json:"width"` // > 0
}

// Apply returns the transformed target: NaN for one whose logarithm does not exist.
func (t *TargetMap) Apply(y float64) float64 {
	if t.Log {
		if y += t.Shift; !(y > 0) {
			return math.NaN()
		}
		y = math.Log(y)
	}
	return (y - t.Centre) / t.Width
}

// Invert returns a transformed target or prediction in the units of the data. A nil t returns
// it as it is.
func (t *TargetMap) Invert(v float64) float64 {
	if t == nil {
		return v
	}
	v = t.Centre + float64(t.Width*v)
	if t.Log {
		v = math.Exp(v) - t.Shift
	}
	return v
}

// LogSlope returns ln(dt/dy) at y, by which a log density of t becomes one of y.
func (t *TargetMap) LogSlope(y float64) float64 {
	if t.Log {
		return -math.Log(y+t.Shift) - math.Log(t.Width)
	}
	return -math.Log(t.Width)
}

// Sound reports whether the map is increasing and finite.
func (t *TargetMap) Sound() bool {
	finite := func(v float64) bool { return v-v == 0 }
	return t == nil || finite(t.Shift) && finite(t.Centre) && finite(t.Width) && t.Width > 0
}

// String describes the map in one line.
func (t *TargetMap) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	text := "the targets"
	if t.Log {
		text = "the logarithm of the targets"
		if t.Shift != 0 {
			text += " + " + number(t.Shift)
		}
	}
	if t.Centre != 0 || t.Width != 1 {
		text += ", centre " + number(t.Centre) + ", width " + number(t.Width)
	}
	return text
}
