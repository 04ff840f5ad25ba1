package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
)

// The test binary is the process that is timed, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serve {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// small replaces the data of a work by little ones.
func small(t *testing.T) (b *bench, out *bytes.Buffer) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out = new(bytes.Buffer)
	return &bench{runs: 1, threads: []int{1, 2}, limit: time.Minute, dir: t.TempDir(), self: self, out: out}, out
}

var smallWorks = []work{
	{"classify", made(clouds, 120, 4), nil, job{Kind: classify, C: 2, Gamma: 0.3}, []string{"libsvm", "sklearn"}, false},
	{"regress", made(waves, 120, 2), nil, job{Kind: regress, C: 2, Gamma: 0.3, Epsilon: 0.1}, []string{"libsvm", "sklearn"}, false},
	{"one-vs-one", func() (*datasets.Dataset, error) { d := datasets.Iris(); return d, d.Check() }, nil, job{Kind: oneOne, C: 1, Gamma: 0.25}, []string{"libsvm"}, false},
	{"linear", made(plane, 200, 3), nil, job{Kind: linear, C: 1}, []string{"liblinear"}, false},
	{"process", made(waves, 60, 2), nil, job{Kind: process, Length: 1, Noise: 0.01}, []string{"sklearn"}, false},
	{"evidence", made(waves, 60, 2), nil, job{Kind: evidence, Length: 1, Noise: 0.01}, []string{"sklearn"}, false},
	{"evidence-ard", made(waves, 60, 2), nil, job{Kind: evidence, Length: 1, Noise: 0.01, ARD: true}, []string{"sklearn"}, false},
	{"predict", func() (*datasets.Dataset, error) { return pen(60, 1), nil }, func() (*datasets.Dataset, error) { return pen(50, 2), nil }, job{Kind: predict, C: 1e-4, Gamma: 0.02}, []string{"libsvm"}, false},
}

// All competitors that are here solve the same problem as we do: their objectives,
// which they compute themselves, are ours. LIBLINEAR's tolerance bounds it worst.
func TestCompetitorsAgree(t *testing.T) {
	for _, name := range []string{"libsvm", "liblinear", "sklearn"} {
		t.Run(name, func(t *testing.T) {
			b, _ := small(t)
			p, _, err := findPeer(context.Background(), name)
			if err != nil {
				t.Skip(err)
			}
			for _, w := range smallWorks {
				if !slices.Contains(w.peers, name) {
					continue
				}
				if err := w.write(b.dir); err != nil {
					t.Fatal(err)
				}
				us, err := b.ours(context.Background(), w.job, 1)
				if err != nil {
					t.Fatal(err)
				}
				them, err := p.run(context.Background(), b, w.job, 1)
				if err != nil {
					t.Fatal(err)
				}
				if !(us.Seconds > 0) || !(them.Seconds > 0) {
					t.Errorf("%s: ours took %v s, theirs %v s", w.name, us.Seconds, them.Seconds)
				}
				if !(math.Abs(us.Objective-them.Objective) <= 1e-4*math.Abs(us.Objective)) {
					t.Errorf("%s: the objective is %v, of %s %v", w.name, us.Objective, name, them.Objective)
				}
				if us.KKT > 1e-3 {
					t.Errorf("%s: KKT violation %v", w.name, us.KKT)
				}
			}
		})
	}
}

// A race against a competitor of the test's own prints a row and a RATIO line for
// each comparison, and says who failed.
func TestRaceIsPrinted(t *testing.T) {
	b, out := small(t)
	b.peers = []peer{
		{"tortoise", false, func(context.Context, *bench, job, int) (answer, error) {
			return answer{Seconds: 1000, Objective: -1}, nil
		}},
		{"relay", true, func(_ context.Context, _ *bench, _ job, threads int) (answer, error) {
			return answer{Seconds: 3000 / float64(threads), Reading: 1000 / float64(threads)}, nil
		}},
		{"ghost", false, func(context.Context, *bench, job, int) (answer, error) { return answer{}, errors.New("gone") }},
		{"reader", false, func(context.Context, *bench, job, int) (answer, error) {
			return answer{Seconds: 1, Reading: 1}, nil
		}},
		{"stranger", false, nil},
	}
	w := smallWorks[4]
	w.peers = []string{"tortoise", "relay", "ghost", "reader"}
	if err := b.race(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^process +1 .* tortoise +1e\+03 `,
		`(?m)^RATIO process 1t tortoise [0-9.e+]+$`, `(?m)^RATIO process 2t tortoise [0-9.e+]+$`,
		`(?m)^process +1 .* relay +2e\+03 `, `(?m)^process +2 .* relay +1e\+03 `,
		`(?m)^RATIO process 2t ours-1t [0-9.e+]+$`,
		`(?m)^process: FAILED: ghost on 2 threads: gone$`,
		`(?m)^process: reader trains in less time than its reading varies by$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("there is no line %s in\n%s", want, out)
		}
	}
	m := regexp.MustCompile(`(?m)^process +1 +(\S+) .*\nRATIO process 1t tortoise (\S+)$`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatal(out)
	}
	ours, _ := strconv.ParseFloat(m[1], 64)
	ratio, _ := strconv.ParseFloat(m[2], 64)
	if math.Abs(ours*ratio/1000-1) > 0.02 {
		t.Errorf("ours took %v s, theirs 1000 s, and the ratio is %v", ours, ratio)
	}
}

