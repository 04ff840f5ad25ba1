//go:build unix

package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// strange is a kind of work whose pieces misbehave as their argument says.
func init() {
	kinds["strange"] = func(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
		var a strangeArg
		if err := json.Unmarshal(arg, &a); err != nil {
			return nil, err
		}
		if a.Once != "" {
			if file, err := os.OpenFile(a.Once, os.O_CREATE|os.O_EXCL, 0o644); err != nil {
				a.Do = "" // another try has misbehaved
			} else {
				file.Close()
			}
		}
		switch a.Do {
		case "die":
			err := syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
			return nil, err
		case "exit":
			fmt.Fprintln(os.Stderr, "out of something")
			os.Exit(7)
		case "fail":
			return nil, errors.New("this block is rotten")
		case "panic":
			panic("a mistake")
		case "stop": // the whole process stands still
			err := syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(time.Hour)
			return nil, err
		case "hang":
			time.Sleep(time.Hour)
		case "wait":
			<-ctx.Done()
			return nil, context.Cause(ctx)
		case "slow":
			time.Sleep(300 * time.Millisecond)
		}
		return fmt.Appendf(nil, "result %d", a.N), nil
	}
}

type strangeArg struct {
	N        int
	Do, Once string
}

// strangePass runs pieces that do what the list says, and returns how often each had a result.
func strangePass(ctx context.Context, r Runner, key string, do map[int]string, once string, n int) ([]int, error) {
	r = r.filled()
	s, end, err := r.folder(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	got := make([]int, n)
	p := pass{what: "strange", kind: "strange", key: key, each: func(i int, out []byte) error {
		if string(out) != fmt.Sprintf("result %d", i) {
			return fmt.Errorf("piece %d has the result %q", i, out)
		}
		got[i]++
		return nil
	}}
	for i := range n {
		a := strangeArg{N: i, Do: do[i]}
		if once != "" && a.Do != "" && a.Do != "slow" {
			a.Once = fmt.Sprintf("%s-%d", once, i)
		}
		p.args, p.says = append(p.args, a), append(p.says, fmt.Sprintf("piece %d", i))
	}
	return got, r.run(ctx, s, p)
}

// All pieces get their result exactly once, whatever happens on the way.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		do        string
		processes int
		r         Runner
	}{
		{do: "fail"},
		{do: "panic"},
		{do: "fail", processes: 2},
		{do: "die", processes: 1},
		{do: "die", processes: 2},
		{do: "exit", processes: 2},
		{do: "stop", processes: 2, r: Runner{Idle: 2 * time.Second}},
		{do: "hang", processes: 1, r: Runner{Limit: time.Second}},
		{do: "wait", r: Runner{Limit: time.Second}},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.do, c.processes), func(t *testing.T) {
			t.Parallel()
			c.r.Processes = c.processes
			got, err := strangePass(t.Context(), c.r, "retry", map[int]string{2: c.do, 5: c.do, 6: "slow"}, filepath.Join(t.TempDir(), "once"), 9)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range got {
				if n != 1 {
					t.Errorf("piece %d has %d results", i, n)
				}
			}
		})
	}
}

// A piece that fails each time ends the run with an error that names it.
func TestPoison(t *testing.T) {
	for _, c := range []struct {
		do, want  string
		processes int
		r         Runner
	}{
		{do: "fail", want: "this block is rotten"},
		{do: "panic", want: "a mistake"},
		{do: "fail", want: "this block is rotten", processes: 2},
		{do: "die", want: "its worker died", processes: 2},
		{do: "exit", want: "out of something", processes: 1},
		{do: "stop", want: "its worker died", processes: 2, r: Runner{Idle: 2 * time.Second, Tries: 2}},
		{do: "hang", want: "longer than the limit", r: Runner{Limit: 500 * time.Millisecond, Tries: 2}},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.do, c.processes), func(t *testing.T) {
			t.Parallel()
			c.r.Processes = c.processes
			got, err := strangePass(t.Context(), c.r, "poison", map[int]string{4: c.do, 1: "slow"}, "", 9)
			var piece *PieceError
			if !errors.As(err, &piece) || piece.Piece != "piece 4" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; it does not name piece 4 or say %q", err, c.want)
			}
			if got[4] != 0 {
				t.Error("the piece has a result")
			}
		})
	}
}

// A run goes on with what is missing, also after it was interrupted.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var once sync.Once
	do := map[int]string{}
	for i := 20; i < 40; i++ {
		do[i] = "slow"
	}
	_, err := strangePass(ctx, Runner{Dir: dir, Watch: func(p Progress) {
		if p.Done > 5 {
			once.Do(stop)
		}
	}}, "goes on", do, "", 40)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the interrupted run returns %v", err)
	}
	first := -1
	got, err := strangePass(t.Context(), Runner{Dir: dir, Watch: func(p Progress) {
		if first < 0 {
			first = p.Known
		}
	}}, "goes on", do, "", 40)
	if err != nil {
		t.Fatal(err)
	}
	if first < 5 || first >= 40 {
		t.Errorf("%d pieces were known", first)
	}
	for i, n := range got {
		if n != 1 {
			t.Errorf("piece %d has %d results", i, n)
		}
	}
	// Another key is other work.
	first = -1
	if _, err := strangePass(t.Context(), Runner{Dir: dir, Watch: func(p Progress) {
		if first < 0 {
			first = p.Known
		}
	}}, "other", nil, "", 40); err != nil || first != 0 {
		t.Errorf("%d pieces of other work were taken as known; %v", first, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if !strings.HasSuffix(name, doneFile) {
			t.Errorf("%s was left behind", name)
		}
	}
}
