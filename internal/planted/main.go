// Command planted puts faults into the code, one at a time, and checks that a named test
// fails:
//
//	go run ./internal/planted            # all of them, some minutes
//	go run ./internal/planted ridge bias # those whose name has one of the words
//
// The source files are not changed: go test -overlay gives the compiler a changed copy of one
// file. An entry whose old text does not occur exactly once is an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bug is a wrong text for a place in a file of the module, and the test that finds it.
type bug struct {
	name      string
	file      string
	old, new  string
	pkg, test string // the test is go test pkg -run test
}

var bugs = []bug{
	{"wrong slack in the gap", "solvers/gap.go", "return g * (a - lower)", "return g * (upper - a)", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"the best bias on the wrong side", "solvers/gap.go", "if slope < 0 {", "if slope > 0 {", "./solvers", "TestGeneralProblems"},
	{"wrong gap term of the ridge", "solvers/gap.go", "return (a - x) * (g + ridge*(a+x)/2)", "return (a - x) * (g + ridge*(a-x)/2)", "./solvers", "TestGeneralProblems"},
	{"wrong ridge of the 2-norm", "solvers/problem.go", "p.Ridge[i] = 1 / ci", "p.Ridge[i] = 2 / ci", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"wrong sign of ε below the tube", "solvers/regression.go", "p.P = append(p.P, epsilon+v)", "p.P = append(p.P, v-epsilon)", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"ν counts half of the points", "solvers/nu.go", "PerClass: true, Sum: nu * all}", "PerClass: true, Sum: nu * all / 2}", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"wrong sign of the augmented bias", "svmnb/fit.go", "fit.Bias += t.tau2 * a * t.y[i]", "fit.Bias -= t.tau2 * a * t.y[i]", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"ν machines are not scaled by ρ", "svmnb/fit.go", "fit.scale = 1 / res.Certificate.Rho", "fit.scale = res.Certificate.Rho", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"the ridge of F has the wrong sign", "solvers/residual.go", "- p.S[i]*p.ridge(i)*alpha[i]", "+ p.S[i]*p.ridge(i)*alpha[i]", "./solvers", "TestGeneralProblems"},
	{"a pair step adds both rows", "solvers/smo.go", "f[k] -= t * (v - kj[k])", "f[k] -= t * (v + kj[k])", "./solvers", "TestGeneralProblems"},
	{"a step jumps to the bound", "solvers/problem.go", "case moved >= p.Upper[i]-slack:", "case moved >= p.Upper[i]/2:", "./solvers", "TestGeneralProblems|TestPairStep"},
	{"shrinking leaves out the wrong side", "solvers/shrinking.go", "in.rise(k) <= 0 && f > in.up", "in.rise(k) <= 0 && f < in.up", "./solvers", "TestShrinking"},
	{"shrinking maps to the neighbour", "solvers/shrinking.go", "row[k] = whole[j]", "row[k] = whole[max(j-1, 0)]", "./solvers", "TestShrinking"},
	{"shrinking keeps a stale α", "solvers/shrinking.go", "s.alpha[s.active[k]] = s.it.Alpha[k]", "s.alpha[s.active[k]] = s.base[s.active[k]]", "./solvers", "TestShrinking"},
	{"shrinking leaves no point", "solvers/shrinking.go", " || len(keep) == 0 {", " {", "./solvers", "TestShrinkingOfAll"},
	{"single precision without room", "kernels/blocks.go", "case single && all(norm, inRange) &&", "case single &&", "./kernels", "TestBlocksAtEveryScale"},
	{"a row that was removed from the cache is still found", "kernels/gram.go", "m.at[e.Value.(*heldRow[T]).i] = nil", "", "./kernels", "TestGramProperties|TestMemoryLimit|TestLongRows"},
	{"symmetry is used for the wrong row", "kernels/gram.go", "row[j] = m.rows[j][i]", "row[j] = m.rows[j][j]", "./kernels", "TestGramProperties|TestDenseCountsHalf"},
	{"a kernel is taken for the one that it embeds", "kernels/kernels.go", "if f := t.Field(i); f.Anonymous &&", "if f := t.Field(i); !f.Anonymous &&", "./kernels", "TestUserKernels|TestEmbeddedHooksDoNotCount"},
	{"a sum over pairs of points adds only one of the two terms", "kernels/addto.go", "b.mutually(g, dst[from:to], dst[to:], some, idx[to:], c, coef[to:])", "b.exactly(g, dst[to:], idx[to:], some, c)", "./kernels", "TestAddToTakesPairsOnce"},
	{"coordinate descent does not clip", "solvers/coordinatedescent.go", "next := min(max(a-g/s.diag[i], lower), upper)", "next := max(a-g/s.diag[i], lower)", "./solvers", "TestCoordinateDescentReference|TestCoordinateDescentAtScale|TestFeaturesAgree"},
	{"coordinate descent forgets the ridge", "solvers/coordinatedescent.go", "return g + c.p.ridge(i)*c.alpha[i]", "return g", "./solvers", "TestCoordinateDescentRidge|TestPassesOfCoordinateDescent"},
	{"a tube's kink on the wrong side", "solvers/tubesmo.go", "s.noRise[k], s.noFall[k] = -e, e", "s.noRise[k], s.noFall[k] = e, -e", "./solvers", "TestCrossingZero|TestPairOfATube|TestTubeStart"},
	{"Crammer and Singer's gap subtracts", "solvers/crammersinger.go", "c.Gap += p.C[i]*(high-g[y]) + term", "c.Gap += p.C[i]*(high-g[y]) - term", "./svmnb", "TestAuditAgreesWithTheCertificate"},
	{"Crammer and Singer stop although points were skipped", "solvers/crammersinger.go", "case !moved && r.whole && !r.passed:", "case !moved && r.whole:", "./solvers", "TestCrammerSingerUnsampled"},
	{"Crammer and Singer's step forgets the bound", "solvers/crammersinger.go", "bound := beta >= a*c", "bound := false", "./solvers", "TestCrammerSingerStep|TestCrammerSingerOnIris"},
	{"an answer that has converged is replaced", "solvers/run.go", "if status != Converged {", "if true {", "./svmnb", "TestFoundByTheHarness"},
	{"an answer far from the optimum is accepted", "solvers/solve.go", "(r.stuck || len(r.names) > 0 || !(c.MaxKKT > 64*0x1p-52*rows.Largest(r.p.K)*total))", "r.stuck", "./solvers", "TestFarOff"},
	{"sparse distances cancel", "kernels/sparse.go", "dst[j] < both*near {", "dst[j] < 0 {", "./kernels", "TestSparseFarFromTheOrigin"},
	{"ties are votes for the first class", "svmnb/internal/schemes/schemes.go", "if v > 0 {\n\t\t\tvotes[duels[k][0]]++", "if v < 0 {\n\t\t\tvotes[duels[k][0]]++", "./svmnb", "TestOneVsOneOnIris|TestLabelsAndTies"},
	{"the box is not checked", "solvers/certificate.go", "c.Bound = max(c.Bound, p.Lower[i]-a, a-p.Upper[i])", "c.Bound = max(c.Bound, p.Lower[i]-a)", "./solvers", "TestBoundOfACertificate"},
}

