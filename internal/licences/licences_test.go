package licences

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// built are the programs whose modules are looked at: where go list runs and what it is
// asked for.
var built = []program{
	{"a cell", ".", "./svmnb ./svmnb/gp ./svmnb/selection ./svmnb/play ./svmnb/metrics ./kernels/mercer ./datasets/fetch ./notebooks/lab"},
	{"the runner", ".", "./notebooks"},
	{"`datasets/arrow`", "datasets/arrow", "."},
	{"`svmnb/beam`", "svmnb/beam", "./..."},
}

type program struct{ name, dir, packages string }

const root = "../.."

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)

// module is one that is linked.
type module struct{ path, dir string }

// linked asks Go for the modules of a program, from what is on this machine alone.
func linked(t *testing.T, dir, packages string) []module {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}"}, strings.Fields(packages)...)...)
	cmd.Dir = filepath.Join(root, dir)
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the modules of %s are not all on this machine; go mod download in the folder %s brings them: %v\n%s", packages, dir, err, &said)
	}
	var list []module
	for _, line := range slices.Compact(slices.Sorted(strings.Lines(string(out)))) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !strings.HasPrefix(path, "github.com/svmnb/svmnb") {
			list = append(list, module{path, dir})
		}
	}
	if len(list) == 0 {
		t.Errorf("%s links no modules", packages)
	}
	return list
}

