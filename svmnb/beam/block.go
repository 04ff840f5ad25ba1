package beam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/selection"
)

func init() {
	kinds["survey"] = surveyPiece
	kinds["gap"] = gapPiece
}

// blocksOf is what pieces about blocks have in common, in memory or as JSON.
type blocksOf struct {
	Source  sourceSpec `json:"source"`
	Learner string     `json:"learner,omitempty"` // the text of the description, without its data

	src Source
	l   learn.Divided
}

// ready returns what a piece needs, from memory or built from the specification.
func ready(ctx context.Context, s store, t *task, local any) (*blocksOf, error) {
	if b, ok := local.(*blocksOf); ok {
		return b, nil
	}
	b := new(blocksOf)
	err := json.Unmarshal(t.Spec, b)
	if err == nil {
		b.src, err = b.Source.source(ctx, s)
	}
	if err == nil && b.Learner != "" {
		b.l, err = readDivided(b.Learner)
	}
	return b, err
}

// Later stands in a description for the data that [Runner.Train] and [Runner.Certify] read in
// blocks, as in svmnb.Classify(beam.Later).
var Later = &datasets.Dataset{Name: placeholder}

// readDivided reads a description without data.
func readDivided(text string) (learn.Divided, error) {
	l, err := readLearner(text, &datasets.Dataset{})
	if err != nil {
		return nil, err
	}
	d, ok := l.(learn.Divided)
	if !ok {
		return nil, fmt.Errorf("%s cannot be learnt from blocks", text)
	}
	return d, nil
}

// divided returns the description, its loss and its text without data.
func divided(l selection.Learner) (d learn.Divided, loss learn.Loss, text string, err error) {
	if l == nil {
		return nil, loss, "", arguments.Wrong("Train", math.NaN(), "the description is nil; give one such as svmnb.Classify(beam.Later).Kernel(kernels.RBF(0.5)).C(10)")
	}
	d, ok := l.Learning().(learn.Divided)
	if !ok {
		return nil, loss, "", arguments.Wrong("Train", math.NaN(), "%v cannot be learnt from blocks; give a svmnb.Classifier or a svmnb.Regressor", l)
	}
	if loss, err = d.Divide(); err != nil {
		return nil, loss, "", err
	}
	bare := d.With(&datasets.Dataset{Name: placeholder}, nil)
	return d, loss, bare.String(), nil
}

// over returns the common part of passes over src, and its specification for other processes.
func (r Runner) over(ctx context.Context, files store, src Source, d learn.Divided, text string) (*blocksOf, error) {
	b := &blocksOf{Learner: text, src: src, l: d}
	if r.inside() {
		return b, nil
	}
	var err error
	if b.Source, err = specOfSource(ctx, files, src); err != nil {
		return nil, err
	}
	if text != "" {
		if _, err = readDivided(text); err != nil {
			return nil, arguments.Wrong("Train", math.NaN(), "workers in other processes need a description that can be written down: %v", err)
		}
	}
	return b, nil
}

// survey is what one reading of all blocks tells.
type survey struct {
	N, D    int
	Counts  []datasets.Count // of targets; nil if there are more than mostTargets
	Classes []string
	Sparse  bool
	sizes   []int
	digests []string
}

// mostTargets is the number of different targets from which on they are real.
const mostTargets = 1000

type blockSurvey struct {
	N, D    int
	Counts  []datasets.Count
	Classes []string
	Sparse  bool
	Many    bool
	Digest  string
}

