package gp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
)

// keepLearned changes whenever hyperparameters that an older version of this module has
// stored would be wrong or unreadable.
const keepLearned = "svmnb hyperparameters 2"

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds. The
// folder and the keys are as for svmnb.Classifier.Keep. Later calls load the
// hyperparameters and solve the system again. As a check they compute the log marginal
// likelihood, and if it is not the stored one, they optimise again. An interrupted
// optimisation is not stored. Without Optimise, Keep is MustFit.
func (p Process) Keep() *Fit {
	dir, err := kept.Dir()
	if err != nil || !p.learn {
		return p.MustFit()
	}
	return interruptible(func(ctx context.Context) (*Fit, error) {
		t, err := p.prepare()
		if err != nil {
			return nil, err
		}
		t.show = cells.Progress(progressAfter)
		key := t.key()
		file := filepath.Join(dir, hex.EncodeToString(key)+".fit")
		if fit := t.recall(ctx, file, key); fit != nil {
			now := time.Now()
			os.Chtimes(file, now, now) // marks the file as used; without this it is only removed earlier
			return fit, nil
		}
		fit, err := t.fit(ctx)
		if err == nil {
			kept.Write(file, key, fit.Optimisation)
			kept.Sweep(dir, kept.Bytes)
		}
		return fit, err
	})
}

// recall returns the fit with stored hyperparameters, or nil if there are none that can be
// trusted.
func (t *processTask) recall(ctx context.Context, file string, key []byte) *Fit {
	var o Optimisation
	if !kept.Decode(file, key, &o) || !o.sound() {
		return nil
	}
	end := o.End()
	if !t.byProbes() {
		if v, _, err := t.evaluate(ctx, nil, end.Values); err != nil || !(math.Abs(v-end.Evidence) <= 1e-9*(1+math.Abs(v))) {
			return nil
		}
	}
	learned, err := t.with(end.Values)
	if err != nil {
		return nil
	}
	names, err := learned.hyperparameters()
	if err != nil || len(names) != len(o.Names) {
		return nil
	}
	for i, h := range names {
		o.Names[i] = h.Name // the file may be older than the names of the features
	}
	fit, err := learned.conclude(ctx, &o, nil, nil)
	if err != nil {
		return nil
	}
	return fit
}

// sound reports whether every ascent has points, with one value for each name.
func (o *Optimisation) sound() bool {
	if o.Best < 0 || o.Best >= len(o.Ascents) || len(o.Start) != len(o.Names) || len(o.Low) != len(o.Names) || len(o.High) != len(o.Names) {
		return false
	}
	for _, a := range o.Ascents {
		if len(a.Path) == 0 {
			return false
		}
		for _, pt := range a.Path {
			if len(pt.Values) != len(o.Names) {
				return false
			}
		}
	}
	return true
}

// key hashes everything that the hyperparameters depend on. It includes the log marginal
// likelihood at the start, since a user may change the formula of a kernel and keep its
// name.
func (t *processTask) key() []byte {
	h := sha256.New()
	start, err := t.hyperparameters()
	values := make([]float64, len(start))
	for i, s := range start {
		values[i] = s.Value
	}
	grad := make([]float64, len(start))
	v := math.NaN()
	if err == nil && !t.byProbes() {
		v, _, err = t.evaluate(context.Background(), grad, values)
	}
	fmt.Fprintf(h, "%s\n%#v\n%v %v\n%v %d %d\n%#v\n%v\n%v\n%v %v %v\n%q %v\n", keepLearned,
		t.kernel, t.noise, t.noiseVector(), t.mean, t.restarts, t.seed, t.method, t.data.X, t.data.Y, v, grad, err, t.said(), t.scaled)
	return h.Sum(nil)
}

// keptFit is what Keep stores of an approximate process.
type keptFit struct {
	Optimisation Optimisation
	Inducing     [][]float64 // of a sparse process
	Chosen       [][]float64 // where OptimiseInducing found them
	Evidence     float64     // of the fit, if that of the last ascent is another; otherwise 0
	Unit         []float64   // of the distances of a process of neighbours
}

// keptTask is a checked description of an approximate process.
type keptTask[F approximated] interface {
	// at returns the fit with these hyperparameters and its evidence. A sparse process takes the inducing
	// points of kept, or chooses new ones if that is nil.
	at(ctx context.Context, values []float64, kept *keptFit) (F, float64, error)

	hyperparameters() ([]Partial, error)
}

