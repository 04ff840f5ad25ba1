package simd

import (
	"math"
	"sync"
	"unsafe"

	"github.com/svmnb/svmnb/internal/vec"
)

// portable returns the loops in plain Go. They take pointers like those in assembly, and
// define what these compute.
func portable[T Float]() *table[T] {
	return &table[T]{
		portableRows, portableColumns, 0, tilePortable[T], tilePortable[T], dividePortable[T], lessRowsPortable[T], lessDotsPortable[T], row1Portable[T], row4Portable[T], expPortable[T], gaussianPortable[T], nil, nil, nil, dotPortable[T],
		axpyPortable[T], axpy4Portable[T], [2]sparseLoop[T]{sparsePortable[T], sparseHalfPortable[T]}, nil, smoUpdatePortable[T], smoLanes, smoSecondPortable[T], new(sync.Pool), new(sync.Pool),
	}
}

const portableRows, portableColumns = 4, 4

// tilePortable sets C, rows × columns with row stride ldc, to A·B, or adds A·B to it, or
// subtracts A·B from it. Step p of k has the elements a[p·rows+i] and b[p·columns+j]. As
// cross, A has the elements a[p·columns+i]; here rows and columns are equal, so both are the
// same.
func tilePortable[T Float](k int, a, b, c *T, ldc int, to uint8, ahead int) {
	as, bs := unsafe.Slice(a, k*4), unsafe.Slice(b, k*4)
	// Two rows at a time fit into the registers.
	for i := 0; i < 4; i += 2 {
		var s [2][4]T
		s00, s01, s02, s03 := s[0][0], s[0][1], s[0][2], s[0][3]
		s10, s11, s12, s13 := s[1][0], s[1][1], s[1][2], s[1][3]
		for p := 0; p+4 <= len(as) && p+4 <= len(bs); p += 4 {
			x, y := as[p:p+4:p+4], bs[p:p+4:p+4]
			x0, x1 := x[i], x[i+1]
			y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
			s00 += x0 * y0
			s01 += x0 * y1
			s02 += x0 * y2
			s03 += x0 * y3
			s10 += x1 * y0
			s11 += x1 * y1
			s12 += x1 * y2
			s13 += x1 * y3
		}
		s = [2][4]T{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
		for r := range s {
			row := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(c), uintptr((i+r)*ldc)*unsafe.Sizeof(*c))), 4)
			put(row, s[r][:], to)
		}
	}
}

// dividePortable replaces C, rows × columns without gaps, by L⁻¹C. L is lower triangular, rows
// × rows, with the reciprocals of the diagonal entries on its diagonal.
func dividePortable[T Float](l, c *T) {
	ls, cs := unsafe.Slice(l, portableRows*portableRows), unsafe.Slice(c, portableRows*portableColumns)
	for i := range portableRows {
		row := cs[i*portableColumns:][:portableColumns]
		for k, v := range ls[i*portableRows:][:i] {
			for j, known := range cs[k*portableColumns:][:portableColumns] {
				row[j] -= T(v * known)
			}
		}
		for j := range row {
			row[j] *= ls[i*(portableRows+1)]
		}
	}
}

// lessRowsPortable subtracts x[p]·b[p·columns+j] from y[j] for all p < k, in float64.
func lessRowsPortable[T Float](k int, b *T, x, y *float64) {
	bs, ys := unsafe.Slice(b, k*4), unsafe.Slice(y, 4)
	y0, y1, y2, y3 := ys[0], ys[1], ys[2], ys[3]
	for _, v := range unsafe.Slice(x, k) {
		y0 -= float64(v * float64(bs[0]))
		y1 -= float64(v * float64(bs[1]))
		y2 -= float64(v * float64(bs[2]))
		y3 -= float64(v * float64(bs[3]))
		bs = bs[4:]
	}
	ys[0], ys[1], ys[2], ys[3] = y0, y1, y2, y3
}

// lessDotsPortable subtracts Σ b[p·columns+j]·y[j] from x[p] for all p < k, in float64.
func lessDotsPortable[T Float](k int, b *T, x, y *float64) {
	bs, ys := unsafe.Slice(b, k*4), unsafe.Slice(y, 4)
	xs := unsafe.Slice(x, k)
	for p := range xs {
		sum := float64(float64(bs[0])*ys[0]) + float64(float64(bs[1])*ys[1])
		xs[p] -= sum + (float64(float64(bs[2])*ys[2]) + float64(float64(bs[3])*ys[3]))
		bs = bs[4:]
	}
}