// text returns the file with the fault in it.
func (b bug) text(root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), b.old); n != 1 {
		return "", fmt.Errorf("%s: %q occurs %d times in %s, and must once: bring the row up to date", b.name, b.old, n, b.file)
	}
	return strings.Replace(string(raw), b.old, b.new, 1), nil
}

// survives reports whether the test passes although the fault is there.
func (b bug) survives(root, folder string) (survives bool, output string, err error) {
	text, err := b.text(root)
	if err != nil {
		return false, "", err
	}
	wrong := filepath.Join(folder, "wrong.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, b.file): wrong}})
	if err != nil {
		return false, "", err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := errors.Join(os.WriteFile(wrong, []byte(text), 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return false, "", err
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-timeout", "5m", "-overlay", list, "-run", "^("+b.test+")$", b.pkg, "-rapid.nofailfile")
	cmd.Dir = root // in this folder -rapid.nofailfile keeps property tests from writing their counterexamples
	out, err := cmd.CombinedOutput()
	output = string(out)
	switch {
	case err == nil:
		return true, output, nil
	case !strings.Contains(output, "--- FAIL") && !strings.Contains(output, "panic: "):
		return false, output, fmt.Errorf("%s: the test did not run:\n%s", b.name, output)
	}
	return false, output, nil
}

func main() {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	root := strings.TrimSpace(string(out))
	folder, e := os.MkdirTemp("", "planted")
	if err = errors.Join(err, e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer os.RemoveAll(folder)
	caught, left := 0, 0
	for _, b := range bugs {
		if !chosen(b.name, os.Args[1:]) {
			continue
		}
		survives, output, err := b.survives(root, folder)
		switch {
		case err != nil:
			left++
			fmt.Printf("ERROR     %v\n", err)
		case survives:
			left++
			fmt.Printf("SURVIVES  %s: %s passes\n%s", b.name, b.test, output)
		default:
			caught++
			fmt.Printf("caught    %s (%s) by %s\n", b.name, b.file, b.test)
		}
	}
	fmt.Printf("%d caught, %d not\n", caught, left)
	if left > 0 {
		os.RemoveAll(folder)
		os.Exit(1)
	}
}

func chosen(name string, words []string) bool {
	for _, w := range words {
		if strings.Contains(name, w) {
			return true
		}
	}
	return len(words) == 0
}
