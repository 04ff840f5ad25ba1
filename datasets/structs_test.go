package datasets_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/datasets"
)

func ExampleFromStructs() {
	type Flower struct {
		ID      string  `svmnb:"-"`
		Petal   float64 `svmnb:"petal length"`
		Width   float64
		Wild    bool
		Species string `svmnb:"species,target"`
	}
	d := datasets.FromStructs([]Flower{{"a", 1.4, 0.2, true, "setosa"}, {"b", 5.1, 1.9, false, "virginica"}})
	fmt.Println(d.Features, d.X, d.Target, d.Y, d.Classes, d.Check())
	// Output: [petal length Width Wild] [[1.4 0.2 1] [5.1 1.9 0]] species [0 1] [setosa virginica] <nil>
}

func ExampleFromMatrix() {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	d := datasets.FromMatrix(x.Slice(1, 3, 0, 2), []float64{-1, 1})
	fmt.Println(d.X, d.Y, d.Check())
	// Output: [[3 4] [5 6]] [-1 1] <nil>
}

// Every kind of number keeps its value.
func TestFromStructsKinds(t *testing.T) {
	type point struct {
		A       int8
		B       uint16
		C       int64
		D       float32
		hidden  chan int
		E       bool
		Outcome int `svmnb:",target"`
	}
	d := datasets.FromStructs([]point{{-3, 7, 1 << 40, 0.5, nil, true, -2}})
	if want := [][]float64{{-3, 7, 1 << 40, 0.5, 1}}; !reflect.DeepEqual(d.X, want) || d.Y[0] != -2 || d.Target != "Outcome" || d.Classes != nil {
		t.Errorf("%+v", d)
	}
}

func TestFromStructsRefuses(t *testing.T) {
	type good struct {
		X float64
		Y float64 `svmnb:",target"`
	}
	type nothing struct {
		Y float64 `svmnb:",target"`
	}
	type twice struct {
		X float64 `svmnb:",target"`
		Y float64 `svmnb:",target"`
	}
	type word struct {
		Name string
		Y    float64 `svmnb:",target"`
	}
	type nested struct {
		X good
		Y float64 `svmnb:",target"`
	}
	type option struct {
		X float64 `svmnb:"x,omitempty"`
		Y float64 `svmnb:",target"`
	}
	for name, test := range map[string]struct {
		d    *datasets.Dataset
		want string
	}{
		"no target":    {datasets.FromStructs([]struct{ X float64 }{{1}}), "target"},
		"no feature":   {datasets.FromStructs([]nothing{{1}}), "feature"},
		"two targets":  {datasets.FromStructs([]twice{{1, 2}}), "X and Y"},
		"string":       {datasets.FromStructs([]word{{"a", 2}}), "Name"},
		"nested":       {datasets.FromStructs([]nested{{good{1, 1}, 2}}), "field X"},
		"option":       {datasets.FromStructs([]option{{1, 2}}), "omitempty"},
		"no points":    {datasets.FromStructs([]good{}), "no points"},
		"no struct":    {datasets.FromStructs([]int{1}), "structs"},
		"pointers":     {datasets.FromStructs([]*good{nil}), "structs"},
		"interface":    {datasets.FromStructs([]any{1}), "structs"},
		"NaN":          {datasets.FromStructs([]good{{1, 1}, {math.NaN(), 2}}), "row 1, column 0 (X)"},
		"nil matrix":   {datasets.FromMatrix(nil, nil), "nil"},
		"targets":      {datasets.FromMatrix(mat.NewDense(2, 1, nil), []float64{1}), "2 rows"},
		"empty matrix": {datasets.FromMatrix(&mat.Dense{}, nil), ""},
		"Inf":          {datasets.FromMatrix(mat.NewDense(1, 2, []float64{1, math.Inf(1)}), []float64{1}), "row 0, column 1"},
	} {
		err := test.d.Check()
		if bad := (*datasets.Error)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an *Error with %q", name, err, test.want)
		}
	}
}
