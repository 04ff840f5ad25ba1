package steps

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

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

// Each calls do for every word of a text: runs of at least two letters and digits in lower
// case, and up to so many of them in a row. It takes room that it returns; what do is
// given is only good until it returns.
func Each(room []byte, text string, grams int, do func(word []byte)) []byte {
	room = room[:0]
	var starts [MostGrams]int // of the words before, the last one last
	count, from, letters := 0, 0, 0
	end := func() {
		if letters >= 2 {
			count++
			copy(starts[:], starts[1:])
			starts[MostGrams-1] = from
			for k := 1; k <= max(1, grams) && k <= count; k++ {
				do(room[starts[MostGrams-k]:])
			}
			room = append(room, ' ')
		} else {
			room = room[:from]
		}
		from, letters = len(room), 0
	}
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			room = utf8.AppendRune(room, unicode.ToLower(r))
			letters++
		} else if len(room) > from {
			end()
		}
	}
	if len(room) > from {
		end()
	}
	return room
}

// find returns the feature of a word, −1 where it has none.
func (w *Words) find(word []byte) int32 {
	if w.Hashed > 0 {
		h := uint32(2166136261) // FNV-1a
		for _, b := range word {
			h = (h ^ uint32(b)) * 16777619
		}
		return int32(h % uint32(w.Hashed))
	}
	w.once.Do(func() {
		w.index = make(map[string]int32, len(w.Vocabulary))
		for k, word := range w.Vocabulary {
			w.index[word] = int32(k)
		}
	})
	if k, ok := w.index[string(word)]; ok {
		return k
	}
	return -1
}

func (w *Words) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	if c.Kind != datasets.Text && c.Kind != datasets.Category {
		return nil, arguments.Wrong(call, math.NaN(), "column %s is a %v, and words are those of a text", c.Name, c.Kind)
	}
	x := &datasets.CSR{Start: []int{0}, D: w.D()}
	dense := make([]float64, w.D())
	var room []byte
	for i := range c.N() {
		from := len(x.Index)
		room = Each(room, c.Format(i), w.Grams, func(word []byte) {
			if k := w.find(word); k >= 0 {
				if dense[k]++; dense[k] == 1 {
					x.Index = append(x.Index, k)
				}
			}
		})
		slices.Sort(x.Index[from:])
		w.weigh(dense, x.Index[from:])
		for _, k := range x.Index[from:] {
			x.Value, dense[k] = append(x.Value, dense[k]), 0
		}
		x.Start = append(x.Start, len(x.Index))
	}
	return []datasets.Column{{Name: c.Name, Kind: datasets.Vector, Sparse: x, Levels: w.Vocabulary}}, nil
}

// weigh makes features of counts; all others than those of words are 0.
func (w *Words) weigh(dense []float64, words []int32) {
	sum := 0.0
	for _, k := range words {
		if w.IDF != nil {
			dense[k] *= w.IDF[k]
		}
		sum += float64(dense[k] * dense[k])
	}
	if w.Norm && sum > 0 {
		for _, k := range words {
			dense[k] /= math.Sqrt(sum)
		}
	}
}

// mostDense is how many features texts may have where a row is written out.
const mostDense = 1 << 16

func (w *Words) compile(call string, in Slot, b *Layout) ([]Slot, func(m *Memory) error, error) {
	switch {
	case !in.IsText():
		return nil, nil, arguments.Wrong(call, math.NaN(), "column %s is a %v, and words are those of a text", in.Name, in.Kind)
	case w.D() > mostDense:
		return nil, nil, arguments.Wrong(call, float64(w.D()), "texts have %d features, and single rows at most %d; predict tables", w.D(), mostDense)
	}
	out := b.wide(Heading{in.Name, datasets.Vector}, w.D())
	return []Slot{out}, func(m *Memory) error {
		dense := m.Numbers[out.at:][:out.width]
		clear(dense)
		m.words = m.words[:0]
		m.room = Each(m.room, m.Texts[in.at], w.Grams, func(word []byte) {
			if k := w.find(word); k >= 0 {
				if dense[k]++; dense[k] == 1 {
					m.words = append(m.words, k)
				}
			}
		})
		slices.Sort(m.words)
		w.weigh(dense, m.words)
		return nil
	}, nil
}
