package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
)

//go:embed peers.py
var script string

// peers are solvers of other projects: svm-train, and scikit-learn, with its LIBSVM and
// LIBLINEAR, in one Python process.
type peers struct {
	in     io.WriteCloser
	out    *bufio.Scanner
	cmd    *exec.Cmd
	libsvm string // path of svm-train, or ""
	folder string
	turn   int
}

// newPeers starts the peers that are installed, and reports which peers are missing.
func newPeers(say func(format string, args ...any)) *peers {
	p := &peers{}
	p.libsvm, _ = exec.LookPath("svm-train")
	if p.libsvm == "" {
		say("LIBSVM's svm-train is not installed: not compared with")
	}
	p.folder, _ = os.MkdirTemp("", "differential")
	for _, python := range []string{os.Getenv("SVMNB_PYTHON"), "python3", "/usr/bin/python3"} {
		if python == "" || exec.Command(python, "-c", "import sklearn").Run() != nil {
			continue
		}
		p.cmd = exec.Command(python, "-c", script)
		p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		p.in, _ = p.cmd.StdinPipe()
		out, _ := p.cmd.StdoutPipe()
		if p.cmd.Start() != nil {
			p.cmd = nil
			continue
		}
		p.out = bufio.NewScanner(out)
		p.out.Buffer(nil, 1<<24)
		break
	}
	if p.cmd == nil {
		say("scikit-learn is not installed: not compared with")
	}
	return p
}

func (p *peers) close() {
	if p.cmd != nil {
		p.in.Close()
		p.cmd.Wait()
	}
	os.RemoveAll(p.folder)
}

// solve returns the intervals in which the peers have W*. It asks them only about problems for
// which they are made: up to 60 points, numbers of ordinary size, and a free bias, or for a
// linear machine no bias or an augmented one. svm-train is asked every fiftieth time.
func (p *peers) solve(q *problem) []interval {
	if len(q.X) > 60 || q.Form == hardMargin || q.C < 1e-3 || q.C > 1e4 {
		return nil
	}
	if p.cmd != nil && q.Kernel == kernels.Linear().String() && (q.Bias != free || q.Form == crammerSinger) {
		return p.linear(q)
	}
	if q.Bias != free || q.Form == nuSVC || q.Form == quadraticSVR || q.Form == twoNorm {
		return nil
	}
	k, cost, ok := q.numbers()
	if !ok || !ordinary(k, q.Y) {
		return nil
	}
	var found []interval
	if p.cmd != nil && q.Form != ridge && q.Form != quantile && q.Form != huber {
		found = append(found, p.ask(q, k, cost)...)
	}
	if p.turn++; p.libsvm != "" && p.turn%50 == 0 && q.Form == oneNorm && q.Weights == nil {
		found = append(found, p.train(q, k)...)
	}
	return found
}

// ordinary reports whether the numbers have a size for which the peers are made.
func ordinary(k [][]float64, y []float64) bool {
	largest := 0.0
	for i := range k {
		largest = max(largest, k[i][i], math.Abs(y[i]))
	}
	return largest > 1e-3 && largest <= 1e3
}

// request sends a problem to scikit-learn. It returns false if scikit-learn refuses it.
func (p *peers) request(question map[string]any, answer any) bool {
	line, err := json.Marshal(question)
	if err != nil {
		return false
	}
	p.in.Write(append(line, '\n'))
	return p.out.Scan() && json.Unmarshal(p.out.Bytes(), answer) == nil
}

// linear lets LIBLINEAR solve a linear machine, whose augmented bias is one more feature. The
// primal of its w is above W* for any w, and near W* if LIBLINEAR reports convergence.
func (p *peers) linear(q *problem) []interval {
	tau2 := q.Tau2
	switch {
	case q.Bias == fixed && q.Offset != 0:
		return nil
	case q.Bias == fixed:
		tau2 = 0
	case q.Bias == free: // with a free bias, Crammer and Singer's machine uses K + 1
		tau2 = 1
	case tau2 == kernels.Radius:
		tau2 = kernels.Radius2(kernels.Linear(), q.X)
	}
	labels := slices.Compact(slices.Sorted(slices.Values(q.Y)))
	switch q.Form {
	case oneNorm, twoNorm, epsilonSVR, quadraticSVR:
	case crammerSinger:
		if len(labels) < 3 { // with two classes LIBLINEAR returns the difference of the two w
			return nil
		}
	default:
		return nil
	}
	var x, size [][]float64
	for _, row := range q.X {
		row = append(slices.Clone(row), math.Sqrt(tau2))
		x = append(x, row)
		size = append(size, make([]float64, len(q.X)))
		size[len(size)-1][len(size)-1] = vec.Dot(row, row)
	}
	if !ordinary(size, q.Y) {
		return nil
	}
	c := q.C
	if q.Form == twoNorm || q.Form == quadraticSVR {
		c /= 2 // our objective has ½ C Σξ²
	}
	var answer struct {
		W     [][]float64
		Early bool
		Fail  string
	}
	if !p.request(map[string]any{"form": int(q.Form), "x": x, "y": q.Y, "c": c, "epsilon": q.Epsilon, "weights": q.Weights}, &answer) || answer.Fail != "" {
		return nil
	}
	primal, costs := 0.0, 0.0
	for _, w := range answer.W {
		primal += vec.Dot(w, w) / 2
	}
	for i, row := range x {
		weight := c
		if q.Weights != nil {
			weight *= q.Weights[i]
		}
		loss, f := 0.0, vec.Dot(answer.W[0], row)
		switch q.Form {
		case oneNorm, twoNorm:
			loss = max(0, 1-q.Y[i]*f)
		case epsilonSVR, quadraticSVR:
			loss = max(0, math.Abs(q.Y[i]-f)-q.Epsilon)
		case crammerSinger:
			own := vec.Dot(answer.W[slices.Index(labels, q.Y[i])], row)
			for m, w := range answer.W {
				if labels[m] != q.Y[i] {
					loss = max(loss, 1+vec.Dot(w, row)-own)
				}
			}
		}
		if q.Form == twoNorm || q.Form == quadraticSVR {
			loss *= loss
		}
		primal += weight * loss
		costs += weight * (1 + math.Abs(q.Y[i]))
	}
	low := math.Inf(-1)
	if !answer.Early { // LIBLINEAR checks only points that it has not shrunk, so its error may be larger than these conditions say
		low = primal - 0.01*primal - 1e-4*costs
	}
	return []interval{{"LIBLINEAR", low, primal + 1e-12*(primal+costs)}}
}

