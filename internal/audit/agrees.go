package audit

import (
	"fmt"
	"math"
)

// Claims are the figures of a certificate that another package has computed.
type Claims struct{ Dual, Primal, Gap, Violation, Norm2 float64 }

// Against returns an error for the first figure of a certificate that differs from the audit
// by more than factor times the rounding error of kernel values. A factor of about n allows
// for plain sums of n terms.
func (r Report) Against(c Claims, factor float64) error {
	tol, point := factor*r.Rounding, factor*r.ViolationRounding
	size := 0x1p-48 * (math.Abs(r.Dual) + r.Norm2) // rounding of sums in a single float64
	for _, f := range [...]struct {
		name              string
		claimed, got, tol float64
	}{
		{"W", c.Dual, r.Dual, tol + size},
		{"the primal", c.Primal, r.Primal, tol + size},
		{"the gap", c.Gap, r.Gap, tol + size},
		{"the violation", c.Violation, r.Violation, point},
		{"‖w‖²", c.Norm2, r.Norm2, tol + size},
	} {
		if f.claimed == f.got || math.Abs(f.claimed-f.got) <= f.tol {
			continue
		}
		return fmt.Errorf("%s is %.17g by the certificate and %.17g by the audit: %.2g apart, where rounding explains %.2g", f.name, f.claimed, f.got, math.Abs(f.claimed-f.got), f.tol)
	}
	return nil
}
