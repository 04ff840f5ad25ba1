package figure

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestPictures draws the figures in a browser, light and dark, wide and narrow.
// With SVMNB_PICTURES set to a folder it leaves them there to be looked at.
func TestPictures(t *testing.T) {
	ok := must[*Chart](t)
	small, large := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50)
	logGap := large.gap()
	logGap.Log = true
	figures := []*Chart{
		ok(Margins(small.margins())), ok(KKT(small.kkt())), ok(Gap(small.gap())),
		ok(Margins(large.margins())), ok(KKT(large.kkt())), ok(Gap(logGap)),
	}
	dir := os.Getenv("SVMNB_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, "figures.html")
	f := must[*os.File](t)(os.Create(file))
	var parts []string
	for _, c := range figures {
		parts = append(parts, must[echarts.Picture](t)(echarts.Draw(c)).HTML)
	}
	if err := echarts.Page(f, "figures", parts...); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	for _, look := range []browsertest.Options{{Width: 1280}, {Width: 1280, Dark: true}, {Width: 400, Dark: true}, {Width: 400}} {
		scheme := "light"
		if look.Dark {
			scheme = "dark"
		}
		page.Look(look)
		page.Until(fmt.Sprintf(`document.querySelectorAll('[data-drawn=%s]').length === %d`, scheme, len(figures)))
		page.Charts(len(figures))
		page.Picture(filepath.Join(dir, fmt.Sprintf("figures-%s-%d.png", scheme, look.Width)))
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}
