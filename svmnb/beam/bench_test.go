//go:build unix

package beam

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// measured reports what f costs: processor seconds of this process, of its workers and of job
// servers, beside the time that passes.
func measured(b *testing.B, f func(), servers ...jobServer) {
	used := func() (seconds float64) {
		for _, s := range servers {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
			if err != nil {
				b.Skip(err)
			}
			field := bytes.Fields(text[bytes.LastIndexByte(text, ')'):])
			for _, ticks := range field[12:14] { // user and system, a hundredth of a second each
				n, err := strconv.ParseFloat(string(ticks), 64)
				if err != nil {
					b.Fatal(err)
				}
				seconds += n / 100
			}
		}
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				b.Fatal(err)
			}
			seconds += float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
		}
		return seconds
	}
	before := used()
	for b.Loop() {
		f()
	}
	b.ReportMetric((used()-before)/float64(b.N), "cpu-s/op")
}

// digits is a search of 10 × 10 settings on 5 folds.
func digits() selection.Searcher {
	return selection.Search(svmnb.Classify(datasets.Digits()).OneVsOne(),
		selection.Grid{"C": selection.Log2(-3, 6, 1), "gamma": selection.Log2(-15, -6, 1)}, selection.StratifiedKFold(5, 1))
}

// engines calls f for the job servers that can be had, which have computed something before.
func engines(b *testing.B, f func(name string, s jobServer)) {
	for name, start := range map[string]func(testing.TB) jobServer{
		"flink": func(t testing.TB) jobServer { return startFlink(t).jobServer },
		"spark": startSpark,
	} {
		if os.Getenv("SVMNB_"+strings.ToUpper(name)) == "" {
			continue
		}
		s := start(b)
		for range 5 {
			if _, err := strangePass(b.Context(), Runner{Endpoint: s.address, Dir: b.TempDir()}, "first", nil, "", 20); err != nil {
				b.Fatal(err)
			}
		}
		f(name, s)
		_ = s.Process.Kill()
	}
}

// The overhead of Beam: the same search plainly, in this process, in 1, 2 and 4 processes, and on
// job servers with as many.
func BenchmarkSearch(b *testing.B) {
	run := func(name string, r *Runner, servers ...jobServer) {
		b.Run(name, func(b *testing.B) {
			measured(b, func() {
				s := digits()
				if r != nil {
					if r.Endpoint != "" {
						r.Dir = b.TempDir()
					}
					s = s.On(*r)
				}
				f, err := s.Fit(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if best, ok := f.Best(); !ok || best.Mean() < 0.98 {
					b.Fatalf("the best setting is %+v", best)
				}
			}, servers...)
		})
	}
	run("plain", nil)
	for _, n := range []int{0, 1, 2, 4} {
		run(fmt.Sprintf("processes=%d", n), &Runner{Processes: n})
	}
	engines(b, func(name string, s jobServer) {
		for _, n := range []int{1, 2, 4} {
			run(fmt.Sprintf("%s/processes=%d", name, n), &Runner{Endpoint: s.address, Processes: n, Parallelism: 4}, s)
		}
	})
}

// The cost of a pass whose pieces do nothing.
func BenchmarkPass(b *testing.B) {
	run := func(name string, r Runner, servers ...jobServer) {
		for _, pieces := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/pieces=%d", name, pieces), func(b *testing.B) {
				measured(b, func() {
					if r.Endpoint != "" {
						r.Dir = b.TempDir()
					}
					if _, err := strangePass(b.Context(), r, "bench", nil, "", pieces); err != nil {
						b.Fatal(err)
					}
				}, servers...)
			})
		}
	}
	engines(b, func(name string, s jobServer) {
		run(name, Runner{Endpoint: s.address, Processes: 2, Parallelism: 4}, s)
	})
	for _, processes := range []int{0, 1, 2, 4} {
		run(fmt.Sprintf("processes=%d", processes), Runner{Processes: processes})
	}
}

// Training and its certificates on n points of 20 features, in blocks of 5000.
func BenchmarkTrain(b *testing.B) {
	for _, n := range []int{20_000, 80_000} {
		data := gauss(n)
		c := svmnb.Classify(data).Kernel(kernels.RBF(0.02)).C(1)
		b.Run(fmt.Sprintf("n=%d/plain", n), func(b *testing.B) {
			measured(b, func() {
				if _, err := c.Fit(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
		})
		for _, processes := range []int{0, 1, 2, 4} {
			b.Run(fmt.Sprintf("n=%d/processes=%d", n, processes), func(b *testing.B) {
				measured(b, func() {
					fit, err := Runner{Processes: processes}.Train(b.Context(), Memory(data, n/5000), c, 1e-3)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(fit.Rounds)-1), "rounds")
					b.ReportMetric(fit.RelGap, "relgap")
					b.ReportMetric(float64(fit.Vectors), "SVs")
				})
			})
		}
	}
}

// Certify alone: one pass over all blocks for a model of so many support vectors.
func BenchmarkCertify(b *testing.B) {
	for _, n := range []int{20_000, 80_000} {
		data := gauss(n)
		c := svmnb.Classify(data).Kernel(kernels.RBF(0.02)).C(1)
		fit, err := c.Fit(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, processes := range []int{0, 1, 2, 4} {
			b.Run(fmt.Sprintf("n=%d/processes=%d", n, processes), func(b *testing.B) {
				measured(b, func() {
					if _, err := (Runner{Processes: processes}).Certify(b.Context(), Memory(data, n/5000), c, fit.Model()); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(float64(fit.Model().SupportVectors()), "SVs")
			})
		}
	}
}

// gauss is n points of two classes of 20 features, which overlap.
func gauss(n int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(7, 1))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = make([]float64, 20)
		y[i] = float64(i%2)*2 - 1
		for j := range x[i] {
			x[i][j] = rng.NormFloat64() + 0.4*y[i]
		}
	}
	return datasets.New(x, y)
}
