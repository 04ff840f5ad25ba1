//go:build unix

package beam

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// longer is a search that takes long enough to kill a worker in its middle.
func longer() selection.Searcher {
	return selection.Search(svmnb.Classify(datasets.Moons(400, 0.3, 9)).Kernel(kernels.RBF(1)),
		selection.Grid{"C": {1, 10, 100}, "gamma": {0.5, 1, 2, 4}}, selection.StratifiedKFold(6, 1))
}

// killing kills a worker process when a few pieces are done, and says whether it has.
func killing(r Runner) (Runner, func() bool) {
	var mu sync.Mutex
	var pids []int
	killed := false
	r.started = func(pid int) {
		mu.Lock()
		defer mu.Unlock()
		pids = append(pids, pid)
	}
	r.Watch = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Done > 3 && p.Done < p.All && !killed && len(pids) > 0 {
			killed = syscall.Kill(pids[0], syscall.SIGKILL) == nil
		}
	}
	return r, func() bool { mu.Lock(); defer mu.Unlock(); return killed }
}

// A worker that is killed in the middle of a search is replaced, and the scores are the same to
// the bit.
func TestKilledWorker(t *testing.T) {
	want, err := longer().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		r, killed := killing(Runner{Processes: n})
		got, err := longer().On(r).Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !killed() {
			t.Error("no worker was killed: the search is too short for this test")
		}
		same(t, got, want)
	}
}

// on runs everything on a runner, and compares it with this process.
func on(t *testing.T, r Runner) {
	t.Helper()
	want, err := longer().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = t.TempDir()
	got, err := longer().On(r).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)

	noisy := datasets.Moons(900, 0.3, 7)
	c := svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(5)
	table := asFile(t, "points.csv", func(f *os.File) error { return noisy.WriteCSV(f) })
	src := Files{Paths: []string{table}, Bytes: 9000}
	plain, err := Runner{}.Train(t.Context(), src, c, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := r.Train(t.Context(), src, c, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fit.Rounds, plain.Rounds) || !fit.Reached {
		t.Errorf("the rounds are %v, want %v", fit.Rounds, plain.Rounds)
	}
	if _, err := r.Predict(t.Context(), src, fit.Model(), t.TempDir()); err != nil {
		t.Error(err)
	}
}

// freePort returns a port that nobody uses.
func freePort(t *testing.T) string {
	lis, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	return fmt.Sprint(lis.Addr().(*net.TCPAddr).Port)
}

// serve starts a job server, waits until it answers, and ends it with the test.
func serve(t *testing.T, port, name string, args ...string) string {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the job server says:\n%s", text[max(0, len(text)-8000):])
		}
	})
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "localhost:"+port); err == nil {
			conn.Close()
			return "localhost:" + port
		}
	}
	t.Fatal("the job server does not answer")
	return ""
}

// killed runs a search on a runner and kills one of its workers.
func onKilled(t *testing.T, r Runner) {
	t.Helper()
	want, err := longer().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = t.TempDir()
	r, killed := killing(r)
	got, err := longer().On(r).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !killed() {
		t.Error("no worker was killed: the search is too short for this test")
	}
	same(t, got, want)
}

// onPoisoned runs a piece on a runner that kills each worker that tries it.
func onPoisoned(t *testing.T, r Runner) {
	t.Helper()
	r.Dir = t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var piece *PieceError
	if _, err := strangePass(ctx, r, "poison", map[int]string{3: "die"}, "", 6); !errors.As(err, &piece) || piece.Piece != "piece 3" {
		t.Errorf("a piece that kills its workers: %v", err)
	}
}

// The runner of Beam's Python SDK, which is a program of other people behind the same protocol,
// gives the bits of this process. It does not replace a worker that was killed; the watchdog does.
func TestPythonRunner(t *testing.T) {
	env := os.Getenv("SVMNB_APACHEBEAM")
	if env == "" {
		t.Skip("SVMNB_APACHEBEAM does not name a virtual environment with the packages of .ci/apachebeam.txt")
	}
	port := freePort(t)
	endpoint := serve(t, port, filepath.Join(env, "bin", "python"), "-m", "apache_beam.runners.portability.local_job_service_main", "--port", port)
	r := Runner{Endpoint: endpoint, Idle: 5 * time.Second}
	on(t, r)
	onKilled(t, r)
	r.Tries = 2
	onPoisoned(t, r)
}

// A pool of worker processes in another place serves the runner.
func TestServe(t *testing.T) {
	want, err := moonsSearch().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := "localhost:" + freePort(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, address) }()
	got, err := moonsSearch().On(Runner{Workers: address}).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), "nowhere:at-all"); err == nil {
		t.Error("an address that is none is no error")
	}
}

// flink starts Beam's job server for Flink, with a cluster inside, and returns its address.
func flink(t *testing.T) string {
	jar := os.Getenv("SVMNB_FLINK")
	if jar == "" {
		t.Skip("SVMNB_FLINK does not name the jar of Beam's job server for Flink, beam-runners-flink-…-job-server of Maven Central")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java, which Flink needs")
	}
	conf := t.TempDir() // four slots; the name of the file depends on the version of Flink
	for _, name := range []string{"config.yaml", "flink-conf.yaml"} {
		if err := os.WriteFile(filepath.Join(conf, name), []byte("taskmanager.numberOfTaskSlots: 4\nparallelism.default: 4\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	port := freePort(t)
	return serve(t, port, java, "-jar", jar, "--job-port", port, "--artifact-port", freePort(t), "--expansion-port", freePort(t), "--flink-conf-dir", conf)
}

// On Flink, all results are those of this process. Flink retries the pieces of a worker that is
// killed, and a poisoned piece ends with an error that names it.
func TestFlink(t *testing.T) {
	r := Runner{Endpoint: flink(t), Processes: 2, Parallelism: 4}
	on(t, r)
	onKilled(t, r)
	onPoisoned(t, r)
}
