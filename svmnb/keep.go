package svmnb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/internal/wholefile"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
)

// keepFormat changes whenever a kept result of an older version of this module
// would be wrong or unreadable.
const keepFormat = "svmnb fit 2"

// keepBytes bounds the folder of kept fits; those not used longest go first.
const keepBytes = 256 << 20

// Keep is MustFit with a memory: the first call solves and remembers, any later
// one, in this cell or another, today or tomorrow, brings the result back. What
// is remembered is found by its content: the data, every setting and the format
// version; change one and it is solved anew. A fit that ended early is not
// remembered.
//
// The files are in the folder svmnb/fits of the user's cache folder, or in the
// folder that the environment variable SVMNB_CACHE names, and never take more
// than 256 MiB. A damaged file is solved anew and replaced; where the folder
// cannot be written Keep is MustFit.
func (c Classifier) Keep() *Fit {
	t, err := c.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.keep(t.problem, t.key(), t))
}

// keep is mustSolve with a memory for what has the key.
func (m *machine) keep(p *solvers.Problem, key []byte, s scene) *solvers.Result {
	res := recall(key, p.K.Dim())
	if res == nil {
		res = m.mustSolve(p, s)
		remember(key, res)
	} else if m.live && watchable() {
		m.watch(s).end(res)
	}
	return res
}

// recall returns the result of n multipliers that was remembered under the key,
// or nil.
func recall(key []byte, n int) *solvers.Result {
	dir, err := keepDir()
	if err != nil {
		return nil
	}
	file := keptFile(dir, key)
	res := readKept(file, key, n)
	if res != nil {
		now := time.Now()
		os.Chtimes(file, now, now) // marks it as used; if that fails it only goes sooner
	}
	return res
}

// remember keeps a result that did not end early, if it can.
func remember(key []byte, res *solvers.Result) {
	dir, err := keepDir()
	if err != nil || res.Status.Early() {
		return
	}
	writeKept(keptFile(dir, key), key, res)
	sweepKept(dir, keepBytes)
}

func keptFile(dir string, key []byte) string {
	return filepath.Join(dir, hex.EncodeToString(key)+".fit")
}

func keepDir() (string, error) {
	dir := os.Getenv("SVMNB_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "svmnb")
	}
	dir = filepath.Join(dir, "fits")
	return dir, os.MkdirAll(dir, 0o755)
}

// key hashes all that the result depends on: the numbers are the targets and
// the costs.
//
// A kernel is known by its value and by a row of its matrix, since a user may
// change the formula of a type in one cell and keep its name. A method or
// criterion from outside this module is known by its value and by the program
// that it is compiled into: it is solved anew whenever the cell has changed.
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
	all := pointsOf(m.data)
	all.hash(h)
	for _, v := range numbers {
		floats(v)
	}
	floats(all.firstRow(m.kernel)) // not of the matrix, which counts
	if foreign(m.method) || foreign(m.stop) {
		if exe, err := os.Executable(); err == nil {
			program, _ := os.ReadFile(exe) // unreadable: an empty program, still its own key
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

// readKept returns the result in file, or nil when there is none, it is
// damaged, or it does not have n multipliers.
func readKept(file string, key []byte, n int) *solvers.Result {
	var res solvers.Result
	if !decodeKept(file, key, &res) || !sound(&res, n) {
		return nil
	}
	return &res
}

// sound reports whether a result of n multipliers is whole: what reads its trace relies
// on that.
func sound(res *solvers.Result, n int) bool {
	t := &res.Trace
	if len(res.Alpha) != n || t.N != n || len(t.Points) == 0 || t.Cut < 0 || t.Cut > len(t.Points) || t.Sweep < 0 || res.Iterations < 0 {
		return false
	}
	for _, v := range append([]float64{res.Bias}, res.Alpha...) {
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

// decodeKept reads what writeKept has written: the key, the SHA-256 of what
// follows, and the value as gob.
func decodeKept(file string, key []byte, value any) bool {
	b, err := os.ReadFile(file)
	return err == nil && parseKept(b, key, value)
}

func parseKept(b, key []byte, value any) bool {
	if len(b) < 64 || !bytes.Equal(b[:32], key) {
		return false
	}
	body := b[64:]
	if sum := sha256.Sum256(body); !bytes.Equal(b[32:64], sum[:]) {
		return false
	}
	return gob.NewDecoder(bytes.NewReader(body)).Decode(value) == nil
}

// writeKept writes file as a whole or not at all. Its errors are not reported:
// a fit that is not remembered is solved again.
func writeKept(file string, key []byte, value any) {
	var body bytes.Buffer
	if gob.NewEncoder(&body).Encode(value) != nil {
		return
	}
	sum := sha256.Sum256(body.Bytes())
	wholefile.Sweep(filepath.Dir(file), "")
	_ = wholefile.Write(file, func(w io.Writer) error {
		_, err := w.Write(slices.Concat(key, sum[:], body.Bytes()))
		return err
	})
}

// sweepKept removes the files used longest ago until the rest take at most
// limit bytes, and what a killed write of an older version has left behind.
func sweepKept(dir string, limit int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if strings.HasSuffix(e.Name(), ".tmp") && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(dir, e.Name()))
		} else if strings.HasSuffix(e.Name(), ".fit") {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= limit {
			return
		}
		if os.Remove(filepath.Join(dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
