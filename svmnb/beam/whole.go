package beam

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Classifier returns the fit as that of svmnb.Classify on all data, with its trace, figures and a
// certificate of its own, for data that fit into memory. The solver starts from the multipliers
// of f, so it has little left to do. The data must have all support vectors.
func (f *Fit) Classifier(ctx context.Context, c svmnb.Classifier) (*svmnb.Fit, error) {
	fit, err := f.whole(ctx, c.Learning())
	own, _ := fit.(*svmnb.Fit)
	return own, err
}

// Regression is [Fit.Classifier] for svmnb.Regress.
func (f *Fit) Regression(ctx context.Context, r svmnb.Regressor) (*svmnb.RegressionFit, error) {
	fit, err := f.whole(ctx, r.Learning())
	own, _ := fit.(*svmnb.RegressionFit)
	return own, err
}

func (f *Fit) whole(ctx context.Context, l learn.Learner) (any, error) {
	if f == nil || f.v == nil {
		return nil, arguments.NoFit("Classifier")
	}
	d, ok := l.(learn.Divided)
	if !ok {
		return nil, arguments.Wrong("Classifier", math.NaN(), "%v cannot be learnt from blocks", l)
	}
	loss, err := d.Divide()
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(loss.Kernel) != fmt.Sprint(f.c.loss.Kernel) || loss.Real != f.c.loss.Real {
		return nil, arguments.Wrong("Classifier", math.NaN(), "the description %v is not that of the fit", l)
	}
	data := l.Data()
	beta, err := f.v.in(data)
	if err != nil {
		return nil, err
	}
	cost, err := f.c.of(data)
	if err != nil {
		return nil, err
	}
	w := &learn.Warmth{Bytes: kernels.DefaultCache}
	w.From(beta, cost, loss.Real)
	fit, err := l.Train(ctx, w)
	if fit == nil {
		return nil, err
	}
	return fit.Fit(), err
}

// in returns the coefficients of the vectors, one for each point of the data.
func (v *vectors) in(data *datasets.Dataset) ([]float64, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	rows := map[string][]int{}
	var key []byte
	p := points.Of(data)
	for i, y := range data.Y {
		key = id(key, p, y, i)
		rows[string(key)] = append(rows[string(key)], i)
	}
	beta := make([]float64, data.N())
	own := points.Of(v.Data)
	for j, b := range v.Beta {
		if b == 0 {
			continue
		}
		key = id(key, own, v.Data.Y[j], j)
		free := rows[string(key)]
		if len(free) == 0 {
			return nil, arguments.Wrong("Classifier", b, "support vector %d is no point of the data; give all data that the fit was learnt from", j)
		}
		beta[free[0]], rows[string(key)] = b, free[1:]
	}
	return beta, nil
}
