package explain

import "regexp"

// rule explains one message. In means, $1 stands for the first group of the pattern.
type rule struct {
	says  *regexp.Regexp
	means string
}

// explain returns what the message means, or "" if it is another one.
func (r rule) explain(message string) string {
	m := r.says.FindStringSubmatchIndex(message)
	if m == nil {
		return ""
	}
	return string(r.says.ExpandString(nil, r.means, message, m))
}

// first returns what the first rule says that knows the message, or "".
func first(rules []rule, message string) string {
	for _, r := range rules {
		if means := r.explain(message); means != "" {
			return means
		}
	}
	return ""
}

func when(pattern, means string) rule { return rule{regexp.MustCompile(pattern), means} }

// number matches Go's types of numbers.
const number = `(u?int\d*|float\d+|byte)`

// compilerRules explain messages of Go's parser and compiler. The first that matches counts.
var compilerRules = []rule{
	// the parser
	when(`^expected statement, found '\.'`, "A line cannot begin with a dot. Put the dot at the end of the line above."),
	when(`^expected statement, found 'import'`, "Imports belong above the line %%, or into a cell of their own."),
	when(`^expected statement, found '(.)'`, "This $1 closes nothing. Remove it, or write what it should close."),
	when(`^expected '\(', found \w+`, "A function with a name cannot be declared below %%. Move it above the line %%, or into a cell of its own."),
	when(`^(?:illegal rune literal|more than one character in rune literal)`, `Text belongs in double quotes: "text". Single quotes are for one character.`),
	when(`^string literal not terminated`, "This text has no closing quotation mark. Write it at the end of the text."),
	when(`^missing ',' (?:before newline )?in (?:argument list|composite literal|parameter list)`, "A closing bracket is missing at the end of this line. If the list goes on in the next line, a comma is missing."),
	when(`^expected '\{', found newline|^unexpected newline, expected \{`, "The brace { belongs at the end of this line, not into the next one."),
	when(`^expected '\{', found in\b`, "Go writes this loop as for i := range 3 { for numbers, and for _, x := range list { for a list."),
	when(`^(?:expected |illegal |missing [^r])`, "Go cannot read this line: something is missing or too much where the mark is."),

	// names
	when(`^declared and not used: err$`, "Nothing looks at err. Write below this line: if err != nil { log.Fatal(err) }"),
	when(`^declared and not used: (\w+)$`, "Nothing uses $1, and Go does not allow that. Use it, such as fmt.Println($1), or write _ in its place."),
	when(`^undefined: (\w+)\.\w+ \(but have (\w+)\)$`, "Names of a package begin with a capital letter: $1.$2."),
	when(`^undefined: (\w+)\.(\w+)$`, "Package $1 has no $2. Check the spelling: the Tab key after the dot shows what there is."),
	when(`^name (\w+) not exported by package (\w+)$`, "Names of a package begin with a capital letter, and $2.$1 does not."),
	when(`undefined \(type (\S+) has no field or method (\w+), but does have (?:field|method) (\w+)\)`, "A $1 has no $2. Is $3 what you mean?"),
	when(`undefined \(type \[\]\S+ has no field or method append\)`, "A list grows by the function append: list = append(list, value)."),
	when(`undefined \(type (\S+) has no field or method (\w+)\)`, "A $1 has no $2. Check the spelling: the Tab key after the dot shows what there is."),
	when(`^no new variables on left side of :=`, "The names on the left exist already. Write = instead of := to change them."),
	when(`^(\w+) redeclared in this block`, "The name $1 is declared twice. Give one of them another name."),
	when(`^other declaration of (\w+)`, "Here $1 is declared too."),

	// values
	when(`^(.+) \((?:variable|value) of .*display\.Figure\) is not used$`, "$1 is a figure, and a fit draws it: fit.Show($1)"),
	when(`^invalid operation: cannot call (.+) \(variable of .*display\.Figure\)`, "$1 is a figure, and a fit draws it: fit.Show($1)"),
	when(`^(.+) \(.*\) is not used$`, "A cell does not print the value of its last line. Write fmt.Println($1)"),
	when(`^assignment mismatch: 1 variable but (?:.*\.)?Fit returns 2 values`, "Fit returns a fit and an error. Write fit, err := …, or call MustFit, which ends the cell if there is an error."),
	when(`^assignment mismatch: 1 variable but (?:.*\.)?(\w+) returns 2 values`, "$1 returns two values, and the second is usually an error. Write a name for each: value, err := …"),
	when(`^assignment mismatch: (\d+) variables? but (?:.*\.)?(\w+) returns (\d+) values?`, "$2 returns $3 values, and on the left are $1 names. Write a name for each; _ stands for one that you do not need."),
	when(`^cannot use (\S+) \(untyped float constant\) as int value .*\(truncated\)`, "A whole number is needed here, and $1 is not one."),
	when(`^(\S+) \(untyped float constant\) truncated to (u?int\d*)`, "Go does not mix whole numbers ($2) and others in a formula. Convert the whole one, such as float64(n)."),
	when(`^cannot use (.+) \(.*\bof type `+number+`\) as `+number+` value`, "$1 is a number of type $2, and one of type $3 is needed. Write $3($1)"),
	when(`^cannot use (.+) \(untyped string constant\) as `+number+` value`, "A number is needed here, and $1 is text. Write it without quotation marks."),
	when(`^cannot use nil as (.+) value`, "nil stands for nothing, and a value of type $1 cannot be nothing. Write a value, such as 0."),
	when(`^cannot use (.+) \((?:variable|value|constant.*) of (?:\w+ )?type (.+)\) as (.+?) value in `, "A value of type $3 is needed here, and $1 has the type $2."),
	when(`^invalid operation: .*\(mismatched types (?:untyped )?string and .*\)|^invalid operation: .*\(mismatched types \S+ and (?:untyped )?string\)`, "Text and a number cannot be compared or combined. Write both as text (in double quotes) or both as numbers."),
	when(`^invalid operation: .* (\S+) \(mismatched types float64 and int\)`, "$1 is an int, and the other side is a float64, which Go does not mix. Write float64($1)"),
	when(`^invalid operation: (\S+) .*\(mismatched types int and float64\)`, "$1 is an int, and the other side is a float64, which Go does not mix. Write float64($1)"),
	when(`^invalid operation: .*\(mismatched types `+number+` and `+number+`\)`, "Go does not mix the types $1 and $2 in a formula. Convert one of them, such as float64(n)."),
	when(`^not enough arguments in call to (?:.*\.)?(\w+)`, "$1 needs more arguments than it gets here."),
	when(`^too many arguments in call to (?:.*\.)?(\w+)`, "$1 takes fewer arguments than it gets here."),
	when(`^missing return$`, "The function promises a result, and here it ends without one. Write return and the result above this line."),
	when(`^too many return values`, "The statements below %% return nothing. Print the value instead: fmt.Println(…)"),
	when(`^cannot assign to (\S+) `, "$1 is a constant or a result, which cannot change. Make a variable: var $1 = …"),
}

