//go:build unix

package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
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
	return selection.Search(svmnb.Classify(datasets.Moons(1200, 0.3, 9)).Kernel(kernels.RBF(1)),
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
		if p.Done > 3 && p.Done < p.All {
			for _, pid := range pids { // the first that has not ended
				killed = killed || syscall.Kill(pid, syscall.SIGKILL) == nil
			}
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
	src := Files{Paths: []string{table}, Bytes: 12_000}
	var fits [2]*Fit
	var certificates [2]Certificate
	var predictions [2][]byte
	for i, r := range []Runner{{}, r} {
		if fits[i], err = r.Train(t.Context(), src, c, 1e-2); err != nil {
			t.Fatal(err)
		}
		if certificates[i], err = r.Certify(t.Context(), src, c, fits[i].Model()); err != nil {
			t.Fatal(err)
		}
		p, err := r.Predict(t.Context(), src, fits[i].Model(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			predictions[i] = append(predictions[i], text...)
		}
	}
	if !reflect.DeepEqual(fits[1].Rounds, fits[0].Rounds) || !fits[1].Reached || len(fits[1].Rounds) < 2 {
		t.Errorf("the rounds are %v, want %v", fits[1].Rounds, fits[0].Rounds)
	}
	if certificates[1] != certificates[0] || !(certificates[1].RelGap <= 1e-2) {
		t.Errorf("the certificate is %v, want %v", certificates[1], certificates[0])
	}
	if n := bytes.Count(predictions[1], []byte("\n")); !bytes.Equal(predictions[1], predictions[0]) || n < noisy.N() {
		t.Errorf("the predictions, %d lines, are not those of this process", n)
	}
}

// freePort returns a port that nobody uses.
func freePort(t testing.TB) string {
	lis, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	return fmt.Sprint(lis.Addr().(*net.TCPAddr).Port)
}

// jobServer is a job server in a process of its own.
type jobServer struct {
	*exec.Cmd
	address string
}

// serve starts a job server, waits until it answers, and ends it with the test.
func serve(t testing.TB, port, name string, args ...string) jobServer {
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
			t.Logf("the job server says:\n%s", text[max(0, len(text)-4000):])
		}
	})
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "localhost:"+port); err == nil {
			conn.Close()
			return jobServer{cmd, "localhost:" + port}
		}
	}
	t.Fatal("the job server does not answer")
	return jobServer{}
}