// licencesOf returns the names of the licences of a module, by the files in its folder.
func licencesOf(t *testing.T, m module) string {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		t.Skipf("the folder of %s is not on this machine; go mod download brings it: %v", m.path, err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".docs") {
			continue // go-digest's documentation has a licence of its own, and is not linked
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		known := Of(string(text))
		if len(known) == 0 {
			t.Errorf("%s: %s is no licence that licences.go permits; it begins %.200q", m.path, e.Name(), text)
		}
		names = append(names, known...)
	}
	if len(names) == 0 {
		t.Errorf("%s has no licence: ask its authors, or do without it", m.path)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// docs/licences.md has a row for each module that is linked, with its licence and with the
// programs that link it, and no other row.
func TestModules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\S+/\S+) \| (.*) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1)
	for _, b := range built {
		t.Run(b.name, func(t *testing.T) {
			var got, want []string
			for _, row := range rows {
				if slices.Contains(strings.Split(row[3], ", "), b.name) {
					got = append(got, row[1]+" | "+row[2])
				}
			}
			for _, m := range linked(t, b.dir, b.packages) {
				want = append(want, m.path+" | "+licencesOf(t, m))
			}
			if !slices.Equal(got, want) {
				t.Errorf("docs/licences.md has of %s\n%s\nwant\n%s", b.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	for _, row := range rows {
		for _, name := range strings.Split(row[3], ", ") {
			if !slices.ContainsFunc(built, func(b program) bool { return b.name == name }) {
				t.Errorf("%s is linked into %q, which nobody builds", row[1], name)
			}
		}
	}
}

// takenOver are the words by which gonum's code names those that it was taken from, by the
// licence in its folder THIRD_PARTY_LICENSES.
var takenOver = map[string]string{
	"Bogaert": "Bogaert", "Boost": "Boost|Maddock", "Cephes": "Moshier", "Fike": "Fike", "Go": "The Go Authors",
	"MT19937": "Nishimura", "MT19937-64": "Nishimura", "Oxford": "Chebfun|Chancellor", "Probab": "Probab Authors",
	"Sun": "Sun Microsystems", "W3C-BSD": "World Wide Web", "W3C-TestSuite": "World Wide Web",
}

// docs/licences.md has a row for each licence of gonum's third parties whose code is in a
// package that a cell or the runner imports, and no other row.
func TestGonum(t *testing.T) {
	const format = `{{with .Module}}{{if eq .Path "gonum.org/v1/gonum"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}`
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", format}, strings.Fields(built[0].packages+" "+built[1].packages)...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the modules are not all on this machine; go mod download brings them: %v", err)
	}
	var module string
	packages := map[string][]string{} // of each licence
	for line := range strings.Lines(string(out)) {
		of, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if module = of; dir == "" {
			t.Fatalf("go list says %q", line)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.[gs]*"))
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder // for every processor
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
		for name, words := range takenOver {
			if regexp.MustCompile(words).MatchString(code.String()) {
				packages[name] = append(packages[name], strings.TrimPrefix(filepath.ToSlash(dir[len(module):]), "/"))
			}
		}
	}
	folder := filepath.Join(module, "THIRD_PARTY_LICENSES")
	licences, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, l := range licences {
		name := strings.TrimSuffix(l.Name(), "-LICENSE")
		if takenOver[name] == "" {
			t.Errorf("%s is new in gonum: find out what of its code is imported", l.Name())
		}
		if len(packages[name]) == 0 {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, l.Name()))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(packages[name])
		want = append(want, "| "+name+" | "+strings.Join(Of(string(text)), ", ")+" | "+strings.Join(packages[name], ", ")+" |")
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## What gonum has taken over")
	_, table, _ = strings.Cut(table, "|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if table != strings.Join(want, "\n") {
		t.Errorf("docs/licences.md has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}

// What is embedded and comes from elsewhere has its licence beside it, its name in NOTICE,
// and is of the version that NOTICE says.
func TestEmbedded(t *testing.T) {
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ licence, is, named string }{
		{"LICENSE", "Apache-2.0", "svmnb"},
		{"svmnb/internal/echarts/LICENSE.echarts", "Apache-2.0", "echarts 5.6.0"},
		{"svmnb/internal/echarts/LICENSE.zrender", "BSD-3-Clause", "zrender 5.6.1"},
		{"svmnb/internal/echarts/LICENSE.d3", "BSD-3-Clause", "d3"},
		{"notebooks/katex/LICENSE", "MIT", "katex 0.16.47"},
		{"notebooks/reveal/LICENSE", "MIT", "reveal.js 6.0.2"},
	} {
		text, err := os.ReadFile(filepath.Join(root, c.licence))
		if err != nil {
			t.Error(err)
			continue
		}
		if is := strings.Join(Of(string(text)), ", "); is != c.is {
			t.Errorf("%s is %q, want %s", c.licence, is, c.is)
		}
		if !strings.Contains(string(notice), c.named) {
			t.Errorf("NOTICE does not name %s", c.named)
		}
	}
	packed, err := os.Open(filepath.Join(root, "svmnb/internal/echarts/echarts-5.6.0.min.js.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	echarts, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	katex, err := os.ReadFile(filepath.Join(root, "notebooks/katex/katex.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	reveal, err := os.ReadFile(filepath.Join(root, "notebooks/reveal/reveal.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		in         []byte
	}{{"ECharts", `version="5.6.0"`, echarts}, {"zrender", `"5.6.1"`, echarts}, {"KaTeX", `"0.16.47"`, katex}, {"reveal.js", "`6.0.2`", reveal}} {
		if !strings.Contains(string(c.in), c.says) {
			t.Errorf("%s does not say %s of itself", c.name, c.says)
		}
	}
	// Whatever is minified, compressed or a font comes from elsewhere.
	err = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != root || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if regexp.MustCompile(`\.min\.(js|css)(\.gz)?$|\.woff2?$|\.ttf$`).MatchString(path) {
			dir, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(dir, func(e os.DirEntry) bool { return licenceFile.MatchString(e.Name()) }) {
				t.Errorf("%s has no licence beside it", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Texts that are no permitted licence are not taken for one.
func TestOf(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	mit := read("notebooks/katex/LICENSE")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", ""},
		"no permission":   {"Copyright 2020 Somebody. All rights reserved.", ""},
		"GPL":             {"GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007", ""},
		"AGPL":            {"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", ""},
		"LGPL beside MIT": {mit + "\nThe file x.c is under the GNU Lesser General Public License.", ""},
		"Commons Clause":  {mit + "\n“Commons Clause” License Condition v1.0", ""},
		"half of MIT":     {mit[:300], ""},
		"not commercial":  {strings.Replace(mit, "without restriction", "for non-commercial use", 1), ""},
		"MIT":             {mit, "MIT"},
		"MIT in comments": {"// " + strings.ReplaceAll(mit, "\n", "\n// "), "MIT"},
		"four clauses":    {"Redistribution and use in source and binary forms, with or without modification, are permitted provided that\n3. All advertising materials mentioning features", ""},
		"two clauses":     {"Redistribution and use in source and binary forms, with or without\nmodification, are permitted provided that", "BSD-2-Clause"},
		"ISC":             {"Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted, provided that the above", "ISC"},
		"MPL":             {"Mozilla Public License Version 2.0\n1.12. \"Secondary License\" means either the GNU General Public License\n1.13. \"Source Code Form\"", "MPL-2.0"},
	} {
		if got := strings.Join(Of(c.text), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