func surveyPiece(ctx context.Context, files store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	b, err := ready(ctx, files, t, local)
	if err != nil {
		return nil, err
	}
	var i int
	if err := json.Unmarshal(arg, &i); err != nil {
		return nil, err
	}
	d, err := b.src.Block(ctx, i)
	if err != nil {
		return nil, err
	}
	s := blockSurvey{N: d.N()}
	if s.N == 0 {
		return json.Marshal(s)
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.Table != nil {
		return nil, fmt.Errorf("the block has columns that are not numbers")
	}
	s.D, s.Sparse, s.Classes = d.D(), d.Sparse != nil, d.Classes
	if s.Counts = d.Counts(); len(s.Counts) > mostTargets {
		s.Counts, s.Many = nil, true
	}
	s.Digest = digest(d)
	return json.Marshal(s)
}

// digest identifies the points and targets of a block.
func digest(d *datasets.Dataset) string {
	if d.N() == 0 {
		return ""
	}
	h := sha256.New()
	points.Of(d).Hash(h)
	for _, y := range d.Y {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(y)))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// block reads a block, and checks that it is still the one of the survey.
func (b *blocksOf) block(ctx context.Context, i int, was string) (*datasets.Dataset, error) {
	d, err := b.src.Block(ctx, i)
	if err == nil && digest(d) != was {
		err = errors.New("the data were changed while they were used")
	}
	return d, err
}

// survey reads all blocks. It is never taken from the files of an earlier run, since it finds out
// whether the data are still the same.
func (r Runner) survey(ctx context.Context, files store, src Source) (*survey, error) {
	if src == nil {
		return nil, arguments.Wrong("Source", math.NaN(), "the source is nil; give one such as beam.Files{Paths: paths}")
	}
	n, err := src.Blocks(ctx)
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, arguments.Wrong("Source", float64(n), "the source has no blocks")
	}
	b, err := r.over(ctx, files, src, nil, "")
	if err != nil {
		return nil, err
	}
	blocks := make([]blockSurvey, n)
	p := pass{what: "survey", kind: "survey", key: hash(fmt.Appendf(nil, "%016x%016x", rand.Uint64(), rand.Uint64())), spec: b, mem: b, each: func(i int, out []byte) error { return json.Unmarshal(out, &blocks[i]) }}
	p.blocks(n)
	defer r.forget(ctx, files, p)
	if err := r.run(ctx, files, p); err != nil {
		return nil, err
	}
	s := &survey{}
	many := false
	for i, one := range blocks {
		s.sizes, s.digests = append(s.sizes, one.N), append(s.digests, one.Digest)
		if one.N == 0 {
			continue
		}
		switch {
		case s.N == 0:
			s.D, s.Classes, s.Sparse = one.D, one.Classes, one.Sparse
		case s.D != one.D || s.Sparse != one.Sparse:
			return nil, arguments.Wrong("Source", float64(i), "block %d has %d features, and the blocks before it %d; give all blocks the same, and LIBSVM's format its Dims", i, one.D, s.D)
		case !slices.Equal(s.Classes, one.Classes):
			return nil, arguments.Wrong("Source", float64(i), "block %d has the classes %q, and the blocks before it %q; give all blocks the same Classes", i, one.Classes, s.Classes)
		}
		s.N += one.N
		many = many || one.Many
		for _, c := range one.Counts {
			at, found := slices.BinarySearchFunc(s.Counts, c.Y, func(have datasets.Count, y float64) int {
				switch {
				case have.Y < y:
					return -1
				case have.Y > y:
					return 1
				}
				return 0
			})
			if found {
				s.Counts[at].N += c.N
			} else {
				s.Counts = slices.Insert(s.Counts, at, c)
			}
		}
	}
	if s.N == 0 {
		return nil, arguments.Wrong("Source", 0, "no block has a point")
	}
	if many || len(s.Counts) > mostTargets {
		s.Counts = nil
	}
	return s, nil
}

func (p *pass) blocks(n int) {
	for i := range n {
		p.args, p.says = append(p.args, i), append(p.says, fmt.Sprintf("block %d", i))
	}
}

// forget removes the results of a pass.
func (r Runner) forget(ctx context.Context, files store, p pass) {
	for _, arg := range p.args {
		if text, err := json.Marshal(arg); err == nil {
			files.remove(context.WithoutCancel(ctx), (&task{Kind: p.kind, Key: p.key, Args: []json.RawMessage{text}}).name(0)+doneFile)
		}
	}
}

// targetCosts has what errors cost.
type targetCosts struct {
	Negative, Positive float64    // the targets of the two classes
	C                  [2]float64 // of the negative and of the positive class; for real targets both the same
}

// costs is targetCosts with what they come from.
type costs struct {
	targetCosts
	loss  learn.Loss
	names [2]string
}

// costsOf checks the targets, and applies the weights.
func costsOf(loss learn.Loss, s *survey) (*costs, error) {
	c := &costs{loss: loss, targetCosts: targetCosts{C: [2]float64{loss.C, loss.C}}}
	if loss.Real {
		return c, nil
	}
	if len(s.Counts) != 2 {
		return nil, arguments.Wrong("Source", float64(len(s.Counts)), "two classes are needed, and there are %s", targetsText(s))
	}
	c.Negative, c.Positive = s.Counts[0].Y, s.Counts[1].Y
	for k, one := range s.Counts {
		c.names[k] = one.Class
		if loss.Balanced {
			c.C[k] *= float64(s.N) / (2 * float64(one.N))
		}
	}
	for class, w := range loss.Weights {
		k := slices.Index(c.names[:], class)
		if k < 0 {
			return nil, arguments.Wrong("ClassWeight", w, "there is no class %q; the classes are %q and %q", class, c.names[0], c.names[1])
		}
		c.C[k] *= w
	}
	return c, nil
}

