package solvers

import (
	"bufio"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/toy"
)

// isLinear reports whether the matrix is x x', to the bit.
func isLinear(m *toy.Gram) bool {
	for i, row := range m.K {
		for j, v := range row[:i+1] {
			if v != toy.Dot(m.X[i], m.X[j]) {
				return false
			}
		}
	}
	return true
}

func sigmoid(gamma, c float64) toy.Kernel {
	return func(x, z []float64) float64 { return math.Tanh(gamma*toy.Dot(x, z) + c) }
}

// rings draws a ring of radius 1 (+1) around a blob (−1).
func rings(rng *rand.Rand, n int) (x [][]float64, y []float64) {
	for i := range n {
		t, r, label := 2*math.Pi*rng.Float64(), 0.25*rng.NormFloat64(), -1.0
		if i%2 == 0 {
			r, label = 1+0.2*rng.NormFloat64(), 1
		}
		x, y = append(x, []float64{r * math.Cos(t), r * math.Sin(t)}), append(y, label)
	}
	return x, y
}

// heart returns heart_scale (270 × 13) or skips the test: the file is not part
// of the project.
func heart(t testing.TB) (x [][]float64, y []float64) {
	t.Helper()
	dir := os.Getenv("SVMNB_DATA")
	if dir == "" {
		t.Skip("heart_scale is needed: set SVMNB_DATA to the folder that has it (LIBSVM's data page)")
	}
	f, err := os.Open(filepath.Join(dir, "heart_scale"))
	if err != nil {
		t.Skipf("heart_scale is needed in the folder SVMNB_DATA: %v", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		row := make([]float64, 13)
		for _, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			j, err := strconv.Atoi(index)
			if err != nil {
				t.Fatal(err)
			}
			row[j-1] = number(t, value)
		}
		x, y = append(x, row), append(y, number(t, fields[0]))
	}
	if len(x) != 270 {
		t.Fatalf("heart_scale has %d rows, 270 expected", len(x))
	}
	return x, y
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// iris returns the measurements of two species, the first +1, the second −1;
// an empty second means all others.
func iris(t testing.TB, plus, minus string) (x [][]float64, y []float64) {
	t.Helper()
	d := datasets.Iris()
	if minus == "" {
		d = d.OneVsRest(plus)
	} else {
		d = d.Pair(plus, minus)
	}
	y, _, _, err := d.Binary()
	if err != nil {
		t.Fatal(err)
	}
	return d.X, y
}

func solve(t testing.TB, p *Problem, m Method, s Settings) *Result {
	t.Helper()
	r, err := Solve(context.Background(), p, m, s)
	if err != nil {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	return r
}

// plainDual is −(½α'Qα + p'α + b₀ s'α), term by term.
func plainDual(p *Problem, alpha []float64) float64 {
	w := 0.0
	for i, a := range alpha {
		w -= (p.P[i] + p.fixed()*p.S[i]) * a
		if p.Ridge != nil {
			w -= p.Ridge[i] * a * a / 2
		}
		if a == 0 {
			continue
		}
		for j, k := range p.K.Row(i) {
			w -= a * alpha[j] * p.S[i] * p.S[j] * k / 2
		}
	}
	return w
}

// plainPrimal is the objective of a classifier with the w of alpha and the bias
// b: ½‖w‖² + Σ c_i ξ_i, or ½‖w‖² + ½ Σ c_i ξ_i² where the ridge is 1/c_i.
func plainPrimal(p *Problem, alpha []float64, b float64) float64 {
	value := 0.0
	for i, a := range alpha {
		g := 0.0
		for j, k := range p.K.Row(i) {
			g += alpha[j] * p.S[j] * k
		}
		value += a * p.S[i] * g / 2
		slack := max(0, 1-p.S[i]*(g+b))
		if p.Ridge != nil {
			value += slack * slack / p.Ridge[i] / 2
		} else if slack > 0 {
			value += p.Upper[i] * slack
		}
	}
	return value
}

// equalitySum is |s'α − δ|, 0 where nothing asks for it.
func equalitySum(p *Problem, alpha []float64) float64 {
	if p.FixedBias {
		return 0
	}
	sum := -p.Delta
	for i, a := range alpha {
		sum += p.S[i] * a
	}
	return math.Abs(sum)
}

// largestAlpha is the size by which the equality may be judged: the largest cost,
// or the largest α where there is no cost.
func largestAlpha(p *Problem, alpha []float64) float64 {
	size := slices.Max(alpha)
	for _, u := range p.Upper {
		if !math.IsInf(u, 1) {
			size = max(size, u)
		}
	}
	return size
}
