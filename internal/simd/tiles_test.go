package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTiles: both loops against sums of float64, between pages that must not be touched.
func TestTiles(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testTiles[float64])
		t.Run("f32", testTiles[float32])
	})
}

func testTiles[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	tiles := NewTiles[T]()
	rows, columns := tiles.Rows, tiles.Columns
	if 192%rows != 0 || 192%columns != 0 {
		t.Fatalf("a tile of %d × %d does not divide 192", rows, columns)
	}
	for _, front := range []bool{false, true} {
		for k := range 40 {
			a, b, c := guarded[T](t, max(0, k-1)*columns+rows, front), guarded[T](t, k*columns, front), guarded[T](t, rows*columns, front)
			copy(a, random[T](rng, len(a)))
			copy(b, random[T](rng, len(b)))
			copy(c, random[T](rng, len(c)))
			want, size := make([]float64, len(c)), make([]float64, len(c))
			for i := range want {
				want[i] = float64(c[i])
				size[i] = math.Abs(want[i])
				for p := range k {
					v := float64(a[p*columns+i/columns]) * float64(b[p*columns+i%columns])
					want[i] += v
					size[i] += math.Abs(v)
				}
			}
			was := slices.Clone(c)
			tiles.Add(c, a, b, k, &c[0])
			for i, v := range c {
				if math.Abs(float64(v)-want[i]) > float64(k+2)*unit[T]()*size[i] {
					t.Fatalf("%d products: entry %d is %v, want %v", k, i, v, want[i])
				}
			}
			tiles.Subtract(c, a, b, k, nil)
			for i, v := range c {
				if math.Abs(float64(v-was[i])) > 2*float64(k+2)*unit[T]()*size[i] {
					t.Fatalf("%d products, added and taken away: entry %d is %v, was %v", k, i, v, was[i])
				}
			}
		}
		for k := range 20 {
			b, x, y := guarded[T](t, k*columns, front), guarded[float64](t, k, front), guarded[float64](t, columns, front)
			copy(b, random[T](rng, len(b)))
			copy(x, random[float64](rng, k))
			copy(y, random[float64](rng, columns))
			wantX, wantY := slices.Clone(x), slices.Clone(y)
			for p := range k {
				for j := range columns {
					wantX[p] -= float64(b[p*columns+j]) * y[j]
					wantY[j] -= float64(b[p*columns+j]) * x[p]
				}
			}
			gotX := slices.Clone(x)
			tiles.SubtractDots(gotX, b, y)
			tiles.SubtractRows(y, b, x)
			for p, v := range gotX {
				if math.Abs(v-wantX[p]) > 1e-13 {
					t.Fatalf("row %d of %d: %v, want %v", p, k, v, wantX[p])
				}
			}
			for j, v := range y {
				if math.Abs(v-wantY[j]) > 1e-13 {
					t.Fatalf("%d rows, column %d: %v, want %v", k, j, v, wantY[j])
				}
			}
			tiles.SubtractDots(x, b, y) // between the pages too
		}
		l, c := guarded[T](t, rows*rows, front), guarded[T](t, rows*columns, front)
		for i := range rows {
			for j := range rows {
				switch {
				case j < i:
					l[i*rows+j] = T(rng.NormFloat64())
				case j == i:
					l[i*rows+j] = T(1 / (2 + rng.Float64()))
				default:
					l[i*rows+j] = T(math.NaN()) // not read
				}
			}
		}
		x := random[T](rng, len(c))
		for i := range rows { // c = Lx
			for j := range columns {
				sum := float64(x[i*columns+j]) / float64(l[i*(rows+1)])
				for k := range i {
					sum += float64(l[i*rows+k]) * float64(x[k*columns+j])
				}
				c[i*columns+j] = T(sum)
			}
		}
		tiles.Divide(l, c)
		for i, v := range c {
			if math.Abs(float64(v-x[i])) > 1e4*unit[T]() {
				t.Fatalf("entry %d divided is %v, want %v", i, v, x[i])
			}
		}
	}
}

// TestTilesKeepTheirLevel: what was laid out for one level is not read by another.
func TestTilesKeepTheirLevel(t *testing.T) {
	defer SetLevel(Active())
	for from := range Best() + 1 {
		SetLevel(from)
		tiles := NewTiles[float64]()
		for to := range Best() + 1 {
			SetLevel(to)
			a, b, c := make([]float64, tiles.Rows), make([]float64, tiles.Columns), make([]float64, tiles.Rows*tiles.Columns)
			a[tiles.Rows-1], b[tiles.Columns-1] = 3, 5
			tiles.Add(c, a, b, 1, nil)
			if got := c[len(c)-1]; got != 15 {
				t.Errorf("made at %v, used at %v: %v, want 15", from, to, got)
			}
		}
	}
}
