package main

import (
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
)

const labPath = `"github.com/svmnb/svmnb/notebooks/lab"`

// signed changes the source of a check so that its report contains a secret word, by which
// it differs from a report that the answer sends itself. It also gives package lab another
// name, so that an answer cannot declare a lab of its own. If the check does not call
// lab.Check, signed returns the source as it was, and no secret.
//
// This makes forging difficult, not impossible: the answer runs in the same process, and
// could search it for the secret.
func signed(source, name, secret string) (changed, kept string) {
	head, body := declarations(source), statements(source)
	head, _ = renamed(head, name, secret)
	first, rest, _ := strings.Cut(body, "\n")
	rest, calls := renamed(rest, name, secret)
	if calls == 0 {
		return source, ""
	}
	return "import " + name + " " + labPath + "\n" + head + first + "\n" + rest, secret
}

// renamed replaces the package name lab by another, and lab.Check by a call with the
// secret. It returns how many calls there are.
func renamed(code, name, secret string) (string, int) {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	type word struct {
		at   int
		kind token.Token
		text string
	}
	var words []word
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		words = append(words, word{file.Offset(pos), kind, text})
	}
	var b strings.Builder
	last, calls := 0, 0
	for i, w := range words {
		if w.text != "lab" || w.kind != token.IDENT || i+1 >= len(words) || words[i+1].kind != token.PERIOD || i > 0 && words[i-1].kind == token.PERIOD {
			continue
		}
		b.WriteString(code[last:w.at] + name)
		last = w.at + len(w.text)
		if i+3 < len(words) && words[i+2].text == "Check" && words[i+3].kind == token.LPAREN {
			b.WriteString(".CheckFor(" + strconv.Quote(secret) + ", ")
			last = words[i+3].at + 1
			calls++
		}
	}
	return b.String() + code[last:], calls
}
