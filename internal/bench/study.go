package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// study measures how our own time grows with one parameter.
type study struct {
	name string
	of   string // the parameter that changes
	fit  bool   // fit the time by a power of the parameter
	runs []trial
}

type trial struct {
	at   float64
	work work
}

// studies lists the studies: of n, d and C for one family of problems, and of the cache.
func studies(quick bool) []study {
	family := func(n, d int, c float64, memory int64) work {
		return work{name: fmt.Sprintf("growth-%dx%d", n, d), data: made(clouds, n, d), job: job{Kind: classify, C: c, Gamma: 1 / float64(d), Memory: memory}}
	}
	scale := 1
	if quick {
		scale = 10
	}
	n, d, c := study{name: "growth-n", of: "n", fit: true}, study{name: "growth-d", of: "d", fit: true}, study{name: "growth-C", of: "C", fit: true}
	for _, v := range []int{5000, 10000, 20000, 50000, 100000} {
		n.runs = append(n.runs, trial{float64(v / scale), family(v/scale, 20, 1, 0)})
	}
	for _, v := range []int{5, 20, 80, 320, 1280} {
		d.runs = append(d.runs, trial{float64(v), family(10000/scale, v, 1, 0)})
	}
	for _, v := range []float64{0.1, 1, 10, 100} {
		c.runs = append(c.runs, trial{v, family(20000/scale, 20, v, 0)})
	}
	cache := study{name: "cache", of: "MB"}
	rows := 0
	if quick {
		rows = 3000
	}
	for _, mb := range []int64{1000, 200, 50, 10} {
		cache.runs = append(cache.runs, trial{float64(mb), work{name: "a9a", data: from("a9a", rows), job: job{Kind: classify, C: 1, Gamma: 0.01, Memory: mb * 1e6}}})
	}
	return []study{n, d, c, cache}
}

func (b *bench) study(ctx context.Context, s study) error {
	threads := b.threads[len(b.threads)-1]
	fmt.Fprintf(b.out, "\n%s on %d threads\n%10s %9s %9s %6s  %s\n", s.name, threads, s.of, "seconds", "KKT", "MB", "how")
	var at, time []float64
	for _, t := range s.runs {
		if err := t.work.write(b.dir); errors.Is(err, errAbsent) {
			fmt.Fprintf(b.out, "%v\n", err)
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		var answers []answer
		for range min(b.runs, 3) {
			a, err := b.ours(ctx, t.work.job, threads)
			if err != nil {
				return fmt.Errorf("%s at %g: %w", s.name, t.at, err)
			}
			answers = append(answers, a)
		}
		a := median(answers)
		at, time = append(at, t.at), append(time, a.Seconds)
		fmt.Fprintf(b.out, "%10g %9s %9s %6d  %s\n", t.at, seconds(a.Seconds), fmt.Sprintf("%.1e", a.KKT), a.Peak>>20, a.How)
	}
	if s.fit {
		fmt.Fprintf(b.out, "EXPONENT %s %dt %.3g\n", s.name, threads, exponent(at, time))
	} else {
		for i := range time[1:] {
			fmt.Fprintf(b.out, "RATIO %s-%g %dt ours-%g %.3g\n", s.name, at[i+1], threads, at[0], time[0]/time[i+1])
		}
	}
	return nil
}

// exponent returns the slope of log y over log x by least squares.
func exponent(x, y []float64) float64 {
	logX, logY := slices.Clone(x), slices.Clone(y)
	for i := range x {
		logX[i], logY[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, slope := stat.LinearRegression(logX, logY, nil, false)
	return slope
}
