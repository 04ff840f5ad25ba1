package transform

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Bag is a [TableStep] that replaces texts by sparse features; see [CountWords], [TfIdf]
// and [HashWords].
type Bag struct {
	call   string
	most   int
	grams  int
	hashed bool
	idf    bool
}

// CountWords replaces every text by the numbers of times that each word occurs in it. Words
// are sequences of at least two letters or digits, in lower case. The vocabulary has the
// words that occur in the most training rows, at most most words; 0 means 10,000.
func CountWords(most int) Bag { return Bag{call: "CountWords", most: most} }

// TfIdf is [CountWords] with counts multiplied by 1 + ln((1 + n)/(1 + m)), where m of the n
// training rows contain the word, and with vectors scaled to length 1 (Salton and Buckley
// 1988, with the smoothing of scikit-learn).
func TfIdf(most int) Bag { return Bag{call: "TfIdf", most: most, idf: true} }

// HashWords is [CountWords] without a vocabulary: the hash of a word chooses its feature.
// Vectors are scaled to length 1.
func HashWords(features int) Bag { return Bag{call: "HashWords", most: features, hashed: true} }

// Grams counts sequences of up to n words as words too.
func (s Bag) Grams(n int) Bag { s.grams = n; return s }

// String returns the call that makes the step.
func (s Bag) String() string {
	text := fmt.Sprintf("%s(%d)", s.call, s.most)
	if s.grams != 0 {
		text += fmt.Sprintf(".Grams(%d)", s.grams)
	}
	return text
}

// usualWords is the default size of a vocabulary.
const usualWords = 10_000

// FitTable implements [TableStep].
func (s Bag) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf(s.call, train)
	if err != nil {
		return nil, err
	}
	if s.most < 0 || s.most > steps.MostWords || s.hashed && s.most == 0 {
		return nil, arguments.Wrong(s.call, float64(s.most), "%d words are asked for; give a number from 1 to %d", s.most, steps.MostWords)
	}
	if s.grams < 0 || s.grams > steps.MostGrams {
		return nil, arguments.Wrong("Grams", float64(s.grams), "up to %d words in a row are asked for; give a number from 1 to %d", s.grams, steps.MostGrams)
	}
	t := steps.PerColumn{Call: s.String()}
	for _, c := range table.Columns {
		if c.Kind != datasets.Text && !(c.Kind == datasets.Category && len(table.Columns) == 1) {
			continue
		}
		w := &steps.Words{Grams: s.grams, Norm: s.idf || s.hashed}
		if s.hashed {
			w.Hashed = s.most
		} else if s.vocabulary(w, c); len(w.Vocabulary) == 0 {
			return nil, arguments.Wrong(s.call, 0, "column %s has no word of at least two letters in any training row; leave it out by Without(%q) of the table", c.Name, c.Name)
		}
		t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, Words: w})
	}
	if len(t.Ops) == 0 {
		return nil, arguments.Wrong(s.call, math.NaN(), "no column is a text; say As(datasets.Text, names...) of the table")
	}
	return t, nil
}

// vocabulary chooses the words that occur in the most rows of the column. Of words in
// equally many rows it prefers the first in alphabetical order.
func (s Bag) vocabulary(w *steps.Words, c datasets.Column) {
	in, last := map[string]int{}, map[string]int{}
	var room []byte
	for i := range c.N() {
		room = steps.Each(room, c.Format(i), s.grams, func(word []byte) {
			if last[string(word)] != i+1 {
				last[string(word)] = i + 1
				in[string(word)]++
			}
		})
	}
	for word := range in {
		w.Vocabulary = append(w.Vocabulary, word)
	}
	slices.SortFunc(w.Vocabulary, func(a, b string) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b))
	})
	w.Vocabulary = slices.Clip(w.Vocabulary[:min(len(w.Vocabulary), cmp.Or(s.most, usualWords))])
	slices.Sort(w.Vocabulary)
	if s.idf {
		for _, word := range w.Vocabulary {
			w.IDF = append(w.IDF, 1+math.Log(float64(1+c.N())/float64(1+in[word])))
		}
	}
}
