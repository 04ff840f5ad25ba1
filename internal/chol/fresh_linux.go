package chol

import (
	"syscall"
	"unsafe"

	"github.com/svmnb/svmnb/internal/simd"
)

// fresh returns n zeros, of which the system is asked to make large pages where they are
// many: a page of 4 KB takes longer to have than to fill, and a factor has thousands.
func fresh[T simd.Float](n int) []T {
	const large = 2 << 20
	v := make([]T, n)
	p := unsafe.Pointer(unsafe.SliceData(v))
	skip := (large - uintptr(p)%large) % large
	if size := uintptr(n) * unsafe.Sizeof(v[0]); size >= skip+large {
		whole := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)/large*large)
		_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE) // what cannot be had is not missed
	}
	return v
}
