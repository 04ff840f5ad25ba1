package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/play"

	gochart "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-rod/rod/lib/proto"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/static"
)

// chartHTML returns the HTML that Show sends for each chart, and the library's.
func chartHTML(t *testing.T, items ...any) (html []string, library string) {
	t.Helper()
	var page bytes.Buffer
	if err := display.HTML(&page, items...); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(page.String(), "<section>")
	for _, p := range parts[1:] {
		chart, rest, _ := strings.Cut(p, "</section>")
		html, library = append(html, chart), rest
	}
	library, _, _ = strings.Cut(library, "</body>")
	return html, strings.TrimSpace(library)
}

func bars(name string, values ...float64) *gochart.Bar {
	b := gochart.NewBar()
	b.SetGlobalOptions(gochart.WithTitleOpts(opts.Title{Title: name}))
	var data []opts.BarData
	for _, v := range values {
		data = append(data, opts.BarData{Value: v})
	}
	b.SetXAxis([]string{"a", "b", "c"}).AddSeries("bars", data)
	return b
}

// displaying is a notebook whose cells have displayed so much HTML.
func displaying(t *testing.T, html ...string) []byte {
	t.Helper()
	cells := []any{}
	for i, h := range html {
		cells = append(cells, map[string]any{"cell_type": "code", "id": fmt.Sprint("cell", i), "metadata": map[string]any{}, "execution_count": i + 1, "source": []any{"display.Show(chart)"},
			"outputs": []any{map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{"text/html": lines(h), "text/plain": []any{"a chart"}}}}})
	}
	data, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "cells": cells,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "python3", "display_name": "none"}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeBook(t *testing.T, data []byte) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "book.ipynb")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func readBook(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestStaticCommand(t *testing.T) {
	html, _ := chartHTML(t, bars("first", 1, 2, 3), bars("second", 3))
	file := writeBook(t, displaying(t, append(html, "<b>no chart</b>")...))
	fill := func(args ...string) (string, error) {
		var out strings.Builder
		err := command(context.Background(), append([]string{"static"}, args...), &out, io.Discard)
		return out.String(), err
	}
	out, err := fill(file)
	filled := readBook(t, file)
	if err != nil || !strings.Contains(out, "2 charts, 2 outputs") || bytes.Count(filled, []byte("data:image/svg+xml;base64,")) != 2 || bytes.Contains(filled, []byte("not drawn yet")) {
		t.Fatalf("%q, %v, %d pictures", out, err, bytes.Count(filled, []byte("data:image/")))
	}
	if out, err := fill(file); err != nil || !strings.Contains(out, "2 charts, 0 outputs") || !bytes.Equal(readBook(t, file), filled) {
		t.Errorf("again: %q, %v, equal: %v", out, err, bytes.Equal(readBook(t, file), filled))
	}
	if out, err := fill("-dark", file); err != nil || !strings.Contains(out, "2 charts, 2 outputs") {
		t.Errorf("dark: %q, %v", out, err)
	}
	plain := displaying(t, "<b>no chart</b>")
	file = writeBook(t, plain)
	if _, err := fill(file); err != nil || !bytes.Equal(readBook(t, file), plain) {
		t.Errorf("a notebook without charts: %v, changed: %v", err, !bytes.Equal(readBook(t, file), plain))
	}
	broken := bars("broken", 1)
	broken.SetGlobalOptions(gochart.WithYAxisOpts(opts.YAxis{AxisLabel: &opts.AxisLabel{Formatter: opts.FuncOpts(`function () { throw new Error('oh'); }`)}}))
	html, _ = chartHTML(t, broken, bars("good", 1))
	file = writeBook(t, displaying(t, html...))
	if out, err := fill(file); err == nil || !strings.Contains(out, "2 charts, 1 outputs") || bytes.Count(readBook(t, file), []byte("data:image/")) != 1 {
		t.Errorf("a chart that fails: %q, %v", out, err)
	}
	for _, args := range [][]string{{}, {filepath.Join(t.TempDir(), "none.ipynb")}, {writeBook(t, []byte("{"))}} {
		if _, err := fill(args...); err == nil {
			t.Errorf("static %q: no error", args)
		}
	}
}

// Pictures are no difference; what they are drawn from is.
func TestPicturesAreNotCompared(t *testing.T) {
	html, _ := chartHTML(t, bars("one", 1, 2, 3), bars("one", 1, 2, 4))
	filled, _, err := static.Fill(context.Background(), html[0], static.Options{})
	if err != nil {
		t.Fatal(err)
	}
	show := func(s string) []*output {
		return []*output{{kind: "display_data", data: map[string]any{"text/html": s}}}
	}
	if d := standard.outputs(show(filled), show(html[0])); len(d) > 0 {
		t.Errorf("with and without picture: %v", d)
	}
	if d := standard.outputs(show(filled), show(html[1])); len(d) != 1 {
		t.Errorf("another chart: %v", d)
	}
}

// Classic Jupyter takes scripts and SVG out of a notebook that is not trusted;
// its figures are there all the same.
func TestUntrustedNotebookShowsItsFigures(t *testing.T) {
	fit := svmnb.Classify(datasets.Moons(80, 0.15, 1)).Kernel(kernels.RBF(1)).C(5).MustFit()
	sinc := datasets.Sinc(60, 0.1, 1)
	tube, process := svmnb.Regress(sinc).Kernel(kernels.RBF(1)).C(5).MustFit(), gp.Regress(sinc).CG().MustFit()
	several := svmnb.Classify(datasets.Blobs(60, 3, 0.5, 1)).Kernel(kernels.RBF(1)).OneVsOne().MustFit()
	var items []any
	for _, f := range []struct {
		figure display.Figure
		of     any
	}{{svmnb.Margins, fit}, {svmnb.KKT, fit}, {svmnb.Gap, fit}, {svmnb.Tube, tube}, {gp.Posterior, process}, {gp.Bounds, process}, {svmnb.Regions, several}, {svmnb.Confusion, several}} {
		c, err := f.figure.Of(f.of)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, c)
	}
	html, library := chartHTML(t, append(items, play.Replay(fit), bars("second", 3))...)
	html[0] += library
	n := len(html)
	file := writeBook(t, displaying(t, html...))
	if err := command(context.Background(), []string{"static", file}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, browsertest.Jupyter(t, filepath.Dir(file))+"/notebooks/"+filepath.Base(file), browsertest.Options{})
	page.Until(`document.querySelectorAll('.output img').length === ` + strconv.Itoa(n) + ` && Array.from(document.querySelectorAll('.output img')).every(e => e.complete)`)
	var seen struct {
		Drawn, Scripts, Trusted int
		Sizes                   [][]int
		Alts                    []string
	}
	page.Do(&seen, `var all = Array.from(document.querySelectorAll('.output img'));
		return {
			Drawn: document.querySelectorAll('[data-drawn]').length, Scripts: document.querySelectorAll('.output script, .output svg').length, Trusted: Jupyter.notebook.trusted ? 1 : 0,
			Sizes: all.map(e => [e.naturalWidth, e.naturalHeight, e.clientWidth, e.clientHeight]), Alts: all.map(e => e.alt)
		}`)
	if seen.Drawn+seen.Scripts+seen.Trusted != 0 {
		t.Errorf("the notebook is trusted or its scripts run: %+v", seen)
	}
	for i, s := range seen.Sizes {
		if s[0] < 600 || s[1] < 300 || s[2] < 300 || s[3] < 200 {
			t.Errorf("picture %d is %d x %d, shown as %d x %d", i, s[0], s[1], s[2], s[3])
		}
	}
	if !strings.HasPrefix(seen.Alts[0], "Decision function over ") || seen.Alts[n-1] != "Chart: second (bar bars)" {
		t.Errorf("alternative texts %q", seen.Alts)
	}
	if dir := os.Getenv("SVMNB_PICTURES"); dir != "" {
		page.Picture(filepath.Join(dir, "untrusted.png"))
	}
}

