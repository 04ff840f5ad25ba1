//go:build !linux

package chol

import "github.com/svmnb/svmnb/internal/simd"

// fresh returns n zeros.
func fresh[T simd.Float](n int) []T { return make([]T, n) }
