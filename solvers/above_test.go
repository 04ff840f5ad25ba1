package solvers_test

import (
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/solvers/fastest"
)

func init() {
	solvers.UseAbove(func(size int) solvers.Method { return blocks.Decomposition{Size: size} }, fastest.Method{})
}