// keep is Keep of an approximate process: of the checked task t, whose settings a text says.
func keep[F approximated](t keptTask[F], text string, data *datasets.Dataset, solve func(ctx context.Context) (F, *keptFit, error)) func(ctx context.Context) (F, error) {
	return func(ctx context.Context) (none F, _ error) {
		dir, err := kept.Dir()
		start, failed := t.hyperparameters()
		if err != nil || failed != nil {
			f, _, err := solve(ctx)
			return f, err
		}
		var values []float64
		for _, h := range start {
			values = append(values, h.Value)
		}
		// The evidence at the start is in the key, since a user may change the formula of a kernel and
		// keep its name.
		_, v, err := t.at(ctx, values, nil)
		h := sha256.New()
		fmt.Fprintf(h, "%s\n%s\n%v\n%v\n%v %v\n", keepLearned, text, data.X, data.Y, v, err)
		key := h.Sum(nil)
		file := kept.File(dir, key)
		var k keptFit
		if o := &k.Optimisation; kept.Decode(file, key, &k) && o.sound() && len(o.Names) == len(start) {
			f, v, err := t.at(ctx, o.End().Values, &k)
			if err == nil && math.Abs(v-cmp.Or(k.Evidence, o.End().Evidence)) <= 1e-9*(1+math.Abs(v)) {
				for i, h := range start {
					o.Names[i] = h.Name // the file may be older than the names of the features
				}
				now := time.Now()
				os.Chtimes(file, now, now) // marks the file as used; without this it is only removed earlier
				f.found(o)
				return f, nil
			}
		}
		f, own, err := solve(ctx)
		if err == nil {
			kept.Write(file, key, own)
			kept.Sweep(dir, kept.Bytes)
		}
		return f, err
	}
}

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds; see
// [Process.Keep].
func (c Classifier) Keep() *ClassifierFit {
	if !c.learn {
		return c.MustFit()
	}
	return mustApproximate(func(ctx context.Context, show func(line string, last bool)) (*ClassifierFit, error) {
		t, err := c.prepare()
		if err != nil {
			return nil, err
		}
		t.show = show
		return keep(t, fmt.Sprintf("Classify %#v %v %d %d %v", t.kernel, t.way, t.restarts, t.seed, t.classes), t.data, func(ctx context.Context) (*ClassifierFit, *keptFit, error) {
			f, err := t.optimise(ctx)
			if err != nil {
				return f, nil, err
			}
			return f, &keptFit{Optimisation: *f.Optimisation}, nil
		})(ctx)
	})
}

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds; see
// [Process.Keep].
func (p LatentProcess) Keep() *LatentFit {
	if !p.process.learn {
		return p.MustFit()
	}
	return mustApproximate(func(ctx context.Context, show func(line string, last bool)) (*LatentFit, error) {
		t, err := p.prepare()
		if err != nil {
			return nil, err
		}
		t.show = show
		return keep(t, fmt.Sprintf("Likelihood %#v %#v %v %v %d %d %v", t.kernel, t.of, t.noise, t.mean, t.restarts, t.seed, t.said()), t.data, func(ctx context.Context) (*LatentFit, *keptFit, error) {
			f, err := t.optimise(ctx)
			if err != nil {
				return f, nil, err
			}
			return f, &keptFit{Optimisation: *f.Optimisation}, nil
		})(ctx)
	})
}

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds, and for the
// inducing points; see [Process.Keep].
func (p SparseProcess) Keep() *SparseFit {
	if !p.process.learn {
		return p.MustFit()
	}
	return mustApproximate(func(ctx context.Context, show func(line string, last bool)) (*SparseFit, error) {
		t, err := p.prepare()
		if err != nil {
			return nil, err
		}
		t.show = show
		return keep(t, fmt.Sprintf("Inducing %d %v %d %v %v %#v %v %v %v %d %d %v", p.m, p.choice, p.seed, p.moves, p.cglb, t.kernel, t.noise, t.mean, t.scaled, t.restarts, t.seed, t.said()), t.data, func(ctx context.Context) (*SparseFit, *keptFit, error) {
			f, err := t.solve(ctx)
			if err != nil {
				return f, nil, err
			}
			return f, &keptFit{Optimisation: *f.Optimisation, Inducing: f.Inducing, Chosen: f.Chosen, Evidence: f.Lower}, nil
		})(ctx)
	})
}
