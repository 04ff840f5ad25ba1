package display_test

import (
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/svmnb/display"
)

func TestLines(t *testing.T) {
	var square display.Curve
	square.Name = "x²"
	for x := 1.0; x < 5; x++ {
		square.Add(x, x*x)
	}
	plot := display.Lines("Powers", "x", "y", square, display.Curve{Name: "x", X: square.X, Y: square.X})
	chart, err := plot.LogX().LogY().XRange(1, math.NaN()).YRange(math.NaN(), 20).Chart()
	if err != nil {
		t.Fatal(err)
	}
	if text := chart.Description(); !strings.Contains(text, "Lines of y over x: x², x.") || !strings.Contains(text, "Powers") {
		t.Error(text)
	}
	square.Y[0] = -1 // the picture has its own numbers
	if _, err := plot.LogY().Chart(); err != nil {
		t.Error(err)
	}
	if _, err := display.Lines("Powers", "x", "y", square).LogY().Chart(); err == nil || !strings.Contains(err.Error(), "Lines[0].Y[0]") {
		t.Errorf("a logarithm of -1: %v", err)
	}
	if _, err := display.Lines("nothing", "x", "y").Chart(); err == nil || !strings.Contains(err.Error(), "Lines") {
		t.Errorf("no curve: %v", err)
	}
	if _, err := (display.LinePlot{}).Chart(); err == nil {
		t.Error("the zero value is drawn")
	}
}
