package solvers

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestLIBSVM solves a few random problems with svm-train too, where it is
// installed (Debian: libsvm-tools).
func TestLIBSVM(t *testing.T) {
	tool, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train of LIBSVM is not installed (Debian: libsvm-tools)")
	}
	for seed := range uint64(12) {
		rng := toy.Rand(seed)
		n, d := 40+rng.IntN(100), 2+rng.IntN(4)
		x, y := toy.Points(rng, n, d, 0.6)
		y[0] = 1 // LIBSVM calls the class of the first line +1
		c, gamma, weight := math.Pow(10, 3*rng.Float64()-1), math.Pow(10, rng.Float64()-1), 1+3*rng.Float64()
		k, options := toy.Kernel(toy.Dot), []string{"-t", "0"}
		switch seed % 3 {
		case 1:
			k, options = toy.RBF(gamma), []string{"-t", "2", "-g", fmt.Sprint(gamma)}
		case 2:
			k, options = toy.Polynomial(gamma, 1, 2), []string{"-t", "1", "-d", "2", "-r", "1", "-g", fmt.Sprint(gamma)}
		}
		var lines bytes.Buffer
		costs := make([]float64, n)
		for i, row := range x {
			fmt.Fprint(&lines, y[i])
			for j, v := range row {
				fmt.Fprintf(&lines, " %d:%.17g", j+1, v)
			}
			fmt.Fprintln(&lines)
			if costs[i] = c; y[i] > 0 {
				costs[i] = c * weight
			}
		}
		file := filepath.Join(t.TempDir(), "points")
		if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		options = append(options, "-c", fmt.Sprint(c), "-w1", fmt.Sprint(weight), "-e", "1e-6", "-h", "0", file, file+".model")
		out, err := exec.Command(tool, options...).CombinedOutput()
		if err != nil {
			t.Fatalf("svm-train %v: %v\n%s", options, err, out)
		}
		m := regexp.MustCompile(`(?s)obj = (\S+), rho = (\S+)\s+nSV = (\d+), nBSV = (\d+)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("svm-train says something else:\n%s", out)
		}
		obj, rho, nSV, nBSV := number(t, string(m[1])), number(t, string(m[2])), number(t, string(m[3])), number(t, string(m[4]))
		cert := solve(t, SoftMargin(toy.NewGram(x, k), y, costs), SMO{}, Settings{Stop: UpLow{1e-8}}).Certificate
		// 3e-6, for LIBSVM keeps Q in float32 and the polynomial has large values.
		if !toy.Near(cert.Dual, -obj, 3e-6) || math.Abs(cert.Bias+rho) > 2e-4*(1+math.Abs(rho)) {
			t.Errorf("%v: W = %.9g, b = %.6g; LIBSVM %.9g, %.6g", options[:len(options)-2], cert.Dual, cert.Bias, -obj, -rho)
		}
		if math.Abs(float64(cert.Free+cert.AtUpper)-nSV) > 1 || math.Abs(float64(cert.AtUpper)-nBSV) > 1 {
			t.Errorf("%v: %d support vectors, %d at the bound; LIBSVM %g, %g", options[:len(options)-2], cert.Free+cert.AtUpper, cert.AtUpper, nSV, nBSV)
		}
	}
}
