package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// A page asks by two texts and one array of numbers, and gets one array back: a worker can
// hand them over without a copy, and a notebook can send them as text. living.js has the same
// two lists.

// The places of a question's numbers. After them come X, n × d, Y, and Cost if
// there is one.
const (
	qTask = iota
	qN
	qD
	qC
	qEpsilon
	qTol
	qWarm
	qLimit // ms
	qTrace
	qMoment
	qX0
	qX1
	qY0
	qY1
	qNx
	qNy
	qCertain
	qCosts // 1 or 0
	qStop
	qFixed
	qBias
	qTau2
	qClasses
	qScheme
	qZeroMean
	qScaled
	qHead
)

// The places of an answer's numbers. After them come the trace, 5 numbers for each sample,
// then Alpha, F, Field, SD, Slack and Values, the last three of which may be missing.
const (
	aN        = iota
	aMachines // the multipliers of a point
	aFields
	aNx
	aNy
	aTrace
	aSD        // 1 or 0
	aSlack     // 1 or 0
	aConverged // 1, or 0 after an early stop
	aIterations
	aEvaluations
	aBias
	aPrimal
	aDual
	aGap
	aRelGap
	aMaxKKT
	aNorm2
	aFree
	aAtUpper
	aEvidence
	aEpsilon
	aMillis // of training; drawing is extra
	aHead
)

// Asked and Answered are the names of these places, in their order.
var (
	Asked    = strings.Fields("task n d c epsilon tol warm limit trace moment x0 x1 y0 y1 nx ny certain costs stop fixed bias tau2 classes scheme zeromean scaled")
	Answered = strings.Fields("n machines fields nx ny trace sd slack converged iterations evaluations bias primal dual gap relgap maxkkt norm2 free atupper evidence epsilon millis")
)

// BuildFlags are the flags by which go build makes the module of folder wasm. Calls are inlined
// in the loops of vectors and matrices only (internal/vec, internal/simd): this makes the module
// 7 % smaller, and a drag stays within its limits (docs/living-pages.md). The
// identifiers of the build and of the commit are left out, because they cannot be compressed.
var BuildFlags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-gcflags=all=-l", "-gcflags=github.com/svmnb/svmnb/internal/vec=", "-gcflags=github.com/svmnb/svmnb/internal/simd="}

const mostPoints = 5000 // in a page, whose matrix would otherwise take more than 200 MB

// Ask answers a question that is written as numbers.
func (m *Machine) Ask(ctx context.Context, kernel, method string, numbers []float64) ([]float64, error) {
	q, err := Read(kernel, method, numbers)
	if err != nil {
		return nil, err
	}
	return m.Numbers(ctx, q)
}

// Numbers is Answer as numbers.
func (m *Machine) Numbers(ctx context.Context, q Question) ([]float64, error) {
	began := time.Now()
	a, err := m.Answer(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.numbers(&q, time.Since(began)), nil
}

// Read returns the question that is written as numbers.
func Read(kernel, method string, v []float64) (q Question, err error) {
	if len(v) < qHead {
		return q, errors.New("engine: the question is too short")
	}
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return q, fmt.Errorf("engine: number %d of the question is %v; all must be finite", i, x)
		}
	}
	n, d := int(v[qN]), int(v[qD])
	costs := 0
	if v[qCosts] != 0 {
		costs = n
	}
	if n < 1 || n > mostPoints || d < 1 || d > 2 || len(v) != qHead+n*d+n+costs {
		return q, fmt.Errorf("engine: %d points of %d features do not fit a question of %d numbers; a figure takes 1 to %d points of one or two features", n, d, len(v), mostPoints)
	}
	k, err := kernels.Parse(kernel)
	if err != nil {
		return q, err
	}
	q = Question{
		Task: Task(v[qTask]), Kernel: k, Method: method, C: v[qC], Epsilon: v[qEpsilon], Tol: v[qTol],
		Warm: v[qWarm] != 0, Limit: time.Duration(v[qLimit] * float64(time.Millisecond)), Trace: v[qTrace] != 0, Moment: int(v[qMoment]),
		Xs: [2]float64{v[qX0], v[qX1]}, Ys: [2]float64{v[qY0], v[qY1]}, Nx: int(v[qNx]), Ny: int(v[qNy]), Certain: v[qCertain] != 0,
		Stop: Stop(v[qStop]), Fixed: v[qFixed] != 0, Bias: v[qBias], Tau2: v[qTau2], Classes: int(v[qClasses]), Scheme: schemes.Scheme(v[qScheme]), ZeroMean: v[qZeroMean] != 0, Scaled: v[qScaled] != 0,
	}
	for i := range n {
		q.X = append(q.X, v[qHead+i*d:qHead+(i+1)*d])
	}
	q.Y = v[qHead+n*d : qHead+n*d+n]
	if costs > 0 {
		q.Cost = v[qHead+n*d+n:]
	}
	return q, nil
}

func (a *Answer) numbers(q *Question, took time.Duration) []float64 {
	c := a.Certificate
	n, fields := len(a.F), max(1, q.Classes)
	out := make([]float64, aHead, aHead+5*len(a.Trace)+2*len(a.Alpha)+n+3*len(a.Field))
	for i, v := range map[int]float64{
		aN: float64(n), aMachines: float64(len(a.Alpha) / n), aFields: float64(fields), aNx: float64(q.Nx), aNy: float64(len(a.Field) / fields / max(q.Nx, 1)), aTrace: float64(len(a.Trace)),
		aIterations: float64(a.Iterations), aEvaluations: float64(a.Evaluations), aBias: a.Bias,
		aPrimal: c.Primal, aDual: c.Dual, aGap: c.Gap, aRelGap: c.RelGap, aMaxKKT: c.MaxKKT, aNorm2: c.Norm2,
		aFree: float64(c.Free), aAtUpper: float64(c.AtUpper), aEvidence: a.Evidence, aEpsilon: a.Epsilon, aMillis: float64(took) / float64(time.Millisecond),
	} {
		out[i] = v
	}
	if !a.Status.Early() {
		out[aConverged] = 1
	}
	for _, s := range a.Trace {
		out = append(out, float64(s.Iteration), s.Gap, s.KKT, s.Primal, s.Dual)
	}
	out = append(append(append(out, a.Alpha...), a.F...), a.Field...)
	if a.SD != nil {
		out[aSD] = 1
		out = append(out, a.SD...)
	}
	if a.Slack != nil {
		out[aSlack] = 1
		out = append(out, a.Slack...)
	}
	return append(out, a.Values...)
}

// Bytes and FromBytes convert between numbers and their bytes, the lowest first.
func Bytes(v []float64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func FromBytes(b []byte) []float64 {
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}
