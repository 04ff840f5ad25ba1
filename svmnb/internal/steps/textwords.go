package steps

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Words replaces a text by a vector of the numbers of times that each word occurs in it.
type Words struct {
	Vocabulary []string  `json:"vocabulary,omitempty"` // in alphabetical order
	IDF        []float64 `json:"idf,omitempty"`        // factors of the counts; nil means 1
	Hashed     int       `json:"hashed,omitempty"`     // number of features to which words are hashed, instead of a vocabulary
	Grams      int       `json:"grams,omitempty"`      // largest number of consecutive words that count as one word too; 0 means 1
	Norm       bool      `json:"norm,omitempty"`       // scale vectors to length 1

	once  sync.Once
	index map[string]int32
}

// MostWords is the largest number of features of texts. MostGrams is the largest value of
// Grams.
const (
	MostWords = 1 << 22
	MostGrams = 5
)

func (w *Words) check(finite func(v ...float64) bool) error {
	switch {
	case w.D() < 1 || w.D() > MostWords || w.Hashed != 0 && (w.Vocabulary != nil || w.Hashed < 0):
		return fmt.Errorf("texts have %d features; want 1 to %d, by words or by hashes", w.D(), MostWords)
	case w.IDF != nil && len(w.IDF) != len(w.Vocabulary), !finite(w.IDF...):
		return errors.New("want a finite weight for each word")
	case w.Grams < 0 || w.Grams > MostGrams:
		return fmt.Errorf("%d words in a row are one; want at most %d", w.Grams, MostGrams)
	}
	return nil
}

// D returns the number of features.
func (w *Words) D() int {
	if w.Hashed > 0 {
		return w.Hashed
	}
	return len(w.Vocabulary)
}

// Each calls do for every word of a text, in lower case. A word is a sequence of at least
// two letters or digits, or a sequence of up to grams such words.
func Each(text string, grams int, do func(word string)) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 2 })
	for i, word := range words {
		do(word)
		for k := 2; k <= grams && i+k <= len(words); k++ {
			do(strings.Join(words[i:i+k], " "))
		}
	}
}

// find returns the index of the feature of a word; −1 if it has none.
func (w *Words) find(word string) int32 {
	if w.Hashed > 0 {
		h := fnv.New32a()
		h.Write([]byte(word))
		return int32(h.Sum32() % uint32(w.Hashed))
	}
	w.once.Do(func() {
		w.index = make(map[string]int32, len(w.Vocabulary))
		for k, word := range w.Vocabulary {
			w.index[word] = int32(k)
		}
	})
	if k, ok := w.index[word]; ok {
		return k
	}
	return -1
}

func (w *Words) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	if c.Kind != datasets.Text && c.Kind != datasets.Category {
		return nil, arguments.Wrong(call, math.NaN(), "column %s is a %v, and words are those of a text", c.Name, c.Kind)
	}
	x := &datasets.CSR{Start: []int{0}, D: w.D()}
	count := map[int32]float64{}
	for i := range c.N() {
		clear(count)
		Each(c.Format(i), w.Grams, func(word string) {
			if k := w.find(word); k >= 0 {
				count[k]++
			}
		})
		from, sum := len(x.Value), 0.0
		for k := range count {
			x.Index = append(x.Index, k)
		}
		slices.Sort(x.Index[from:])
		for _, k := range x.Index[from:] {
			v := count[k]
			if w.IDF != nil {
				v *= w.IDF[k]
			}
			x.Value, sum = append(x.Value, v), sum+float64(v*v)
		}
		if w.Norm && sum > 0 {
			for p := from; p < len(x.Value); p++ {
				x.Value[p] /= math.Sqrt(sum)
			}
		}
		x.Start = append(x.Start, len(x.Index))
	}
	return []datasets.Column{{Name: c.Name, Kind: datasets.Vector, Sparse: x, Levels: w.Vocabulary}}, nil
}
