//go:build !amd64

package simd

func dots(dst, x, cols *float64, n, d, stride int) bool { return false }

func distances(dst, x, cols *float64, n, d, stride int) bool { return false }

func tally(out, alpha, f, sign, p, lower, upper *float64, n int) bool { return false }

func gap(out, alpha, f, sign, lower, upper *float64, n int, b float64) bool { return false }

func expScaled(v *float64, n int, a float64, roots *uint64) (left, lanes int) { return n, n }
