package svmnb

import (
	"cmp"
	"fmt"
	"slices"
)

// Mistakes returns the indices of the points whose class was predicted wrongly, each with a
// caption such as "8, taken for 1". Classes that are confused most often come first. They
// are made for a picture of the points that were evaluated:
//
//	rows, captions := evaluation.Mistakes()
//	display.Images(test.Select(rows), 8, 8, captions...).Show()
func (e *Evaluation) Mistakes() (rows []int, captions []string) {
	if e == nil {
		return nil, nil
	}
	counts := e.Confusion().Counts
	for i, k := range e.Truth {
		if k != e.Predicted[i] {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(counts[e.Truth[b]][e.Predicted[b]]-counts[e.Truth[a]][e.Predicted[a]], e.Truth[a]-e.Truth[b], e.Predicted[a]-e.Predicted[b])
	})
	for _, i := range rows {
		captions = append(captions, fmt.Sprintf("%s, taken for %s", e.Classes[e.Truth[i]], e.Classes[e.Predicted[i]]))
	}
	return rows, captions
}
