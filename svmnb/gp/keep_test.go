package gp

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
)

// FuzzKeepLearned is FuzzKeep for learned hyperparameters.
func FuzzKeepLearned(f *testing.F) {
	good := Optimisation{Names: []string{"gamma", "noise"}, Start: []float64{1, 2}, Low: []float64{0, 1}, High: []float64{2, 3}, Ascents: []Ascent{{Path: []AscentPoint{{Values: []float64{1, 2}, Evidence: -3}}}}}
	f.Add(encoded(f, &good))
	f.Add(encoded(f, &Optimisation{Best: -1, Ascents: good.Ascents}))
	key := bytes.Repeat([]byte{7}, 32)
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		var o Optimisation
		if kept.Parse(slices.Concat(key, sum[:], body), key, &o) && o.sound() {
			if end := o.End(); len(end.Values) != len(o.Names) {
				t.Fatalf("%v", o)
			}
		}
	})
}

func encoded(f *testing.F, value any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

// TestKeepApproximate: the second call of Keep reads what the first one has learned, and a damaged
// file is learned again.
func TestKeepApproximate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SVMNB_CACHE", dir)
	moons, sinc := datasets.Moons(30, 0.2, 1), Regress(datasets.Sinc(30, 0.1, 1)).Optimise()
	for name, run := range map[string]func() (*Optimisation, float64){
		"classes": func() (*Optimisation, float64) {
			f := Classify(moons).Optimise().Keep()
			return f.Optimisation, f.LogMarginalLikelihood()
		},
		"sparse": func() (*Optimisation, float64) { f := sinc.Inducing(8).Keep(); return f.Optimisation, f.Lower },
		"moving": func() (*Optimisation, float64) {
			f := sinc.Inducing(5).By(KMeans, 1).OptimiseInducing().CGLB().Keep()
			if len(f.Chosen) != 5 {
				t.Errorf("began at %v", f.Chosen)
			}
			return f.Optimisation, f.Lower
		},
		"neighbours": func() (*Optimisation, float64) {
			f := sinc.Neighbours(5).Keep()
			return f.Optimisation, f.Evidence
		},
		"outputs": func() (*Optimisation, float64) {
			p, y := outputs(10, 2)
			f := p.Optimise().Outputs(y).Coregionalise().Keep()
			return f.Optimisation, f.LogMarginalLikelihood()
		},
		"Student": func() (*Optimisation, float64) {
			f := sinc.Likelihood(StudentT(4)).Keep()
			return f.Optimisation, f.LogMarginalLikelihood()
		},
	} {
		first, v := run()
		files, _ := filepath.Glob(filepath.Join(dir, "fits", "*.fit"))
		if len(files) != 1 {
			t.Fatalf("%s: %v", name, files)
		}
		again, w := run()
		if first.Elapsed != again.Elapsed || v != w { // a second optimisation takes another time
			t.Errorf("%s: %v and %v, %v and %v", name, first.Elapsed, again.Elapsed, v, w)
		}
		if err := os.WriteFile(files[0], []byte("nonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
		if third, w := run(); third.Elapsed == first.Elapsed || math.Abs(v-w) > 1e-9 {
			t.Errorf("%s: a damaged file was read", name)
		}
		os.Remove(files[0])
	}
}
