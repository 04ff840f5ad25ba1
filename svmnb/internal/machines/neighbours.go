package machines

import (
	"context"

	"github.com/svmnb/svmnb/svmnb/internal/vecchia"
)

// NeighboursOf is the name of the approximation by nearest neighbours.
const NeighboursOf = "nearest neighbours"

// OutputsOf is the name of what a process has that depends on other outputs.
const OutputsOf = "several outputs"

// Neighbours returns the process of a model of nearest neighbours. The first call builds the tree of
// its points. The error is context.Cause(ctx).
func (m *Machines) Neighbours(ctx context.Context) (*vecchia.Process, error) {
	p := m.Process
	release, err := p.Turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if made, ok := p.Made.(*vecchia.Process); ok {
		return made, nil
	}
	made := &vecchia.Process{
		Points: vecchia.NewPoints(m.Expansion.X.X, p.Approximation.Unit, make([]int32, m.Expansion.X.N())),
		Kernel: m.Kernel, Y: m.Terms[0].Coef, Noise: p.Noise, M: p.Approximation.Near,
	}
	p.Made = made
	return made, nil
}
