package living

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/jslint"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
)

var browsers = strings.Fields("CustomEvent WebAssembly self btoa Event NaN")

func TestScriptsAreSound(t *testing.T) {
	for name, script := range map[string]string{"living.js": joined(), "worker.js": workerJS} {
		for _, wrong := range jslint.Check(name, script, browsers...) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

// The script and the engine agree on the order of the numbers that they exchange.
func TestListsAgree(t *testing.T) {
	for list, want := range map[string][]string{"ASKED": engine.Asked, "ANSWERED": engine.Answered} {
		m := regexp.MustCompile(list + ` = \[([^\]]*)\]`).FindStringSubmatch(joined())
		if m == nil {
			t.Fatalf("living.js has no %s", list)
		}
		if got := strings.Split(strings.ReplaceAll(m[1], "'", ""), ", "); !slices.Equal(got, want) {
			t.Errorf("%s is %q in living.js and %q in the engine", list, got, want)
		}
	}
	if m := regexp.MustCompile(`METHODS = \[([^\]]*)\]`).FindStringSubmatch(joined()); m == nil || m[1] != "'"+strings.Join(engine.Methods(engine.Classify, false), "', '")+"'" {
		t.Errorf("the solvers of living.js are %q, those of the engine %q", m, engine.Methods(engine.Classify, false))
	}
}

// Each named data set has a still picture and code that makes it.
func TestPresets(t *testing.T) {
	script, err := Script()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(script, "$presets") || strings.Contains(script, "$engine") {
		t.Error("living.js is not filled in")
	}
	for _, p := range presets() {
		s, err := p.complete()
		if err != nil {
			t.Errorf("%s: %v", p.spec.Name, err)
		} else if s.Still == "" || s.Data == "" || s.Label == "" || p.spec.Name != "outlier" && s.Source == "" {
			t.Errorf("%s is not complete", s.Name)
		}
	}
}