// panicRules explain what stands behind the word panic.
var panicRules = []rule{
	when(`index out of range \[(-?\d+)\] with length 0`, "Element $1 is asked for, and the list is empty."),
	when(`index out of range \[(-?\d+)\] with length (\d+)`, "Element $1 is asked for, and the list has $2 elements, which are counted from 0."),
	when(`slice bounds out of range`, "A part of a list is asked for that reaches beyond its end."),
	when(`nil pointer dereference`, "A value here is nil, which means that it was never made. Look at the error of the call that should have made it."),
	when(`assignment to entry in nil map`, "The map was never made. Write m := map[string]int{} with your types, or use make."),
	when(`integer divide by zero`, "A whole number is divided by 0."),
	when(`stack overflow`, "A function calls itself without an end."),
	when(`all goroutines are asleep`, "All parts of the program wait for each other, so it can never go on."),
}

// signalRules explain ends that come from outside.
var signalRules = []rule{
	when(`interrupt`, "The cell was interrupted before its end. If it should have ended by itself, look for a loop without an end."),
	when(`killed`, "The program was ended from outside. It did not stop when interrupted, or the memory was not enough."),
	when(`segmentation|abort`, "The program crashed; the message above says where."),
}

// specialRules explain what lines that begin with ! or % write to the error output.
var specialRules = []rule{
	when(`module lookup disabled by GOPROXY=off`, "Go may not download packages here, since the setting GOPROXY is off. Run go env -w GOPROXY=https://proxy.golang.org,direct in a terminal, and start the kernel again."),
	when(`(?:^|\n)go: .*(?:dial tcp|no such host|i/o timeout|network is unreachable|connection refused|TLS handshake)`, "The package could not be downloaded. Is there a network? A package that is on this machine needs none if you name its version: go get path@v1.2.3"),
	when(`(?:^|\n)go: .*(?:unrecognized import path|404 Not Found|410 Gone|invalid version|malformed module path|no matching versions|not found|: reading \S+: 4\d\d )`, "There is no such package at this address. Check the spelling."),
	when(`^"(%\S*)" unknown or not implemented yet\.$`, "There is no command $1 here; %help lists those that there are. A figure needs none: it is drawn by Show."),
}

// packages are the packages of this module that cells import, by name.
var packages = map[string]string{
	"datasets":  "github.com/svmnb/svmnb/datasets",
	"fetch":     "github.com/svmnb/svmnb/datasets/fetch",
	"kernels":   "github.com/svmnb/svmnb/kernels",
	"mercer":    "github.com/svmnb/svmnb/kernels/mercer",
	"solvers":   "github.com/svmnb/svmnb/solvers",
	"linear":    "github.com/svmnb/svmnb/solvers/linear",
	"svmnb":     "github.com/svmnb/svmnb/svmnb",
	"display":   "github.com/svmnb/svmnb/svmnb/display",
	"bayesopt":  "github.com/svmnb/svmnb/svmnb/bayesopt",
	"gp":        "github.com/svmnb/svmnb/svmnb/gp",
	"metrics":   "github.com/svmnb/svmnb/svmnb/metrics",
	"model":     "github.com/svmnb/svmnb/svmnb/model",
	"play":      "github.com/svmnb/svmnb/svmnb/play",
	"selection": "github.com/svmnb/svmnb/svmnb/selection",
	"transform": "github.com/svmnb/svmnb/svmnb/transform",
}

// standard are packages of Go's own library that cells often use.
var standard = []string{"context", "errors", "fmt", "log", "maps", "math", "os", "rand", "slices", "sort", "strconv", "strings", "time"}
