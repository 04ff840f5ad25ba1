package solvers

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

func heart90(t testing.TB) (x [][]float64, y []float64) {
	f, err := os.Open("/tmp/w-int/heart90")
	if err != nil {
		t.Skip(err)
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		row := make([]float64, 13)
		for _, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			j, _ := strconv.Atoi(index)
			row[j-1] = number(t, value)
		}
		x, y = append(x, row), append(y, number(t, fields[0]))
	}
	return
}

func TestPD90(t *testing.T) {

	x, y := heart90(t)
	p := SoftMargin(newGram(x, rbf(1./13)), y, fill(90, 1))
	r := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-10}})
	fmt.Printf("%.9f\n", r.Certificate.Dual)
	for _, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, PrimalDual{Infeasible: true}, Barrier{}, Barrier{PhaseI: true}} {
		r = solve(t, p, m, Settings{})
		fmt.Printf("%v %d %.9f\n", r.Status, r.Iterations, r.Certificate.Dual)
	}
}
