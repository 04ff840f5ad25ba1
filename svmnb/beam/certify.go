package beam

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Certificate bounds how far a machine is from the optimum of the problem of all points. It is
// computed from the coefficients β, the kernel and all blocks alone: the dual value is a lower
// bound for the optimum for any β that is feasible, and the primal value is that of the machine.
// Blocks are added in their order, so the numbers do not depend on the workers.
//
//	primal = ½ β'Kβ + Σ c_i ξ_i
//	dual   = Σ |β_i| − ½ β'Kβ                  for two classes (Cristianini and Shawe-Taylor 2000, §7.2)
//	dual   = Σ y_i β_i − ε Σ |β_i| − ½ β'Kβ    for real targets
type Certificate struct {
	N, Blocks    int // points and blocks of the data
	Vectors      int // support vectors
	Primal, Dual float64
	Gap          float64 // Primal − Dual, and |b Σβ| for rounding in Σβ = 0
	RelGap       float64 // Gap / (1 + |Primal|), as in solvers.Certificate
	Norm2        float64 // ‖w‖² = β'Kβ
	Loss         float64 // Σ c_i ξ_i
	// Bias is the one with the smallest gap of those that were tried: the solver's own, and 336
	// around it. Any bias gives a valid bound.
	Bias     float64
	Equality float64 // |Σβ|
	Wrong    int     // points on the wrong side, at the solver's bias; 0 for real targets

	violating int // points that are no support vectors, but whose loss is not 0
}

func (c Certificate) String() string {
	return fmt.Sprintf("gap %.3g (relative %.3g) over %d points in %d blocks: primal %.9g, dual %.9g, %d support vectors", c.Gap, c.RelGap, c.N, c.Blocks, c.Primal, c.Dual, c.Vectors)
}

// Certify computes the certificate of a model against all points of src. The model may come from
// anywhere, such as from part of the data: its coefficients must be feasible for the description,
// and each support vector must be a point of src. The data of the description are not used.
// Certify supports svmnb.Classifier with the 1-norm soft margin and a kernel that is set. A saved
// regression does not have the targets of its support vectors, so only [Runner.Train], which
// knows them, certifies one.
func (r Runner) Certify(ctx context.Context, src Source, l selection.Learner, m *model.Model) (Certificate, error) {
	if err := r.check(); err != nil {
		return Certificate{}, err
	}
	d, loss, text, err := divided(l)
	if err != nil {
		return Certificate{}, err
	}
	inside := m.Inside()
	switch {
	case len(inside.Terms) != 1 || inside.Process != nil || inside.Kind != machines.TwoClassKind && inside.Kind != machines.RegressionKind || loss.Real != (inside.Kind == machines.RegressionKind):
		return Certificate{}, arguments.Wrong("Certify", math.NaN(), "the model is not one of %v", l)
	case inside.Before != nil || inside.Target != nil || inside.Threshold != nil:
		return Certificate{}, arguments.Wrong("Certify", math.NaN(), "the model has steps before or after its machine; give Transformed(), and a source of transformed points")
	case fmt.Sprint(inside.Kernel) != fmt.Sprint(loss.Kernel):
		return Certificate{}, arguments.Wrong("Certify", math.NaN(), "the model has the kernel %v, and the description %v", inside.Kernel, loss.Kernel)
	}
	r = r.filled()
	files, end, err := r.folder(ctx)
	if err != nil {
		return Certificate{}, err
	}
	defer end()
	s, err := r.survey(ctx, files, src)
	if err != nil {
		return Certificate{}, err
	}
	c, err := costsOf(loss, s)
	if err != nil {
		return Certificate{}, err
	}
	v := &vectors{Data: &datasets.Dataset{Name: "model", X: inside.X.X, Sparse: inside.X.Sparse}, Beta: inside.Terms[0].Coef, Bias: inside.Terms[0].B}
	if loss.Real {
		return Certificate{}, arguments.Wrong("Certify", math.NaN(), "a model of a regression does not have the targets of its support vectors; Train certifies its own")
	}
	v.Data.Y = make([]float64, len(v.Beta))
	for j, b := range v.Beta {
		v.Data.Y[j] = c.Negative
		if b > 0 {
			v.Data.Y[j] = c.Positive
		}
	}
	g := gapPass{r: r, files: files, src: src, d: d, text: text, s: s, c: c}
	cert, _, err := g.run(ctx, v, 0, math.MaxFloat64, "certificate")
	return cert, err
}

// gapPass computes certificates.
type gapPass struct {
	r     Runner
	files store
	src   Source
	d     learn.Divided
	text  string
	s     *survey
	c     *costs
}

// found are the violators of a pass: the files of the blocks that have some.
type found struct {
	Files []string
	N     int
}