// row1Portable sets the columns of c to the product of one row with a panel of B, or adds or
// subtracts it, as to says. row4Portable does so for four panels, which begin stride elements
// apart.
func row1Portable[T Float](k int, a, b *T, stride int, c *T, to uint8) {
	as, bs := unsafe.Slice(a, k), unsafe.Slice(b, k*4)
	var s0, s1, s2, s3 T
	for p, x := range as {
		y := bs[4*p : 4*p+4 : 4*p+4]
		s0 += x * y[0]
		s1 += x * y[1]
		s2 += x * y[2]
		s3 += x * y[3]
	}
	put(unsafe.Slice(c, 4), []T{s0, s1, s2, s3}, to)
}

func row4Portable[T Float](k int, a, b *T, stride int, c *T, to uint8) {
	size := unsafe.Sizeof(*b)
	for p := range uintptr(4) {
		row1Portable(k, a, (*T)(unsafe.Add(unsafe.Pointer(b), p*uintptr(stride)*size)), stride, (*T)(unsafe.Add(unsafe.Pointer(c), p*portableColumns*size)), to)
	}
}

// expPortable sets dst[j] to exp(scale·x[j]).
func expPortable[T Float](dst, x *T, n int, scale T) {
	xs, out := unsafe.Slice(x, n), unsafe.Slice(dst, n)
	for j, v := range xs {
		out[j] = T(vec.Exp(float64(v * scale)))
	}
}

// gaussianPortable sets dst[j] to exp(−gamma·max(0, a + b[j] − 2·dst[j])).
func gaussianPortable[T Float](dst, b *T, n int, a, gamma T) {
	if dst, single := any(dst).(*float32); single {
		gaussianSingle(dst, any(b).(*float32), n, float32(a), float32(gamma))
		return
	}
	bs, v := unsafe.Slice(b, n), unsafe.Slice(dst, n)
	for j, dot := range v {
		// Doubling is exact, so a fused subtraction gives the same result.
		v[j] = max(0, a+bs[j]-2*dot) * -gamma
	}
	expPortable(dst, dst, n, 1)
}

// gaussianSingle is gaussianPortable for float32. It computes a power of 2. It sets very small
// results to 0, because they would be inaccurate as subnormal numbers.
func gaussianSingle(dst, b *float32, n int, a, gamma float32) {
	bs, v := unsafe.Slice(b, n), unsafe.Slice(dst, n)
	g := gamma * math.Log2E
	far := 125 / g
	for j, dot := range v {
		s := max(0, max(a, bs[j])-2*dot+min(a, bs[j]))
		if v[j] = 0; !(s >= far) {
			v[j] = float32(vec.Exp(-math.Ln2 * float64(float64(g)*float64(s))))
		}
	}
}

// dotPortable returns Σ x[j]·y[j] in float64.
func dotPortable[T Float](x *T, y *float64, n int) float64 {
	xs, ys := unsafe.Slice(x, n), unsafe.Slice(y, n)
	var s0, s1, s2, s3 float64
	for len(xs) >= 4 && len(ys) >= 4 {
		s0 += float64(xs[0]) * ys[0]
		s1 += float64(xs[1]) * ys[1]
		s2 += float64(xs[2]) * ys[2]
		s3 += float64(xs[3]) * ys[3]
		xs, ys = xs[4:], ys[4:]
	}
	for j, v := range xs {
		s0 += float64(v) * ys[j]
	}
	return s0 + s1 + (s2 + s3)
}

// axpyPortable adds c·x[j] to y[j] in float64.
func axpyPortable[T Float](c float64, x *T, y *float64, n int) {
	ys := unsafe.Slice(y, n)
	for j, v := range unsafe.Slice(x, n) {
		ys[j] += c * float64(v)
	}
}

