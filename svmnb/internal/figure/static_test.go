package figure

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/static"
)

func TestStaticDraft(t *testing.T) {
	ok := must[*Chart](t)
	small, large := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50)
	logGap := large.gap()
	logGap.Log = true
	figures := []*Chart{
		ok(Margins(small.margins())), ok(KKT(small.kkt())), ok(Gap(small.gap())),
		ok(Margins(large.margins())), ok(KKT(large.kkt())), ok(Gap(logGap)), ok(Scores(large.scores())),
		ok(Race(small.race(t, nil, everySMO[:4]...))), ok(Race(large.race(t, solvers.UpLow{Tol: 1e-5}, everySMO...))), ok(Race(racers(8))),
	}
	dir := os.Getenv("SVMNB_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	for i, c := range figures {
		for _, dark := range []bool{false, true} {
			start := time.Now()
			svg, err := static.SVG(c, static.Options{Dark: dark})
			t.Log(i, dark, len(svg), size(t, c), time.Since(start), err)
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("static-%d-%v.svg", i, dark)), svg, 0o644)
			start = time.Now()
			p, err := static.PNG(c, static.Options{Dark: dark})
			t.Log(i, dark, len(p), time.Since(start), err)
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("static-%d-%v.png", i, dark)), p, 0o644)
		}
	}
}
