//go:build race

package simd

func init() { raceDetector = true }