func TestRealDataAreOptional(t *testing.T) {
	b, out := small(t)
	t.Setenv("SVMNB_DATA", "")
	if err := b.race(context.Background(), work{name: "a9a", data: from("a9a", 0)}); err != nil || out.String() != "a9a: NOT RUN: SVMNB_DATA names no folder with a9a\n" {
		t.Errorf("%v, %s", err, out)
	}
	t.Setenv("SVMNB_DATA", b.dir)
	if _, err := from("a9a", 0)(); !errors.Is(err, errAbsent) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "a9a"), []byte("1 1:2\n-1 3:4\n1 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := from("a9a", 2)(); err != nil || d.N() != 2 || d.X[1][2] != 4 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestOwnFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, text        string
		c, gamma, epsilon float64
		kind, err         string
	}{
		{name: "two", text: "1 1:1\n-1 2:1\n", c: 1, epsilon: -1, kind: classify},
		{name: "three", text: "1 1:1\n2 2:1\n3 1:3\n", c: 1, gamma: 2, epsilon: -1, kind: oneOne},
		{name: "real", text: "1.5 1:1\n2 2:1\n3 1:3\n", c: 1, epsilon: 0, kind: regress},
		{name: "one", text: "1 1:1\n1 2:1\n", c: 1, epsilon: -1, err: "two classes"},
		{name: "cost", text: "1 1:1\n-1 2:1\n", epsilon: -1, err: "must be positive"},
		{name: "width", text: "1 1:1\n-1 2:1\n", c: 1, gamma: math.NaN(), epsilon: -1, err: "must be positive"},
		{name: "broken", text: "1 1:1\nx\n", c: 1, epsilon: -1, err: "line 2"},
		{name: "measured", text: strings.Join(many(1001), "\n"), c: 1, epsilon: -1, err: "say -p"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := ownWork(path, c.c, c.gamma, c.epsilon)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || w.job.Kind != c.kind || w.job.File != path || !(w.job.Gamma > 0):
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
	if _, err := ownWork(filepath.Join(dir, "absent"), 1, 1, -1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func many(n int) (lines []string) {
	for i := range n {
		lines = append(lines, strconv.Itoa(i)+" 1:1")
	}
	return lines
}

// The data are the same for everybody, and what they are said to be.
func TestData(t *testing.T) {
	for name, f := range map[string]func(n, d int, seed uint64) *datasets.Dataset{
		"clouds": clouds, "plane": plane, "waves": waves,
		"pen": func(n, _ int, seed uint64) *datasets.Dataset { return pen(n, seed) },
	} {
		a, b, c := f(300, 7, 1), f(300, 7, 1), f(300, 7, 2)
		if err := a.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.EqualFunc(a.X, b.X, slices.Equal) || !slices.Equal(a.Y, b.Y) {
			t.Errorf("%s has other points the second time", name)
		}
		if slices.EqualFunc(a.X, c.X, slices.Equal) {
			t.Errorf("%s has the same points for another seed", name)
		}
		if name != "waves" {
			if counts := a.Counts(); len(counts) != 2 || min(counts[0].N, counts[1].N) < 100 {
				t.Errorf("%s has the classes %v", name, counts)
			}
		}
	}
	ink, d := 0, pen(300, 1)
	for _, x := range d.X {
		for _, v := range x {
			if v < 0 || v > 1 {
				t.Fatalf("ink of %v", v)
			}
			if v > 0 {
				ink++
			}
		}
	}
	if share := float64(ink) / (300 * 784); d.D() != 784 || share < 0.15 || share > 0.3 {
		t.Errorf("%d pixels, %.2f of them inked", d.D(), share)
	}
}

func TestFigures(t *testing.T) {
	if got := exponent([]float64{5, 10, 40, 70}, []float64{75, 300, 4800, 14700}); math.Abs(got-2) > 1e-12 {
		t.Errorf("3n² has the exponent %v", got)
	}
	a := median([]answer{{Seconds: 10, Reading: 1}, {Seconds: 5, Reading: 4}, {Seconds: 7, Reading: 6}})
	if a.Seconds != 1 {
		t.Errorf("the median of 10 − 1, 5 − 4, 7 − 6 is %v", a.Seconds)
	}
	for want, v := range map[string]float64{"+1.0e-01": -9, "-5.0e-01": -15} {
		if got := against(v, -10); got != want {
			t.Errorf("%v against −10 is %s", v, got)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"fast"}, {"-only", "("}, {"-threads", "0"}, {"-threads", "two"}, {"-runs", "-1"}, {"-only", "nothing like it", "-peers", "none"}} {
		if err := run(context.Background(), args, io.Discard); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
}

// Each work has a name of its own without spaces, and a kind that we can do.
func TestWorks(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range works(true) {
		if seen[w.name] || strings.ContainsAny(w.name, " \t") {
			t.Errorf("the name %q", w.name)
		}
		seen[w.name] = true
		if !slices.ContainsFunc(smallWorks, func(s work) bool { return s.job.Kind == w.job.Kind }) {
			t.Errorf("%s: nobody has tested the kind %s", w.name, w.job.Kind)
		}
	}
}