// A script that runs takes the picture's place.
func TestScriptReplacesThePicture(t *testing.T) {
	html, library := chartHTML(t, bars("one", 1, 2, 3))
	filled, _, err := static.Fill(context.Background(), html[0], static.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=utf-8><body>"+filled+library), 0o644); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Charts(1)
	var images int
	page.Do(&images, `return document.images.length`)
	if errs := page.Errors(); images != 0 || len(errs) > 0 {
		t.Errorf("%d images are left, errors %q", images, errs)
	}
}

// Thirty figures with their pictures are a file that can be mailed, and hold
// the library once.
func TestThirtyFiguresStaySmall(t *testing.T) {
	fit := svmnb.Classify(datasets.Moons(200, 0.15, 1)).Kernel(kernels.RBF(2)).C(10).MustFit()
	var items []any
	for _, f := range []display.Figure{svmnb.Margins, svmnb.KKT, svmnb.Gap} {
		c, err := f.Of(fit)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, c)
	}
	html, library := chartHTML(t, items...)
	for i, h := range html {
		filled, _, err := static.Fill(context.Background(), h, static.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("figure %d: %d bytes, with its picture %d", i, len(h), len(filled))
		html[i] = filled
	}
	html = slices.Repeat(html, 10)
	html[0] += library
	nb, err := parseNotebook(displaying(t, html...))
	if err != nil {
		t.Fatal(err)
	}
	data, err := nb.encode()
	if err != nil || len(data) > 5_000_000 || bytes.Count(data, []byte("(function svmnb(w, packed)")) != 1 {
		t.Errorf("%d bytes, %d libraries, %v", len(data), bytes.Count(data, []byte("(function svmnb(w, packed)")), err)
	}
	t.Logf("the notebook: %d bytes", len(data))
}

// A page of thirty figures, each another, is drawn within three seconds of its thread.
func TestThirtyFiguresOpenSoon(t *testing.T) {
	t.Parallel()
	var items []any
	for k := range 10 {
		fit := svmnb.Classify(datasets.Moons(200, 0.15, uint64(k))).Kernel(kernels.RBF(2)).C(10).MustFit()
		for _, f := range []display.Figure{svmnb.Margins, svmnb.KKT, svmnb.Gap} {
			c, err := f.Of(fit)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, c)
		}
	}
	html, library := chartHTML(t, items...)
	html[0] += library
	nb, err := parseNotebook(displaying(t, html...))
	if err != nil {
		t.Fatal(err)
	}
	book, err := exportHTML(nb, "thirty", ".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blank, file := filepath.Join(dir, "blank.html"), filepath.Join(dir, "thirty.html")
	if err := errors.Join(os.WriteFile(blank, nil, 0o644), os.WriteFile(file, book, 0o644)); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, blank, browsertest.Options{Offline: true})
	// What the page's thread computes, whatever else the machine does.
	if err := (proto.PerformanceEnable{TimeDomain: proto.PerformanceEnableTimeDomainThreadTicks}).Call(page.Page); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := page.Navigate("file://" + file); err != nil {
		t.Fatal(err)
	}
	page.Until(`document.querySelectorAll('[data-drawn]').length === 30`)
	took := time.Since(begun)
	metrics, err := proto.PerformanceGetMetrics{}.Call(page.Page)
	if err != nil {
		t.Fatal(err)
	}
	seconds := 0.0
	for _, m := range metrics.Metrics {
		if m.Name == "TaskDuration" {
			seconds = m.Value
		}
	}
	t.Logf("all are drawn after %.1f s by the clock, for which the page has computed %.2f s", took.Seconds(), seconds)
}
