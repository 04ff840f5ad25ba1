package figure

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a method of a mark or an axis says stands in the option, and nothing else.
func TestMarks(t *testing.T) {
	for _, test := range []struct {
		mark any
		want string
	}{
		{line(list{1}), `{"data":[1],"type":"line"}`},
		{line(nil).ink("@neg", 2), `{"data":null,"itemStyle":{"color":"@neg"},"lineStyle":{"color":"@neg","width":2},"type":"line"}`},
		{line(nil).pen("@neg", 2, "dashed"), `{"data":null,"lineStyle":{"color":"@neg","type":"dashed","width":2},"type":"line"}`},
		{line(nil).ink("@neg", 2).pen("@pos", 1), `{"data":null,"itemStyle":{"color":"@neg"},"lineStyle":{"color":"@pos","width":1},"type":"line"}`},
		{scatter(nil).on(0).z(0), `{"data":null,"type":"scatter","xAxisIndex":0,"yAxisIndex":0,"z":0}`},
		{scatter(nil).fill("@page").edge("@ink", 0).opacity(0), `{"data":null,"itemStyle":{"borderColor":"@ink","borderWidth":0,"color":"@page","opacity":0},"type":"scatter"}`},
		{scatter(nil).still().calm().bare(), `{"data":null,"emphasis":{"disabled":true},"silent":true,"symbol":"none","tooltip":{"show":false},"type":"scatter"}`},
		{axis{"axisLabel": object{"show": true}}.label(object{"rotate": 90}), `{"axisLabel":{"rotate":90,"show":true}}`},
		{axis{}.named("x", 28).lines(), `{"name":"x","nameGap":28,"nameLocation":"middle","splitLine":{"show":true}}`},
		{items([]int{3, 5, 7}, func(i int) bool { return i > 3 }, func(k, i int) list { return list{k, i} }), `[[1,5],[2,7]]`},
		{items(nil, nil, nil), `[]`},
	} {
		if got := must[[]byte](t)(json.Marshal(test.mark)); string(got) != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// The first mistake is the one that is told, in the part where it is.
func TestChecks(t *testing.T) {
	c := checks{figure: "Test"}
	c.refuse(false, "A", "is fine")
	c.part = "Parts[2]."
	c.numbers("place", 2, given("X", []float64{1, -2}), amount("Y", []float64{1, -2}))
	c.refuse(true, "B", "comes later")
	if c.err == nil || !strings.HasPrefix(c.err.Error(), "figure Test: Parts[2].Y[1] is -2: ") {
		t.Errorf("error %v", c.err)
	}
}