// ask lets scikit-learn solve the dual on our kernel matrix, and computes W and P from its
// coefficients and intercept by plain sums.
func (p *peers) ask(q *problem, k [][]float64, cost []float64) []interval {
	var answer struct {
		Coef []float64
		B    float64
		Fail string
	}
	question := map[string]any{"form": int(q.Form), "k": k, "y": q.Y, "c": q.C, "nu": q.Nu, "epsilon": q.Epsilon, "weights": q.Weights}
	if !p.request(question, &answer) || answer.Fail != "" || len(answer.Coef) != len(k) {
		return nil // scikit-learn refuses the problem
	}
	norm2, w, loss, size := 0.0, 0.0, 0.0, 0.0
	sum := 0.0
	for i, c := range answer.Coef {
		g := 0.0
		for j, v := range k[i] {
			g += answer.Coef[j] * v
			size += math.Abs(c * answer.Coef[j] * v)
		}
		norm2 += c * g
		sum += c
		f := g + answer.B
		switch q.Form {
		case oneNorm:
			w += math.Abs(c)
			loss += cost[i] * max(0, 1-q.Y[i]*f)
		case oneClass:
			loss += max(0, -f)
		case epsilonSVR:
			w += q.Y[i]*c - q.Epsilon*math.Abs(c)
			loss += cost[i] * max(0, math.Abs(q.Y[i]-f)-q.Epsilon)
		case nuSVR:
			w += q.Y[i] * c
		}
		size += math.Abs(q.Y[i] * c)
	}
	i := interval{"scikit-learn", w - norm2/2, norm2/2 + loss}
	switch q.Form {
	case oneClass: // P = ½‖w‖² − νnρ + Σ(ρ − g)₊, ρ = −b
		i.high += q.Nu * float64(len(k)) * answer.B
	case nuSVR: // scikit-learn does not report its ε
		i.high = math.Inf(1)
	}
	slack := 1e-12*size + 1e-12*math.Abs(i.low)
	if q.Form == oneNorm || q.Form == epsilonSVR || q.Form == nuSVR {
		slack += math.Abs(sum) * (1 + math.Abs(answer.B)) // y'α is 0 up to rounding
	}
	if q.Form == oneClass || q.Form == nuSVR { // the sum that ν fixes is also met only up to rounding
		slack += 1e-9 * (1 + math.Abs(i.low))
	}
	return []interval{{i.who, i.low - slack, i.high + slack}}
}

// train reads the objective that svm-train prints with six decimals.
func (p *peers) train(q *problem, k [][]float64) []interval {
	var s strings.Builder
	for i, row := range k {
		fmt.Fprintf(&s, "%g 0:%d", q.Y[i], i+1)
		for j, v := range row {
			fmt.Fprintf(&s, " %d:%.17g", j+1, v)
		}
		s.WriteByte('\n')
	}
	file := p.folder + "/points"
	if os.WriteFile(file, []byte(s.String()), 0o600) != nil {
		return nil
	}
	out, err := exec.Command(p.libsvm, "-t", "4", "-c", strconv.FormatFloat(q.C, 'g', -1, 64), "-e", "1e-8", "-h", "0", file, file+".model").Output()
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		rest, ok := strings.CutPrefix(line, "obj = ")
		if !ok {
			continue
		}
		text, _, _ := strings.Cut(rest, ",")
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			// svm-train rounds kernel values to single precision.
			slack := 1e-6 + 1e-5*math.Abs(v)*math.Max(1, q.C)
			return []interval{{"svm-train", -v - slack, -v + slack}}
		}
	}
	return nil
}