// run computes the certificate of the vectors, and finds at most so many violators in each block
// with a loss above tol.
func (g *gapPass) run(ctx context.Context, v *vectors, most int, tol float64, what string) (Certificate, found, error) {
	fail := func(err error) (Certificate, found, error) { return Certificate{}, found{}, err }
	text, err := v.encode()
	if err != nil {
		return fail(err)
	}
	file := "vectors-" + hash(text) + ".gob"
	if err := g.files.write(ctx, file, text); err != nil {
		return fail(fmt.Errorf("svmnb: Dir: %w", err))
	}
	b, err := g.r.over(ctx, g.files, g.src, g.d, g.text)
	if err != nil {
		return fail(err)
	}
	outs := make([]gapOut, len(g.s.sizes))
	p := pass{what: what, kind: "gap", key: g.text, spec: b, mem: b}
	p.each = func(i int, out []byte) error {
		if err := gob.NewDecoder(bytes.NewReader(out)).Decode(&outs[i]); err != nil {
			return fmt.Errorf("svmnb: Beam: the result of block %d is damaged: %w", i, err)
		}
		outs[i].Data = nil
		return nil
	}
	for i := range outs {
		p.args = append(p.args, gapArg{Block: i, Digest: g.s.digests[i], Vectors: file, Costs: g.c.targetCosts, Most: most, Tol: tol})
		p.says = append(p.says, fmt.Sprintf("block %d", i))
	}
	if err := g.r.run(ctx, g.files, p); err != nil {
		return fail(err)
	}
	var list found
	for i, out := range outs {
		if len(out.Rows) > 0 {
			list.Files, list.N = append(list.Files, p.name(i)+doneFile), list.N+len(out.Rows)
		}
	}
	c, err := g.certificate(v, outs)
	return c, list, err
}

// certificate adds up what the blocks have found.
func (g *gapPass) certificate(v *vectors, outs []gapOut) (Certificate, error) {
	c := Certificate{Blocks: len(outs)}
	times, at := make([]int32, len(v.Beta)), make([]float64, len(v.Beta))
	biases := edges(v.Bias, edgeWidth(g.c.loss))
	loss := make([]float64, len(biases))
	for _, out := range outs {
		c.N += out.N
		c.Wrong += out.Wrong
		c.violating += out.Violating
		if len(out.Loss) != len(loss) {
			return c, fmt.Errorf("svmnb: Beam: a worker of another version has answered")
		}
		for k, l := range out.Loss {
			loss[k] += l
		}
		for k, j := range out.Seen {
			times[j] += out.Times[k]
			at[j] = out.G[k]
		}
	}
	known, used := map[string]int{}, map[int]int32{}
	var key []byte
	p := points.Of(v.Data)
	sum := 0.0
	for j, beta := range v.Beta {
		key = id(key, p, v.Data.Y[j], j)
		first, ok := known[string(key)]
		if !ok {
			first = j
			known[string(key)] = j
		}
		if beta == 0 {
			continue
		}
		c.Vectors++
		if used[first]++; used[first] > times[first] {
			return c, arguments.Wrong("Certify", beta, "support vector %d is no point of the data, or more often one than the data have it; give the data that the model was learnt from", j)
		}
		most := g.c.C[1]
		if !g.c.loss.Real {
			k, err := g.c.side(v.Data.Y[j])
			if err != nil {
				return c, err
			}
			if most = g.c.C[k]; (beta > 0) != (k == 1) {
				return c, arguments.Wrong("Certify", beta, "the coefficient of support vector %d has the wrong sign", j)
			}
		}
		if math.Abs(beta) > most*(1+1e-12) {
			return c, arguments.Wrong("Certify", beta, "the coefficient of support vector %d is %v, above its cost of errors, %v; the model is of another description", j, beta, most)
		}
		sum += beta
		c.Norm2 += beta * at[first]
		c.Dual += math.Abs(beta)
		if g.c.loss.Real {
			c.Dual += v.Data.Y[j]*beta - (1+g.c.loss.Epsilon)*math.Abs(beta)
		}
	}
	c.Norm2 = max(c.Norm2, 0)
	c.Dual -= c.Norm2 / 2
	c.Equality = math.Abs(sum)
	best := math.Inf(1)
	for k, l := range loss {
		if slack := l + math.Abs(biases[k]*sum); slack < best {
			best, c.Loss, c.Bias = slack, l, biases[k]
		}
	}
	c.Primal = c.Norm2/2 + c.Loss
	c.Gap = max(0, c.Primal-c.Dual) + math.Abs(c.Bias*sum)
	c.RelGap = c.Gap / (1 + math.Abs(c.Primal))
	return c, nil
}

// lastVectors has the vectors that this process has read last.
var lastVectors struct {
	sync.Mutex
	at string
	of *vectors
}

func readVectors(ctx context.Context, s store, name string) (*vectors, error) {
	lastVectors.Lock()
	defer lastVectors.Unlock()
	at := s.path(name)
	if lastVectors.at == at {
		return lastVectors.of, nil
	}
	text, err := s.read(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := decodeVectors(text)
	if err == nil {
		lastVectors.at, lastVectors.of = at, v
	}
	return v, err
}
