package beam

import (
	"context"
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

// The job server of another runner that runs already.
func TestEndpoint(t *testing.T) {
	endpoint := os.Getenv("SVMNB_BEAM_ENDPOINT")
	if endpoint == "" {
		t.Skip("SVMNB_BEAM_ENDPOINT does not name a job server, such as localhost:8099")
	}
	on(t, Runner{Endpoint: endpoint, Processes: 2})
}

// flink starts Beam's job server for Flink, with a cluster inside, and returns its address.
func flink(t *testing.T) string {
	jar := os.Getenv("SVMNB_FLINK")
	if jar == "" {
		t.Skip("SVMNB_FLINK does not name the jar of Beam's job server for Flink (beam-runners-flink-…-job-server of Maven Central)")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java for Flink")
	}
	port := func() int {
		lis, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		defer lis.Close()
		return lis.Addr().(*net.TCPAddr).Port
	}
	jobs := port()
	log, err := os.Create(filepath.Join(t.TempDir(), "flink.log"))
	if err != nil {
		t.Fatal(err)
	}
	// The folder of the configuration gives the embedded cluster four slots.
	conf := t.TempDir()
	if err := os.WriteFile(filepath.Join(conf, "flink-conf.yaml"), []byte("taskmanager.numberOfTaskSlots: 4\nparallelism.default: 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(java, "-jar", jar, "--job-port", fmt.Sprint(jobs), "--artifact-port", fmt.Sprint(port()), "--expansion-port", fmt.Sprint(port()), "--flink-conf-dir", conf)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("the job server says:\n%s", text[max(0, len(text)-8000):])
			}
		}
	})
	address := fmt.Sprintf("localhost:%d", jobs)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
	}
	t.Fatal("the job server does not answer")
	return ""
}

// On Flink, all results are those of this process. Flink retries a worker that is killed, and a
// poisoned piece ends with an error that names it.
func TestFlink(t *testing.T) {
	endpoint := flink(t)
	r := Runner{Endpoint: endpoint, Processes: 2, Parallelism: 4}
	on(t, r)

	want, err := longer().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	killer, killed := killing(Runner{Endpoint: endpoint, Processes: 2, Parallelism: 4, Dir: t.TempDir()})
	got, err := longer().On(killer).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !killed() {
		t.Error("no worker was killed: the search is too short for this test")
	}
	same(t, got, want)

	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	r.Dir = t.TempDir()
	if _, err := strangePass(ctx, r, "flink", map[int]string{3: "die"}, "", 6); err == nil || ctx.Err() != nil {
		t.Errorf("a piece that kills its workers: %v", err)
	}
}
