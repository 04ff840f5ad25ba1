package svmnb

import (
	"reflect"
	"testing"
)

func TestMistakes(t *testing.T) {
	e := &Evaluation{Classes: []string{"a", "b", "c"}, Truth: []int{0, 1, 2, 2, 0, 1, 2}, Predicted: []int{0, 0, 1, 2, 2, 2, 1}}
	rows, captions := e.Mistakes()
	if want := []int{2, 6, 4, 1, 5}; !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if want := []string{"c, taken for b", "c, taken for b", "a, taken for c", "b, taken for a", "b, taken for c"}; !reflect.DeepEqual(captions, want) {
		t.Errorf("captions %q, want %q", captions, want)
	}
	for _, none := range []*Evaluation{nil, {}, {Classes: []string{"a"}, Truth: []int{0}, Predicted: []int{0}}} {
		if rows, captions := none.Mistakes(); len(rows)+len(captions) > 0 {
			t.Errorf("mistakes %v, %q of %v", rows, captions, none)
		}
	}
}
