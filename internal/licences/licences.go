// Package licences recognises the licences of the modules that svmnb links. Its test checks
// docs/licences.md against them.
package licences

import (
	"regexp"
	"slices"
	"strings"
)

// permitted lists licences under which anybody may pass on programs that contain the code, in
// source and in binary form, without putting the program itself under the same licence. For
// each it has words that the text must contain, and words that it must not contain.
var permitted = []struct {
	name  string
	has   []string
	lacks string
}{
	{name: "Apache-2.0", has: []string{"apache license version 2.0, january 2004", "grant of patent license"}},
	{name: "BSD-2-Clause", has: []string{"redistribution and use in source and binary forms, with or without modification, are permitted"}, lacks: "neither the name"},
	{name: "BSD-3-Clause", has: []string{"redistribution and use in source and binary forms, with or without modification, are permitted", "neither the name"}},
	{name: "BSL-1.0", has: []string{"boost software license - version 1.0", "permission is hereby granted, free of charge, to any person or organization"}},
	{name: "Bitstream-Vera", has: []string{"bitstream vera fonts copyright", "permission is hereby granted, free of charge, to any person obtaining a copy of the fonts"}},
	{name: "ISC", has: []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that"}},
	{name: "MIT", has: []string{"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files", "to use, copy, modify, merge, publish, distribute, sublicense, and/or sell", "without restriction"}},
	{name: mpl, has: []string{"mozilla public license version 2.0", "source code form"}},
}

const mpl = "MPL-2.0" // its text names the GPL

// more matches words of licences with further conditions for those who pass a program on.
var more = regexp.MustCompile(`gnu [a-z ]*general public license|server side public license|business source license|commons clause|non-?commercial|creative commons|all advertising materials`)

var noise = regexp.MustCompile("[\\s#*/_`]+")

// plain returns the text in lower case, without line breaks and marks, which differ between
// copies of the same licence.
func plain(text string) string { return noise.ReplaceAllString(strings.ToLower(text), " ") }

// Of returns the names of the permitted licences in a text, in alphabetical order. It returns
// none if the text has words of a licence that is not permitted.
func Of(text string) []string {
	text = plain(text)
	var names []string
	for _, l := range permitted {
		missing := slices.ContainsFunc(l.has, func(s string) bool { return !strings.Contains(text, plain(s)) })
		if !missing && (l.lacks == "" || !strings.Contains(text, l.lacks)) {
			names = append(names, l.name)
		}
	}
	if more.MatchString(text) && !slices.Contains(names, mpl) {
		return nil
	}
	return names
}
