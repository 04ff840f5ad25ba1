package simd

import (
	"sync"

	"golang.org/x/sys/cpu"
)

// native returns the tables of AVX2 and AVX-512, if the machine and its operating system
// support them.
func native() (t []tables) {
	if x := cpu.X86; x.HasAVX2 && x.HasFMA && x.HasBMI2 {
		t = append(t, tables{
			&table[float32]{
				4, 24, 8, tileF32AVX2, crossF32AVX2, divideF32AVX2, lessRowsF32AVX2, lessDotsF32AVX2, row1F32AVX2, row4F32AVX2, expF32AVX2, gaussianF32AVX2, nil, nil, nil, dotF32AVX2, axpyF32AVX2, axpy4F32AVX2,
				[2]sparseLoop[float32]{sparseF32AVX2, sparseHalfF32AVX2}, transposeF32AVX2, smoUpdateF32AVX2, 8, smoSecondF32AVX2, new(sync.Pool), new(sync.Pool),
			},
			&table[float64]{
				4, 12, 4, tileF64AVX2, crossF64AVX2, divideF64AVX2, lessRowsF64AVX2, lessDotsF64AVX2, row1F64AVX2, row4F64AVX2, expF64AVX2, gaussianF64AVX2, nil, nil, nil, dotF64AVX2, axpyF64AVX2, axpy4F64AVX2,
				[2]sparseLoop[float64]{sparseF64AVX2, sparseHalfF64AVX2}, transposeF64AVX2, smoUpdateF64AVX2, 8, smoSecondF64AVX2, new(sync.Pool), new(sync.Pool),
			},
		})
		if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
			t = append(t, tables{
				&table[float32]{
					8, 48, 8, tileF32AVX512, crossF32AVX512, divideF32AVX512, lessRowsF32AVX512, lessDotsF32AVX512, row1F32AVX512, row4F32AVX512, expF32AVX512, gaussianF32AVX512, gaussianSumsF32AVX512, nil, gaussianValuesF32AVX512, dotF32AVX512, axpyF32AVX512, axpy4F32AVX512,
					[2]sparseLoop[float32]{sparseF32AVX512, sparseHalfF32AVX512}, transposeF32AVX2, smoUpdateF32AVX512, 16, smoSecondF32AVX512, new(sync.Pool), new(sync.Pool),
				},
				&table[float64]{
					8, 24, 8, tileF64AVX512, crossF64AVX512, divideF64AVX512, lessRowsF64AVX512, lessDotsF64AVX512, row1F64AVX512, row4F64AVX512, expF64AVX512, gaussianF64AVX512, gaussianSumsF64AVX512, gaussianBothF64AVX512, nil, dotF64AVX512, axpyF64AVX512, axpy4F64AVX512,
					[2]sparseLoop[float64]{sparseF64AVX512, sparseHalfF64AVX512}, transposeF64AVX512, smoUpdateF64AVX512, 16, smoSecondF64AVX512, new(sync.Pool), new(sync.Pool),
				},
			})
		}
	}
	return t
}
