package stream_test

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/stream"
)

// made is a source that makes its rows and holds none.
type made struct{ n, d int }

func (m made) Head() datasets.Head { return datasets.Head{Name: "made", N: m.n, D: m.d} }

func (m made) Open(context.Context) (datasets.BlockReader, error) {
	return &making{of: m, rng: rand.New(rand.NewPCG(1, 2))}, nil
}

type making struct {
	of  made
	rng *rand.Rand
	at  int
}

func (m *making) Next(b *datasets.Block) error {
	if m.at == m.of.n {
		return io.EOF
	}
	b.From = m.at
	b.Resize(min(b.Room(), m.of.n-m.at))
	for i, row := range b.X {
		for j := range row {
			row[j] = m.rng.NormFloat64()
		}
		if b.Y[i] = 0; row[0]+row[1]+m.rng.NormFloat64() > 0 {
			b.Y[i] = 1
		}
	}
	m.at += len(b.X)
	return nil
}

func (*making) Close() error { return nil }

// The heap of a fit and of its certificate stays within the budget, a tenth of the data.
func TestMemoryBudget(t *testing.T) {
	const budget = 16 << 20
	source := made{400_000, 50} // 163 MB
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before, most := heap(), int64(0)
	fit := must(t, stream.Classify(source).Kernel(kernels.RBF(0.01)).Nystroem(20).Gap(1e-2).Memory(budget).Watch(func(stream.Progress) { most = max(most, heap()) }))
	if _, err := fit.Sampled(context.Background(), 300); err != nil {
		t.Fatal(err)
	}
	if most == 0 || most-before > budget {
		t.Errorf("the heap grew by %d bytes, the budget is %d", most-before, budget)
	}
	t.Logf("the heap grew by %d of %d bytes", most-before, budget)
}