// axpy4Portable adds c[r]·rows[r][from+j] to y[j] for four rows r, one after the other.
func axpy4Portable[T Float](c *float64, rows *[]T, from int, y *float64, n int) {
	f, r, ys := unsafe.Slice(c, 4), unsafe.Slice(rows, 4), unsafe.Slice(y, n)
	f0, f1, f2, f3 := f[0], f[1], f[2], f[3]
	r0, r1, r2, r3 := r[0][from:from+n], r[1][from:from+n], r[2][from:from+n], r[3][from:from+n]
	for j, s := range ys {
		s += f0 * float64(r0[j])
		s += f1 * float64(r1[j])
		s += f2 * float64(r2[j])
		ys[j] = s + f3*float64(r3[j])
	}
}

// sparsePortable sets dst[Lanes·j+l] to Σ val[p]·w[Lanes·col[p]+l] over
// start[j] ≤ p < start[j+1], for n rows j.
func sparsePortable[T Float](dst, w *T, start *int, col *int32, val *T, n int) {
	lanes := Lanes[T]()
	for from := 0; from < lanes; from += portableLanes {
		sparseSome(dst, lanes, from, w, start, col, val, n)
	}
}

// sparseHalfPortable is sparsePortable for the lanes l < Lanes/2. It sets dst[Lanes/2·j+l].
func sparseHalfPortable[T Float](dst, w *T, start *int, col *int32, val *T, n int) {
	half := Lanes[T]() / 2
	for from := 0; from < half; from += portableLanes {
		sparseSome(dst, half, from, w, start, col, val, n)
	}
}

const portableLanes = 16

func sparseSome[T Float](dst *T, ld, from int, w *T, start *int, col *int32, val *T, n int) {
	if n == 0 {
		return
	}
	starts, out := unsafe.Slice(start, n+1), unsafe.Slice(dst, ld*n)
	for j := range n {
		s := (*[portableLanes]T)(out[ld*j+from:])
		*s = [portableLanes]T{}
		for p := starts[j]; p < starts[j+1]; p++ {
			c := *(*int32)(unsafe.Add(unsafe.Pointer(col), p*4))
			v := *(*T)(unsafe.Add(unsafe.Pointer(val), uintptr(p)*unsafe.Sizeof(*val)))
			x := (*[portableLanes]T)(unsafe.Add(unsafe.Pointer(w), (uintptr(Lanes[T]())*uintptr(c)+uintptr(from))*unsafe.Sizeof(*w)))
			for l := range s {
				s[l] += v * x[l]
			}
		}
	}
}

// smoUpdatePortable is [SMOUpdate]. The conversions prevent fused multiply-adds.
func smoUpdatePortable[T Float](f *float64, ki, kj *T, up, low *float64, n int, t float64) (i int, most, least float64) {
	fs, us, ls := unsafe.Slice(f, n), unsafe.Slice(up, n), unsafe.Slice(low, n)
	as, bs := unsafe.Slice(ki, n), unsafe.Slice(kj, n)
	i, most, least = -1, math.Inf(-1), math.Inf(1)
	for j, v := range fs {
		v -= float64(t * (float64(as[j]) - float64(bs[j])))
		fs[j] = v
		if u := v + us[j]; u > most {
			i, most = j, u
		}
		if l := v + ls[j]; l < least {
			least = l
		}
	}
	return i, most, least
}

// smoSecondPortable is [SMOSecond] for n elements, where n is a multiple of 16.
func smoSecondPortable[T Float](f, low *float64, ki *T, diag *float64, n int, fi, kii, tau float64) (j int, gain float64) {
	fs, ls, ks, ds := unsafe.Slice(f, n), unsafe.Slice(low, n), unsafe.Slice(ki, n), unsafe.Slice(diag, n)
	var above, below [smoLanes]float64
	var at [smoLanes]int
	for l := range below {
		below[l] = 1
	}
	for i, v := range fs {
		d := max(0, fi-(v+ls[i]))
		kappa := max(tau, kii+ds[i]-2*float64(ks[i]))
		if square, l := float64(d*d), i%smoLanes; float64(square*below[l]) > float64(above[l]*kappa) {
			above[l], below[l], at[l] = square, kappa, i
		}
	}
	for l, i := range at {
		if g := above[l] / below[l]; g > gain || g == gain && i < j {
			j, gain = i, g
		}
	}
	return j, gain
}
