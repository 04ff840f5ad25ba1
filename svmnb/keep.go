package svmnb

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// keepFormat changes whenever a kept result of an older version of this module would be
// wrong or unreadable.
const keepFormat = "svmnb fit 2"

// Keep is MustFit with a cache on disk. The first call solves the problem and stores the
// result; later calls load it, in any cell and on any day. The key of a result contains the
// data, every setting and the format version, so a change of any of these solves the
// problem again. A fit that ended early is not stored.
//
// A run of more than ten seconds writes its α from time to time, and decomposition in blocks also what it
// knows of F. If the program is killed or the run interrupted, the next call goes on from there; its trace
// begins there too. A run with MaxIterations begins anew.
//
// The files are in the folder svmnb/fits of the user's cache folder, or in the folder that
// the environment variable SVMNB_CACHE names. They take at most 256 MiB together. If a file
// is damaged, the problem is solved again and the file replaced. If the folder cannot be
// written, Keep does the same as MustFit.
func (c Classifier) Keep() *Fit {
	t, err := c.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.keep(t.problem, t.key(), t))
}

// keep loads the result that is stored under the key, or solves and stores it.
func (m *machine) keep(p *solvers.Problem, key []byte, s scene) *solvers.Result {
	res := recall(key, p.K.Dim())
	if res == nil {
		res = m.mustSolve(p, s, m.checkpointOf(key))
		remember(key, res)
	} else if m.live && screen.Watchable() {
		m.watch(s).end(res)
	}
	return res
}

// recall loads the result of n multipliers that is stored under the key, or returns nil.
func recall(key []byte, n int) *solvers.Result {
	dir, err := kept.Dir()
	if err != nil {
		return nil
	}
	file := kept.File(dir, key)
	res := readKept(file, key, n)
	if res != nil {
		now := time.Now()
		os.Chtimes(file, now, now) // marks the file as used; without this it is only removed earlier
	}
	return res
}

// remember stores a result unless it ended early. Errors are ignored.
func remember(key []byte, res *solvers.Result) {
	dir, err := kept.Dir()
	if err != nil || res.Status.Early() {
		return
	}
	kept.Write(kept.File(dir, key), key, res)
	kept.Sweep(dir, kept.Bytes)
}

// key hashes everything the result depends on; numbers are the targets and the costs.
//
// A kernel is represented by its value and by one row of its matrix, since a user may
// change the formula of a kernel in a cell and keep its name. A method or criterion from
// outside this module is represented by its value and by the program file: the problem is
// then solved again whenever the program has changed.
func (m *machine) key(problem string, numbers ...[]float64) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%#v\n%v %v %v\n%#v\n%T %v\n%d %d\n%d × %d\n", keepFormat, problem,
		m.kernel, m.fixed, m.b0, m.tau2, m.method, m.stop, m.stop, m.limit, m.every, m.data.N(), m.data.D())
	floats := func(v []float64) {
		b := make([]byte, 0, 8*len(v))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		h.Write(b)
	}
	all := points.Of(m.data)
	all.Hash(h)
	solvers.Replace(m.stop, func(c solvers.Criterion) solvers.Criterion {
		if c, ok := c.(*certainty); ok {
			c.x.Hash(h)
		}
		return c
	})
	for _, v := range numbers {
		floats(v)
	}
	floats(all.FirstRow(m.kernel)) // the matrix is not used, since it counts its evaluations
	if foreign(m.method) || foreign(m.stop) {
		if exe, err := os.Executable(); err == nil {
			program, _ := os.ReadFile(exe) // if this fails, the key has no program in it and is still unique to foreign methods
			h.Write(program)
		}
	}
	return h.Sum(nil)
}

func (t *task) key() []byte {
	return t.machine.key(fmt.Sprintf("Classify %v %v %d", t.c, t.nu, t.margin), t.y, t.cost)
}

func foreign(v any) bool {
	return !strings.HasPrefix(reflect.TypeOf(v).PkgPath(), "github.com/svmnb/svmnb/")
}

// readKept returns the result in file, or nil if there is none, if it is damaged, or if it
// does not have n multipliers.
func readKept(file string, key []byte, n int) *solvers.Result {
	var res solvers.Result
	if !kept.Decode(file, key, &res) || !sound(&res, n) {
		return nil
	}
	return &res
}

// sound reports whether a result of n multipliers is complete and consistent. Code that
// reads its trace does not check again.
func sound(res *solvers.Result, n int) bool {
	t := &res.Trace
	if len(res.Alpha) != n || res.F != nil && len(res.F) != n || t.N != n || len(t.Points) == 0 || t.Cut < 0 || t.Cut > len(t.Points) || t.Sweep < 0 || res.Iterations < 0 {
		return false
	}
	for _, v := range slices.Concat([]float64{res.Bias}, res.Alpha, res.F) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	inside := func(list []int) bool {
		return !slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= n })
	}
	for k, pt := range t.Points {
		if len(pt.Changed) != len(pt.Alpha) || !inside(pt.Changed) || !inside(pt.Working) || pt.Iteration < 0 || k > 0 && pt.Iteration <= t.Points[k-1].Iteration {
			return false
		}
	}
	return true
}
