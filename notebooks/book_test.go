package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func bookOf(t *testing.T) []*chapter {
	t.Helper()
	dir := t.TempDir()
	notebookOf := func(cells ...*cell) *notebook {
		var list []any
		for _, c := range cells {
			list = append(list, c.raw)
		}
		return &notebook{raw: map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": list}}
	}
	one := notebookOf(
		prose("# One\n\nSee [there](two.ipynb#The-end), [all of it](two.ipynb), [here](#Below), [elsewhere](other.ipynb) and [the source](https://go.dev/a.ipynb).\n\n## Below\n\nSoon.\n\n$x^2$"),
		code("x := 1 // kept").cells[0],
		code("%% check 1.1\nlab.Check(\"1.1\") // left out").cells[0],
	)
	two := notebookOf(prose("# Two\n\n" + strings.Repeat("A paragraph of some length, so that the chapter has more than one page.\n\n", 60) + "## The end"))
	var files []string
	for i, nb := range []*notebook{one, two} {
		file := filepath.Join(dir, []string{"one.ipynb", "two.ipynb"}[i])
		if err := nb.write(file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var chapters []*chapter
	for _, file := range files {
		c, err := chapterOf(t.Context(), file, []string{"one", "two"})
		if err != nil {
			t.Fatal(err)
		}
		chapters = append(chapters, c)
	}
	return chapters
}

func TestChapters(t *testing.T) {
	chapters := bookOf(t)
	page := chapters[0].article() + chapters[1].article()
	for _, want := range []string{`href="#two-The-end"`, `id="two-The-end"`, `href="#two"`, `<article id="two">`, `href="#one-Below"`, `id="one-Below"`, `href="other.ipynb"`, `href="https://go.dev/a.ipynb"`, `<p class="brief">Soon.</p>`, "kept"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %s in\n%s", want, page)
		}
	}
	if strings.Contains(page, "left out") {
		t.Error("the check is in the book")
	}
}

// Short code stays whole on a page. Longer code is broken between statements, and not near its ends.
func TestStays(t *testing.T) {
	long := strings.Split(strings.TrimSpace(strings.Repeat("x\n", 6)+"// f is a function.\nfunc f() {\n"+strings.Repeat("\ty\n", 6)+"}\n\n"+strings.Repeat("z\n", 6)), "\n")
	for _, test := range []struct {
		name  string
		lines []string
		code  bool
		free  []int // lines after which a page may end
	}{
		{"short code", []string{"a", "b", "c"}, true, []int{2}},
		{"long code", long, true, []int{15, 21}},
		{"long code without blank lines", slices.Concat(long[:15], long[16:]), true, []int{4, 5, 14, 15, 20}},
		{"much printed", long, false, []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 21}},
	} {
		var free []int
		for i := range test.lines {
			if !staysWithNext(test.lines, i, test.code) {
				free = append(free, i)
			}
		}
		if !slices.Equal(free, test.free) {
			t.Errorf("%s: a page may end after %v of the lines %q, want %v", test.name, free, test.lines, test.free)
		}
	}
}

// Printed charts have a width for which their letters have the same size, and a living figure is left out.
func TestFillPrinted(t *testing.T) {
	nb, err := readNotebook("09-kernels.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb.cells = slices.DeleteFunc(nb.cells, func(c *cell) bool { return c.kind() != "code" || !strings.Contains(c.source(), "play.Explore") })
	if err := fillPrinted(t.Context(), nb); err != nil {
		t.Fatal(err)
	}
	page, _, err := renderNotebook(newMarkdown(), nb, ".")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page, fmt.Sprintf(`<img width="%d"`, wideWidth)); n != 1 || strings.Contains(page, "svmnb-figure") || strings.Contains(page, "Classify(ds)") {
		t.Errorf("%d charts of %d pixels in\n%.2000s", n, wideWidth, page)
	}
}

// The contents say where each chapter begins: the pages of the parts add up to the book.
func TestPrintBook(t *testing.T) {
	chapters := bookOf(t)
	dir := t.TempDir()
	pdf := filepath.Join(dir, "book.pdf")
	var progress strings.Builder
	err := printBook(t.Context(), "A book", chapters, filepath.Join(dir, "book.html"), pdf, &progress)
	if errors.Is(err, errNoBrowser) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(pdf)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(pageObject.FindAll(printed, -1))
	if one, two := chapters[0].page, chapters[1].page; one != 3 || two != 4 || pages < 5 {
		t.Errorf("the chapters begin on pages %d and %d of %d, want 3 and 4", one, two, pages)
	}
	if alone, err := pagesOf(t.Context(), dir, chapters[1].article()); err != nil || pages != 3+alone {
		t.Errorf("%d pages with %d in the last chapter, %v", pages, alone, err)
	}
	if !strings.Contains(progress.String(), "one: 1 pages") {
		t.Errorf("progress %q", progress.String())
	}
}

func TestBookNames(t *testing.T) {
	s := &session{root: t.TempDir(), stdout: io.Discard, stderr: io.Discard}
	if err := bookCommand(t.Context(), s, []string{"none.ipynb"}); err == nil || !strings.Contains(err.Error(), "none.ipynb") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := bookCommand(t.Context(), s, nil); err == nil {
		t.Error("a folder without notebooks makes a book")
	}
	if err := slidesCommand(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "Name their files") {
		t.Errorf("slides of nothing: %v", err)
	}
}
