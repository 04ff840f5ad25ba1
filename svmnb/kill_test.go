//go:build unix

package svmnb_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svmnb/svmnb/svmnb/internal/kept"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// saved are two models that take turns in one file.
func saved() [2]model.Modeler {
	return [2]model.Modeler{
		svmnb.Classify(testkit.Moons().Select(testkit.Seq(60))).Kernel(kernels.RBF(0.5)).MustFit(),
		svmnb.Classify(testkit.Moons()).Kernel(kernels.Linear()).C(3).MustFit(),
	}
}

func longSearch(file string) selection.Searcher {
	return selection.Search(svmnb.Classify(testkit.Moons().Select(testkit.Seq(60))), selection.Grid{"C": selection.Log2(-2, 6, 1), "gamma": selection.Log2(-4, 3, 1)}, selection.StratifiedKFold(4, 1)).File(file)
}

func childOf(t *testing.T, test, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), "SVMNB_CHILD="+dir, "SVMNB_CACHE="+filepath.Join(dir, "cache"))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKills kills a program that saves models, keeps fits and searches, without a
// warning and at any moment. What was on the disk stays, and it goes on from there.
// SVMNB_KILLS says how often; 200 take some minutes.
func TestKills(t *testing.T) {
	if dir := os.Getenv("SVMNB_CHILD"); dir != "" {
		writeForEver(dir)
		return
	}
	kills := 8
	if testing.Short() {
		kills = 3
	}
	if n, err := strconv.Atoi(os.Getenv("SVMNB_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	saves := filepath.Join(dir, "model")
	var texts [2][]byte
	for i, m := range saved() {
		if err := model.Save(saves, m); err != nil {
			t.Fatal(err)
		}
		texts[i], _ = os.ReadFile(saves)
	}
	want := testkit.FitOf(t, longSearch("")).Table().String()
	rng := rand.New(rand.NewPCG(1, 2))
	known := map[string][]byte{} // of the files of searches, before the kill
	left, changes, cut := 0, 0, 0
	last := texts[1]
	for k := range kills {
		child := childOf(t, "TestKills", dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("the child says %q, %v", line, err)
		}
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		_ = child.Process.Kill()
		_ = child.Wait()

		text, err := os.ReadFile(saves)
		if err != nil || !bytes.Equal(text, texts[0]) && !bytes.Equal(text, texts[1]) {
			t.Fatalf("kill %d: the model is neither of the two that were saved: %d bytes, %v", k, len(text), err)
		}
		if !bytes.Equal(text, last) {
			last, changes = text, changes+1
		}
		if _, err := model.Load(saves); err != nil {
			t.Fatalf("kill %d: %v", k, err)
		}
		here, there := temporaries(t, dir), temporaries(t, filepath.Join(dir, "cache", "fits"))
		if len(here) > 1 || len(there) > 1 {
			t.Fatalf("kill %d: temporary files %q and %q", k, here, there)
		}
		left += len(here) + len(there)
		fits, _ := filepath.Glob(filepath.Join(dir, "cache", "fits", "*.fit"))
		for _, file := range fits {
			key, err := hex.DecodeString(strings.TrimSuffix(filepath.Base(file), ".fit"))
			if err != nil || !kept.Decode(file, key, &solvers.Result{}) {
				t.Fatalf("kill %d: the kept fit %s cannot be read: %v", k, file, err)
			}
		}
		searches, _ := filepath.Glob(filepath.Join(dir, "search-*"))
		for _, file := range searches {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(text, known[file]) {
				t.Fatalf("kill %d: %s had %d bytes, which %d others have followed", k, file, len(known[file]), len(text))
			}
			if len(text) > 0 && text[len(text)-1] != '\n' {
				cut++
			}
			known[file] = text
		}
	}
	if err := model.Save(saves, saved()[0]); err != nil {
		t.Fatal(err)
	}
	if s := temporaries(t, dir); s != nil {
		t.Errorf("a save has left %q of killed ones", s)
	}
	learnt := 0
	for file := range known {
		f := testkit.FitOf(t, longSearch(file))
		if f.Changed != 0 {
			t.Errorf("%s: %d lines are not as they were written", file, f.Changed)
		}
		if got := f.Table().String(); got != want {
			t.Errorf("%s, which was killed, says\n%s\nand without a kill\n%s", file, got, want)
		}
		learnt += f.Fitted
	}
	fits, _ := filepath.Glob(filepath.Join(dir, "cache", "fits", "*.fit"))
	t.Setenv("SVMNB_CACHE", filepath.Join(dir, "cache"))
	svmnb.Classify(testkit.Moons().Select(testkit.Seq(60))).C(17).Keep()
	if s := temporaries(t, filepath.Join(dir, "cache", "fits")); s != nil {
		t.Errorf("Keep has left %q of killed ones", s)
	}
	t.Logf("%d kills: the model changed between %d of them, %d temporary files were left until the next write, %d kept fits, %d searches of 288 folds, of which %d folds were learnt after the last kill; lines cut: %d",
		kills, changes, left, len(fits), len(known), learnt, cut)
}

func temporaries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(filepath.Join(dir, "*.tmp"))
	for _, name := range more {
		if !strings.HasPrefix(filepath.Base(name), ".") {
			all = append(all, name)
		}
	}
	return all
}

// writeForEver is the program that is killed.
func writeForEver(dir string) {
	ended := make(chan error)
	go func() {
		models := saved()
		fmt.Println("ready")
		for i := 0; ; i++ {
			if err := model.Save(filepath.Join(dir, "model"), models[i%2]); err != nil {
				ended <- err
			}
		}
	}()
	go func() {
		for i := 1; ; i++ {
			c := 1 + float64(os.Getpid()%1000) + float64(i)/1000 // others each time
			svmnb.Classify(testkit.Moons().Select(testkit.Seq(60))).Kernel(kernels.RBF(0.5)).C(c).Keep()
		}
	}()
	go func() {
		for k := 0; ; k++ {
			file := filepath.Join(dir, fmt.Sprintf("search-%04d", k))
			f, err := longSearch(file).Workers(1).Fit(context.Background())
			if err != nil {
				ended <- err
			}
			if f.Fitted == 0 {
				continue
			}
		}
	}()
	panic(<-ended)
}

// A disk that is full after any number of bytes costs no file that was there, leaves no
// other, and is an error that names the file.
func TestDiskFull(t *testing.T) {
	if dir := os.Getenv("SVMNB_CHILD"); dir != "" {
		smallFiles(t, dir)
		return
	}
	out, err := childOf(t, "TestDiskFull", t.TempDir()).Output()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Fatalf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
}

// put sets a number whose type differs between systems.
func put[T int64 | uint64](to *T, v int) { *to = T(v) }

// smallFiles runs in a child process whose files may not grow beyond a number of bytes.
func smallFiles(t *testing.T, dir string) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	all := limit.Cur
	full := func(bytes int, do func()) {
		put(&limit.Cur, bytes)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		do()
		limit.Cur = all
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	writeToFullDisk(t, dir, full, syscall.EFBIG)
}

// writeToFullDisk writes below a folder while full leaves room for so many bytes; cause is
// the error of the system where that is not enough.
func writeToFullDisk(t *testing.T, dir string, full func(bytes int, do func()), cause error) {
	saves := filepath.Join(dir, "model")
	models := saved()
	if err := model.Save(saves, models[0]); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(saves)
	other := filepath.Join(dir, "other")
	if err := model.Save(other, models[1]); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(other)
	for k := 0; k < len(text); k += max(1, len(text)/50) {
		var err, errNew error
		full(k, func() {
			err = model.Save(saves, models[1])
			errNew = model.Save(filepath.Join(dir, "new"), models[1])
		})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), saves) || !errors.Is(errNew, cause) {
			t.Errorf("full after %d bytes of %d: %v, %v", k, len(text), err, errNew)
		}
		if now, _ := os.ReadFile(saves); !bytes.Equal(now, old) {
			t.Fatalf("full after %d bytes: the old model is gone", k)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
			t.Errorf("full after %d bytes: there is a part of a new model", k)
		}
		if s := temporaries(t, dir); s != nil {
			t.Fatalf("full after %d bytes: %q are left", k, s)
		}
	}

	c := svmnb.Classify(testkit.Moons().Select(testkit.Seq(60))).Kernel(kernels.RBF(0.5))
	for _, k := range []int{0, 1, 100, 1000} {
		full(k, func() {
			if fit := c.C(float64(k + 1)).Keep(); fit.Status.Early() {
				t.Errorf("full after %d bytes: the fit ended with %v", k, fit.Status)
			}
		})
		if files, _ := os.ReadDir(filepath.Join(dir, "cache", "fits")); len(files) > 0 {
			t.Fatalf("full after %d bytes: %v is left", k, files[0])
		}
	}

	want := testkit.FitOf(t, longSearch("")).Table().String()
	for _, k := range []int{0, 10, 200, 300, 1000, 5000, 20000} {
		file := filepath.Join(dir, fmt.Sprint("search-", k))
		var err error
		full(k, func() { _, err = longSearch(file).Fit(context.Background()) })
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), file) {
			t.Errorf("full after %d bytes: a search ends with %v", k, err)
		}
		if f, err := longSearch(file).Fit(context.Background()); err != nil || f.Changed != 0 || f.Table().String() != want {
			t.Errorf("full after %d bytes: the search does not go on, %v", k, err)
		}
	}
}
