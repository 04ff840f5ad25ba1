//go:build !linux

package solvers

import "github.com/svmnb/svmnb/internal/simd"

// fresh returns n zeros.
func fresh[T simd.Float](n int) []T { return make([]T, n) }
