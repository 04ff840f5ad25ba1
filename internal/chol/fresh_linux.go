package chol

import (
	"syscall"
	"unsafe"

	"github.com/svmnb/svmnb/internal/simd"
)

// fresh returns n zeros. For large n it asks the system for large pages, because a factor has
// thousands of 4 KB pages, and getting one takes longer than filling it.
func fresh[T simd.Float](n int) []T {
	const large = 2 << 20
	v := make([]T, n)
	p := unsafe.Pointer(unsafe.SliceData(v))
	skip := (large - uintptr(p)%large) % large
	if size := uintptr(n) * unsafe.Sizeof(v[0]); size >= skip+large {
		whole := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)/large*large)
		_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE) // after an error the pages have their ordinary size
	}
	return v
}
