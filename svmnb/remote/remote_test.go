package remote

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/letter"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// The tests are their own program, which answers as the environment says. The program itself is
// tested in svmnb/beam.
func TestMain(m *testing.M) {
	if how := os.Getenv("SVMNB_TEST_ANSWER"); how != "" {
		answerAs(how)
		return
	}
	os.Exit(m.Run())
}

func TestInstalled(t *testing.T) {
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !(Program{Path: here}).Installed() || (Program{Path: here + "-not"}).Installed() {
		t.Error("a program that exists is not found, or one that does not is")
	}
}

func answerAs(how string) {
	out := gob.NewEncoder(os.Stdout)
	say := func(a letter.Answer) {
		if err := out.Encode(a); err != nil {
			os.Exit(9)
		}
	}
	var req letter.Request
	if err := gob.NewDecoder(os.Stdin).Decode(&req); err != nil {
		say(letter.Answer{Err: err.Error()})
		return
	}
	fit := &letter.Fit{Beta: make([]float64, req.Data.N()), Costs: [2]float64{1, 1}}
	switch how {
	case "zero": // a fit that has not begun: the cell has all to do
		say(letter.Answer{What: "blocks", Done: 1, All: 2})
		say(letter.Answer{Fit: fit})
		say(letter.Answer{Over: true})
	case "none":
		say(letter.Answer{Over: true})
	case "short":
		fit.Beta = fit.Beta[1:]
		say(letter.Answer{Fit: fit})
		say(letter.Answer{Over: true})
	case "error":
		say(letter.Answer{Err: "svmnb: Beam: block 3 was tried 3 times and failed: rotten"})
	case "dies":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case "dies late":
		say(letter.Answer{Fit: fit})
		say(letter.Answer{Over: true})
		os.Exit(7)
	case "noise":
		fmt.Println("hello, this is no gob at all, but a line of text that some program prints")
	case "lines":
		say(letter.Answer{Lines: []byte(`{"at":{"C":1},"fold":0,"score":1,"sum":"0"}` + "\n")})
		say(letter.Answer{Over: true})
	case "hangs":
		time.Sleep(time.Hour)
	}
}

func self(t *testing.T, how string) Program {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SVMNB_TEST_ANSWER", how)
	return Program{Path: path}
}

// A fit that comes back is solved to the end, whatever it is.
func TestClassify(t *testing.T) {
	moons := datasets.Moons(200, 0.3, 1)
	c := svmnb.Classify(moons).Kernel(kernels.RBF(1))
	want, err := c.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var seen []Progress
	got, err := self(t, "zero").Classify(t.Context(), c, func(p Progress) { seen = append(seen, p) })
	if err != nil {
		t.Fatal(err)
	}
	if got.Certificate.Dual != want.Certificate.Dual {
		t.Errorf("the dual is %v, want %v", got.Certificate.Dual, want.Certificate.Dual)
	}
	if len(seen) != 1 || seen[0] != (Progress{"blocks", 1, 2}) {
		t.Errorf("the progress was %v", seen)
	}
}

// What goes wrong in the program is an error here, and nothing hangs.
func TestFails(t *testing.T) {
	moons := datasets.Moons(200, 0.3, 1)
	c := svmnb.Classify(moons).Kernel(kernels.RBF(1))
	for how, want := range map[string]string{
		"none": "without a fit", "short": "without a fit", "error": "block 3 was tried 3 times", "dies": "out of memory",
		"dies late": "exit status 7", "noise": "cannot be read",
	} {
		if fit, err := self(t, how).Classify(t.Context(), c, nil); err == nil || fit != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", how, fit, err, want)
		}
	}
	s := selection.Search(c, selection.Grid{"C": {1, 2}}, selection.KFold(3, 1))
	for how, want := range map[string]string{"lines": "of another search", "none": "did not come back", "dies": "out of memory"} {
		if _, err := s.On(self(t, how)).Fit(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a search, %s: %v; want an error with %q", how, err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, stop)
	if _, err := self(t, "hangs").Classify(ctx, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}
	var wrong *svmnb.ArgumentError
	for name, fit := range map[string]func() error{
		"no program": func() error { _, err := Program{Path: "no-such-program"}.Classify(t.Context(), c, nil); return err },
		"blocks":     func() error { _, err := Program{Blocks: 1000}.Classify(t.Context(), c, nil); return err },
		"kernel":     func() error { _, err := Program{}.Classify(t.Context(), svmnb.Classify(moons), nil); return err },
		"loss":       func() error { _, err := Program{}.Regress(t.Context(), svmnb.Regress(moons).Ridge(1), nil); return err },
	} {
		if err := fit(); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