func targetsText(s *survey) string {
	if s.Counts == nil {
		return "real targets; say Regress"
	}
	return fmt.Sprintf("%d different targets", len(s.Counts))
}

// side returns the class of a target, 0 or 1.
func (c *costs) side(y float64) (int, error) {
	switch y {
	case c.Positive:
		return 1, nil
	case c.Negative:
		return 0, nil
	}
	return 0, fmt.Errorf("the target %v is neither %v nor %v; were the data changed meanwhile?", y, c.Negative, c.Positive)
}

// of returns the cost of each point of a part of the data.
func (c *costs) of(d *datasets.Dataset) ([]float64, error) {
	cost := make([]float64, d.N())
	for i, y := range d.Y {
		k := 1
		if !c.loss.Real {
			var err error
			if k, err = c.side(y); err != nil {
				return nil, err
			}
		}
		cost[i] = c.C[k]
	}
	return cost, nil
}

// vectors are points with coefficients: what a machine is made of.
type vectors struct {
	Data  *datasets.Dataset // the points and their targets
	Beta  []float64         // one for each
	Block []int             // where each point is from; nil if that is not known
	Row   []int
	Bias  float64
}

func (v *vectors) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func decodeVectors(text []byte) (*vectors, error) {
	v := new(vectors)
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(v); err != nil {
		return nil, err
	}
	if v.Data == nil || v.Data.N() != len(v.Beta) {
		return nil, fmt.Errorf("a file of support vectors is damaged")
	}
	return v, nil
}

// id identifies a point with its target: only equal ones have the same bits.
func id(b []byte, p points.Points, y float64, i int) []byte {
	b = p.AppendRow(b[:0], i)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
}

// edges are the biases at which the loss is computed: around the bias that the solver found,
// closer and closer to it, and evenly over a wide range.
const (
	evenEdges = 128
	nearEdges = 40
)

func edges(bias, width float64) []float64 {
	b := []float64{bias}
	for k := 1; k <= evenEdges; k++ {
		b = append(b, bias+width*float64(k)/evenEdges, bias-width*float64(k)/evenEdges)
	}
	for k, step := 0, width/evenEdges; k < nearEdges; k++ {
		step /= 2
		b = append(b, bias+step, bias-step)
	}
	slices.Sort(b)
	return slices.Compact(b)
}

// gapArg is what a gap piece needs beside the block.
type gapArg struct {
	Block   int         `json:"block"`
	Digest  string      `json:"digest"`
	Vectors string      `json:"vectors"` // file of the vectors
	Costs   targetCosts `json:"costs"`
	Most    int         `json:"most"` // how many violators to return
	Tol     float64     `json:"tol"`  // from which loss on a point is a violator
}

// gapOut is what a block adds to the certificate.
type gapOut struct {
	Block, N  int
	Loss      []float64 // Σ c ξ at each of the edges
	Seen      []int32   // numbers of the vectors whose point and target are in the block, in increasing order
	Times     []int32   // how often each is
	G         []float64 // Σ_j β_j K(x_j, x) there
	Wrong     int       // points on the wrong side at the vectors' bias; for real targets 0
	Violating int       // points with β = 0 whose loss is above the tolerance
	Worst     float64   // the largest of these losses, in units of y f
	Data      *datasets.Dataset
	Rows      []int // the violators that are returned, the worst first
}