// onKilled runs a search on a runner and kills one of its workers. It returns how many pieces were
// submitted again.
func onKilled(t *testing.T, r Runner) (again int) {
	t.Helper()
	want, err := longer().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = t.TempDir()
	r, killed := killing(r)
	kill := r.Watch
	r.Watch = func(p Progress) { again = p.Retried; kill(p) }
	got, err := longer().On(r).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !killed() {
		t.Error("no worker was killed: the search is too short for this test")
	}
	same(t, got, want)
	return again
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
	server := serve(t, port, filepath.Join(env, "bin", "python"), "-m", "apache_beam.runners.portability.local_job_service_main", "--port", port)
	r := Runner{Endpoint: server.address, Idle: 5 * time.Second}
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

// startJava starts Beam's job server for Flink or Spark, with a cluster inside, from the class path
// in the file that the variable names.
func startJava(t testing.TB, variable, name, class string, args ...string) jobServer {
	file := os.Getenv(variable)
	if file == "" {
		t.Skipf("%s does not name the class path of Beam's job server for %s, which mvn -f .ci/%[2]s/pom.xml dependency:build-classpath writes", variable, name)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skipf("there is no java, which %s needs", name)
	}
	classes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	command := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"} // it does not run for long
	for _, inner := range []string{"java.lang", "java.lang.invoke", "java.util", "java.util.concurrent", "java.net", "java.nio", "sun.nio.ch", "sun.security.action"} {
		command = append(command, "--add-opens=java.base/"+inner+"=ALL-UNNAMED")
	}
	command = append(command, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", strings.TrimSpace(string(classes)),
		class, "--job-port", port, "--artifact-port", "0", "--expansion-port", "0")
	return serve(t, port, java, append(command, args...)...)
}

// flink is the job server for Flink.
type flink struct {
	jobServer
	conf string // Flink's configuration, which is read again for each job
}

func startFlink(t testing.TB) flink {
	f := flink{conf: filepath.Join(t.TempDir(), "flink-conf.yaml")}
	f.configure(t, "")
	f.jobServer = startJava(t, "SVMNB_FLINK", "flink", "org.apache.beam.runners.flink.FlinkJobServerDriver", "--flink-conf-dir", filepath.Dir(f.conf))
	return f
}

func (f flink) configure(t testing.TB, lines string) {
	if err := os.WriteFile(f.conf, []byte("taskmanager.numberOfTaskSlots: 4\n"+lines), 0o644); err != nil {
		t.Fatal(err)
	}
}

// On Flink, all results are those of this process, whatever happens to workers.
func TestFlink(t *testing.T) {
	t.Parallel()
	f := startFlink(t)
	r := Runner{Endpoint: f.address, Processes: 2, Parallelism: 4}
	t.Run("results", func(t *testing.T) { on(t, r) })
	t.Run("killed worker", func(t *testing.T) { // Flink gives the job up, and the missing pieces are submitted again
		if again := onKilled(t, r); again == 0 {
			t.Error("no piece was submitted again")
		}
	})
	t.Run("poison", func(t *testing.T) {
		r := r
		r.Tries = 2
		onPoisoned(t, r)
	})
	t.Run("retries of Flink", func(t *testing.T) {
		f.configure(t, "restart-strategy.type: fixed-delay\nrestart-strategy.fixed-delay.attempts: 3\nrestart-strategy.fixed-delay.delay: 100 ms\n")
		if again := onKilled(t, r); again != 0 {
			t.Errorf("%d pieces were submitted again, although Flink retries", again)
		}
		r := r
		r.Tries = 1
		onPoisoned(t, r)
	})
}

// startSpark starts the job server for Spark.
func startSpark(t testing.TB) jobServer {
	return startJava(t, "SVMNB_SPARK", "spark", "org.apache.beam.runners.spark.SparkJobServerDriver", "--spark-master-url", "local[4]")
}

// On Spark, all results equal those of this process, even if a worker is killed. TestFlink tests the
// other faults.
func TestSpark(t *testing.T) {
	t.Parallel()
	s := startSpark(t)
	r := Runner{Endpoint: s.address, Processes: 2, Parallelism: 4}
	t.Run("results", func(t *testing.T) { on(t, r) })
	t.Run("killed worker", func(t *testing.T) { // the missing pieces are submitted again
		if again := onKilled(t, r); again == 0 {
			t.Error("no piece was submitted again")
		}
	})
}

// A job server that stands still before its first piece, or dies between two, ends the run with an
// error. What was done is not done again.
func TestLostServer(t *testing.T) {
	t.Parallel()
	slow := map[int]string{}
	for i := range 40 {
		slow[i] = "slow"
	}
	s := startFlink(t)
	r := Runner{Endpoint: s.address, Processes: 2, Parallelism: 4, Dir: t.TempDir()}
	var took time.Duration // of a pass without accidents
	for range 2 {          // the first is much slower
		began := time.Now()
		r := r
		r.Dir = t.TempDir()
		if _, err := strangePass(t.Context(), r, "first", nil, "", 4); err != nil {
			t.Fatal(err)
		}
		took = time.Since(began)
	}
	lost := func(r Runner) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		_, err := strangePass(ctx, r, "lost", slow, "", len(slow))
		if !errors.Is(err, errNoServer) || !strings.Contains(err.Error(), r.Endpoint) || !strings.Contains(err.Error(), "of 40 pieces") {
			t.Errorf("the error is %v", err)
		}
	}
	stopped := r
	stopped.Idle = 5*time.Second + 3*took
	stopped.started = func(int) { _ = s.Process.Signal(syscall.SIGSTOP) }
	lost(stopped)
	_ = s.Process.Signal(syscall.SIGCONT)

	killed := r
	killed.Watch = func(p Progress) {
		if p.Done > 4 && p.Done < p.All {
			_ = s.Process.Kill()
		}
	}
	lost(killed)

	known := 0
	if _, err := strangePass(t.Context(), Runner{Dir: r.Dir, Watch: func(p Progress) { known = p.Known }}, "lost", slow, "", len(slow)); err != nil || known < 5 {
		t.Errorf("the run that goes on knew %d pieces; %v", known, err)
	}
}

// An endpoint that is no job server is an error that says so, and does not take long.
func TestNoServer(t *testing.T) {
	other, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() // it takes connections, and never answers
	pool, err := startPool("localhost:0", true, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.stop()
	for _, c := range []struct{ endpoint, want string }{
		{"localhost:1", "no job server answers at localhost:1; start it"},
		{other.Addr().String(), "no job server answers at " + other.Addr().String()},
		{pool.address(), pool.address() + " is no job server of Beam"},
	} {
		_, err := strangePass(t.Context(), Runner{Endpoint: c.endpoint, Dir: t.TempDir(), Idle: time.Second}, "none", nil, "", 3)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.endpoint, err, c.want)
		}
	}
}
