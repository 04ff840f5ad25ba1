package gp

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"slices"
	"testing"

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
