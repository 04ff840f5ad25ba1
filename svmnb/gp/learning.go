package gp

import (
	"context"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/tune"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Learning returns what packages selection and play need of the description.
func (p Process) Learning() learn.Learner { return processing{p} }

// processing and processed implement the interfaces of package learn for a description and
// its fit.
type (
	processing struct{ Process }
	processed  struct{ fit *Fit }
)

func (f processed) Fit() any            { return f.fit }
func (f processed) Model() *model.Model { return f.fit.Model() }

// Data returns the training data.
func (p Process) Data() *datasets.Dataset { return p.data }

func (p processing) Fault() error           { return p.faults.Err() }
func (p processing) Measure() learn.Measure { return learn.NLPD }
func (p processing) Description() any       { return p.Process }

func (p processing) Detail() any {
	if p.noises == nil {
		return nil
	}
	return *p.noises
}

func (p processing) With(data *datasets.Dataset, rows []int) learn.Learner {
	p.data = data
	if p.noises != nil {
		v := learn.Chosen(*p.noises, rows)
		p.noises = &v
	}
	return p
}

func (p processing) After(b *steps.Passage) learn.Learner { p.behind = b; return p }

func (p processing) Parameters() string {
	return "NoiseVariance and those of the kernel: " + tune.Parameters(p.kernel)
}

func (p processing) Set(name string, v float64) (learn.Learner, bool) {
	if strings.EqualFold(name, "NoiseVariance") {
		return processing{p.NoiseVariance(v)}, true
	}
	k, known := tune.Kernel(p.kernel, name, v)
	if !known {
		return p, false
	}
	return processing{p.Kernel(k)}, true
}

func (p processing) Train(ctx context.Context, _ *learn.Warmth) (learn.Fit, error) {
	fit, err := p.Fit(ctx)
	if fit == nil {
		return nil, err
	}
	return processed{fit}, err
}

// InCell implements learn.InCell.
func (p processing) InCell(keep bool) learn.Fit {
	if keep {
		return processed{p.Keep()}
	}
	return processed{p.MustFit()}
}

// Interval implements learn.Ranged.
func (f processed) Interval(ctx context.Context, x [][]float64, share float64) (low, high []float64, err error) {
	b, err := f.fit.posterior(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	low, high = b.Interval(share)
	return low, high, nil
}

// HeldOut predicts for held-out points. It gives the standard deviations of targets, noise
// included, only if the noise is the same for all points.
func (f processed) HeldOut(ctx context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	b, err := f.fit.posterior(ctx, data.X)
	if err != nil {
		return nil, err
	}
	h := &learn.HeldOut{Truth: data.Y, Predicted: b.Mean}
	for _, v := range b.Variance {
		h.SD = append(h.SD, math.Sqrt(v+b.Noise))
	}
	return h, nil
}
