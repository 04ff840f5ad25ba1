//go:build !amd64

package simd

func native() []tables { return nil }