// gapPiece computes what one block adds to the certificate, and its worst violators.
func gapPiece(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	b, err := ready(ctx, s, t, local)
	if err != nil {
		return nil, err
	}
	var a gapArg
	if err := json.Unmarshal(arg, &a); err != nil {
		return nil, err
	}
	v, err := readVectors(ctx, s, a.Vectors)
	if err != nil {
		return nil, err
	}
	d, err := b.block(ctx, a.Block, a.Digest)
	if err != nil {
		return nil, err
	}
	loss, err := b.l.Divide()
	if err != nil {
		return nil, err
	}
	at := edges(v.Bias, edgeWidth(loss))
	out := gapOut{Block: a.Block, N: d.N(), Loss: make([]float64, len(at))}
	if d.N() == 0 {
		return encodeGap(&out)
	}
	c := &costs{loss: loss, targetCosts: a.Costs}
	g, err := expand(ctx, v, loss.Kernel, d)
	if err != nil {
		return nil, err
	}
	own := map[int]bool{}
	for j, block := range v.Block {
		if block == a.Block {
			own[v.Row[j]] = true
		}
	}
	cost, err := c.of(d)
	if err != nil {
		return nil, err
	}
	var up, down []hinge
	type violator struct {
		row  int
		loss float64
	}
	var bad []violator
	for i, y := range d.Y {
		worst := 0.0
		if loss.Real {
			up, down = append(up, hinge{y - g[i] - loss.Epsilon, cost[i]}), append(down, hinge{y - g[i] + loss.Epsilon, cost[i]})
			worst = max(y-g[i]-loss.Epsilon-v.Bias, v.Bias-(y-g[i]+loss.Epsilon))
		} else if y == c.Positive {
			up = append(up, hinge{1 - g[i], cost[i]})
			worst = 1 - g[i] - v.Bias
		} else {
			down = append(down, hinge{-1 - g[i], cost[i]})
			worst = v.Bias + 1 + g[i]
		}
		if !loss.Real && worst > 1 {
			out.Wrong++
		}
		if worst > a.Tol && !own[i] {
			out.Violating++
			out.Worst = max(out.Worst, worst)
			bad = append(bad, violator{i, worst})
		}
	}
	addHinges(out.Loss, at, up, 1)
	addHinges(out.Loss, at, down, -1)

	known := map[string]int32{}
	var key []byte
	vp, dp := points.Of(v.Data), points.Of(d)
	first := make([]int32, len(v.Beta)) // equal vectors count for the first of them
	for j := range v.Beta {
		key = id(key, vp, v.Data.Y[j], j)
		k, ok := known[string(key)]
		if !ok {
			k = int32(j)
			known[string(key)] = k
		}
		first[j] = k
	}
	times, where := map[int32]int32{}, map[int32]int{}
	for i := range d.Y {
		key = id(key, dp, d.Y[i], i)
		if j, ok := known[string(key)]; ok {
			times[j]++
			where[j] = i
		}
	}
	for j := range times {
		out.Seen = append(out.Seen, j)
	}
	slices.Sort(out.Seen)
	for _, j := range out.Seen {
		out.Times, out.G = append(out.Times, times[j]), append(out.G, g[where[j]])
	}
	slices.SortStableFunc(bad, func(a, b violator) int {
		switch {
		case a.loss > b.loss:
			return -1
		case a.loss < b.loss:
			return 1
		}
		return 0
	})
	for _, one := range bad[:min(a.Most, len(bad))] {
		out.Rows = append(out.Rows, one.row)
	}
	if len(out.Rows) > 0 {
		out.Data = d.Select(out.Rows)
	}
	return encodeGap(&out)
}

func edgeWidth(l learn.Loss) float64 {
	if l.Real {
		return max(1, 4*l.Epsilon)
	}
	return 1
}

func encodeGap(out *gapOut) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(out)
	return b.Bytes(), err
}

// hinge is a part of the loss: c (t − b)₊ or c (b − t)₊.
type hinge struct{ t, c float64 }

// addHinges adds the loss of the hinges at each bias: c (t − b)₊ for sign 1, c (b − t)₊ for −1.
func addHinges(loss, at []float64, list []hinge, sign float64) {
	slices.SortFunc(list, func(a, b hinge) int {
		switch {
		case a.t < b.t:
			return -1
		case a.t > b.t:
			return 1
		}
		return 0
	})
	sumC, sumT := 0.0, 0.0 // of the hinges that are active
	if sign > 0 {
		next := len(list) - 1
		for k := len(at) - 1; k >= 0; k-- {
			for ; next >= 0 && list[next].t > at[k]; next-- {
				sumC, sumT = sumC+list[next].c, sumT+list[next].c*list[next].t
			}
			loss[k] += max(0, sumT-at[k]*sumC)
		}
		return
	}
	next := 0
	for k := range at {
		for ; next < len(list) && list[next].t < at[k]; next++ {
			sumC, sumT = sumC+list[next].c, sumT+list[next].c*list[next].t
		}
		loss[k] += max(0, at[k]*sumC-sumT)
	}
}

// expand returns Σ_j β_j K(x_j, x) at the points of d.
func expand(ctx context.Context, v *vectors, k kernels.Kernel, d *datasets.Dataset) ([]float64, error) {
	e := machines.NewExpansion(v.Data, k, nil, v.Beta, 0)
	p := points.Of(d)
	if err := e.Check("Certify", "machine", p); err != nil {
		return nil, err
	}
	g := make([]float64, 0, d.N())
	const some = 1024 // between two looks at the context
	for from := 0; from < d.N(); from += some {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows := make([]int, 0, some)
		for i := from; i < min(from+some, d.N()); i++ {
			rows = append(rows, i)
		}
		g = append(g, e.Values(p.Some(rows))...)
	}
	return g, nil
}
