package beam

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
)

func init() {
	kinds["leaf"] = leafPiece
	kinds["merge"] = mergePiece
}

// Fit is a machine that was learnt from blocks.
type Fit struct {
	Certificate               // of the machine against all points, the last of Rounds
	Rounds      []Certificate // after the cascade, and after each round of violators
	Reached     bool          // whether RelGap has reached the tolerance
	Classes     []string      // the negative and the positive class; nil for real targets

	v     *vectors
	c     *costs
	model *model.Model
}

// Model returns what predictions need of the fit.
func (f *Fit) Model() *model.Model {
	if f == nil {
		return nil
	}
	return f.model
}

const (
	fan        = 4  // so many sets of vectors are merged into one
	mostRounds = 50 // of violators
	leastNew   = 1000
)

// Train learns the description l from all points of src, whose own data are not used, until the
// relative gap against the problem of all points is at most tol, in (0, 1); 1e-3 is usual.
//
// It is a cascade (Graf et al. 2005) with a proof at its end: each block is learnt for itself,
// the support vectors of four blocks at a time are learnt together, until one set is left. Then
// a pass over all blocks computes the certificate and finds the points that violate the margin
// most; they join the set, which is learnt again from the multipliers that it has, and so on.
// Each round increases the dual value. The last sets must fit into the memory of one worker:
// the cascade is for many points with few support vectors.
//
// Train supports svmnb.Classifier with the 1-norm soft margin and svmnb.Regressor with the linear
// loss, each with a kernel that is set. A fit that ends without reaching tol, after 50
// rounds or because the solver cannot come closer, says so by Reached and is no error.
func (r Runner) Train(ctx context.Context, src Source, l selection.Learner, tol float64) (*Fit, error) {
	if !(tol > 0 && tol < 1) {
		return nil, arguments.Wrong("Train", tol, "the relative gap to reach is %v; it must be in (0, 1), such as 1e-3", tol)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	d, loss, text, err := divided(l)
	if err != nil {
		return nil, err
	}
	r = r.filled()
	files, end, err := r.folder(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	s, err := r.survey(ctx, files, src)
	if err != nil {
		return nil, err
	}
	c, err := costsOf(loss, s)
	if err != nil {
		return nil, err
	}
	g := gapPass{r: r, files: files, src: src, d: d, text: text, s: s, c: c}
	sets, err := g.leaves(ctx)
	for level := 1; err == nil && len(sets) > 1; level++ {
		sets, err = g.merge(ctx, sets, fmt.Sprintf("level %d of the cascade", level))
	}
	if err != nil {
		return nil, err
	}
	fit := &Fit{c: c}
	at := sets[0]
	for inner := 0.0; ; {
		text, err := files.read(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("svmnb: Dir: %w", err)
		}
		v, err := decodeVectors(text)
		if err != nil {
			return nil, err
		}
		most := max(leastNew, v.count()/2)
		cert, bad, err := g.run(ctx, v, 2*most/len(s.sizes)+16, max(tol/10, 1e-9), fmt.Sprintf("certificate of round %d", len(fit.Rounds)))
		if err != nil {
			return nil, err
		}
		fit.Rounds = append(fit.Rounds, cert)
		fit.v, fit.Certificate, fit.Reached = v, cert, cert.RelGap <= tol
		if fit.Reached || len(fit.Rounds) > mostRounds {
			break
		}
		if bad.N == 0 || inner == 0 && len(fit.Rounds) > 2 && cert.Gap > 0.7*fit.Rounds[len(fit.Rounds)-2].Gap {
			// The solver's own tolerance is what is left of the gap.
			if inner == 0 {
				inner = 1e-3
			}
			if inner /= 10; inner < 1e-8 {
				break
			}
		}
		next, err := g.mergeSets(ctx, [][]string{{at}}, [][]string{bad.Files}, inner, fmt.Sprintf("round %d", len(fit.Rounds)))
		if err != nil {
			return nil, err
		}
		at = next[0]
	}
	fit.build()
	return fit, nil
}

// build makes the model.
func (f *Fit) build() {
	v, c := f.v, f.c
	e := machines.NewExpansion(v.Data, c.loss.Kernel, nil, v.Beta, f.Bias)
	m := machines.Machines{Kind: machines.RegressionKind, Kernel: c.loss.Kernel, Expansion: e, Terms: []machines.Term{{Coef: e.Coef, B: e.B, W: e.W}}}
	if !c.loss.Real {
		m.Kind, m.Classes, m.Duels, m.Targets = machines.TwoClassKind, c.names[:], [][2]int{{1, 0}}, []float64{c.Negative, c.Positive}
		f.Classes = c.names[:]
	}
	f.model = model.New(m, v.Data)
}

type leafArg struct {
	Block  int         `json:"block"`
	Digest string      `json:"digest"`
	Costs  targetCosts `json:"costs"`
}

// leaves learns each block for itself and returns the files of their support vectors.
func (g *gapPass) leaves(ctx context.Context) ([]string, error) {
	b, err := g.r.over(ctx, g.files, g.src, g.d, g.text)
	if err != nil {
		return nil, err
	}
	p := pass{what: "blocks", kind: "leaf", key: g.text, spec: b, mem: b, each: nothing}
	for i, n := range g.s.sizes {
		if n > 0 {
			p.args, p.says = append(p.args, leafArg{i, g.s.digests[i], g.c.targetCosts}), append(p.says, fmt.Sprintf("block %d", i))
		}
	}
	if err := g.r.run(ctx, g.files, p); err != nil {
		return nil, err
	}
	return p.files(), nil
}

func nothing(int, []byte) error { return nil }

// name returns the name of the files of piece i.
func (p *pass) name(i int) string {
	text, err := json.Marshal(p.args[i])
	if err != nil {
		panic(err) // run has written it
	}
	return (&task{Kind: p.kind, Key: p.key, Args: []json.RawMessage{text}}).name(0)
}

func (p *pass) files() []string {
	var list []string
	for i := range p.args {
		list = append(list, p.name(i)+doneFile)
	}
	return list
}

func leafPiece(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	b, err := ready(ctx, s, t, local)
	if err != nil {
		return nil, err
	}
	var a leafArg
	if err := json.Unmarshal(arg, &a); err != nil {
		return nil, err
	}
	d, err := b.block(ctx, a.Block, a.Digest)
	if err != nil {
		return nil, err
	}
	v := &vectors{Data: d, Beta: make([]float64, d.N()), Block: slices.Repeat([]int{a.Block}, d.N()), Row: make([]int, d.N())}
	for i := range v.Row {
		v.Row[i] = i
	}
	return b.learn(ctx, v, a.Costs, 0, false, t.cache())
}

type mergeArg struct {
	Sets  []string    `json:"sets"`  // files of vectors
	Found []string    `json:"found"` // files of gap pieces, whose violators join them
	Costs targetCosts `json:"costs"`
	Tol   float64     `json:"tol,omitempty"` // of the solver; 0 is that of the description
}

// merge learns the vectors of some files at a time together.
func (g *gapPass) merge(ctx context.Context, sets []string, what string) ([]string, error) {
	groups := slices.Collect(slices.Chunk(sets, fan))
	return g.mergeSets(ctx, groups, make([][]string, len(groups)), 0, what)
}

func (g *gapPass) mergeSets(ctx context.Context, sets, bad [][]string, tol float64, what string) ([]string, error) {
	b, err := g.r.over(ctx, g.files, g.src, g.d, g.text)
	if err != nil {
		return nil, err
	}
	p := pass{what: what, kind: "merge", key: g.text, spec: b, mem: b, each: nothing}
	for i, group := range sets {
		p.args, p.says = append(p.args, mergeArg{group, bad[i], g.c.targetCosts, tol}), append(p.says, fmt.Sprintf("set %d of %s", i, what))
	}
	if err := g.r.run(ctx, g.files, p); err != nil {
		return nil, err
	}
	return p.files(), nil
}

func mergePiece(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	b, err := ready(ctx, s, t, local)
	if err != nil {
		return nil, err
	}
	var a mergeArg
	if err := json.Unmarshal(arg, &a); err != nil {
		return nil, err
	}
	var all vectors
	var parts []*datasets.Dataset
	for _, name := range a.Sets {
		text, err := s.read(ctx, name)
		if err != nil {
			return nil, err
		}
		v, err := decodeVectors(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, v.Data)
		all.Beta, all.Block, all.Row = append(all.Beta, v.Beta...), append(all.Block, v.Block...), append(all.Row, v.Row...)
	}
	for _, name := range a.Found {
		text, err := s.read(ctx, name)
		if err != nil {
			return nil, err
		}
		var out gapOut
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&out); err != nil {
			return nil, err
		}
		parts = append(parts, out.Data)
		all.Beta, all.Row = append(all.Beta, make([]float64, len(out.Rows))...), append(all.Row, out.Rows...)
		all.Block = append(all.Block, slices.Repeat([]int{out.Block}, len(out.Rows))...)
	}
	all.Data = join(parts)
	return b.learn(ctx, &all, a.Costs, a.Tol, len(a.Found) > 0, t.cache())
}

// join returns the points of several parts of the same data, one part after the other.
func join(parts []*datasets.Dataset) *datasets.Dataset {
	all := *parts[0]
	all.Y = nil
	for _, d := range parts {
		all.Y = append(all.Y, d.Y...)
	}
	if parts[0].Sparse == nil {
		all.X = nil
		for _, d := range parts {
			all.X = append(all.X, d.X...)
		}
		return &all
	}
	s := &datasets.CSR{D: parts[0].Sparse.D, Start: parts[0].Sparse.Start[:1:1]}
	for _, d := range parts {
		for i := range d.N() {
			from, to := d.Sparse.Start[i], d.Sparse.Start[i+1]
			s.Index, s.Value = append(s.Index, d.Sparse.Index[from:to]...), append(s.Value, d.Sparse.Value[from:to]...)
			s.Start = append(s.Start, s.Start[0]+(s.Start[len(s.Start)-1]-s.Start[0])+(to-from))
		}
	}
	all.Sparse = s
	return &all
}

// learn learns the machine of some points from the coefficients that they have, and returns the
// support vectors. keep keeps the other points too, if they are not many more.
func (b *blocksOf) learn(ctx context.Context, v *vectors, per targetCosts, tol float64, keep bool, cache int64) ([]byte, error) {
	loss, err := b.l.Divide()
	if err != nil {
		return nil, err
	}
	if !loss.Real && !slices.ContainsFunc(v.Data.Y, func(y float64) bool { return y != v.Data.Y[0] }) {
		return v.some(leastNew).encode() // one class alone is no problem yet; some of its points go on
	}
	cost, err := (&costs{loss: loss, targetCosts: per}).of(v.Data)
	if err != nil {
		return nil, err
	}
	part := b.l.Part(v.Data, cost)
	if tol > 0 {
		part, _ = part.Set("tol", tol)
	}
	w := &learn.Warmth{Bytes: cache}
	if slices.ContainsFunc(v.Beta, func(b float64) bool { return b != 0 }) {
		w.From(v.Beta, cost, loss.Real)
	}
	fit, err := part.Train(ctx, w)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	e, ok := fit.(learn.Expanded)
	if !ok {
		return nil, fmt.Errorf("a %T has no coefficients", fit)
	}
	v.Beta, v.Bias = e.Beta(), fit.Model().Inside().Terms[0].B
	if math.IsNaN(v.Bias) {
		return nil, fmt.Errorf("the solver has found no bias")
	}
	if keep && len(v.Beta) <= max(10*leastNew, 4*v.count()) {
		return v.encode() // points that leave the set may come back, and cost a round each time
	}
	return v.support().encode()
}

// count returns the number of support vectors.
func (v *vectors) count() (n int) {
	for _, b := range v.Beta {
		if b != 0 {
			n++
		}
	}
	return n
}

// support returns the vectors with β ≠ 0, or one if there are none.
func (v *vectors) support() *vectors {
	var rows []int
	for i, b := range v.Beta {
		if b != 0 {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return v.some(1)
	}
	return v.rows(rows)
}

// some returns at most the first n vectors.
func (v *vectors) some(n int) *vectors {
	rows := make([]int, min(n, len(v.Beta)))
	for i := range rows {
		rows[i] = i
	}
	return v.rows(rows)
}

func (v *vectors) rows(rows []int) *vectors {
	out := &vectors{Data: v.Data.Select(rows), Bias: v.Bias}
	for _, i := range rows {
		out.Beta, out.Block, out.Row = append(out.Beta, v.Beta[i]), append(out.Block, v.Block[i]), append(out.Row, v.Row[i])
	}
	return out
}
