package explain

import (
	"regexp"
	"slices"
)

// rule explains one message. In means, $1 stands for the first group of the pattern: that of the
// source if there is one, and otherwise that of the message.
type rule struct {
	says   *regexp.Regexp
	source *regexp.Regexp // matches the line of the cell, in which texts are ""; nil for every line
	means  string
}

// explain returns what the message means, or "" if it is another one.
func (r rule) explain(message, source string) string {
	m := r.says.FindStringSubmatchIndex(message)
	if m == nil {
		return ""
	}
	if r.source == nil {
		return string(r.says.ExpandString(nil, r.means, message, m))
	}
	if m = r.source.FindStringSubmatchIndex(source); m == nil {
		return ""
	}
	return string(r.source.ExpandString(nil, r.means, source, m))
}

// first returns what the first rule says that knows the message, or "".
func first(rules []rule, message, source string) string {
	for _, r := range rules {
		if means := r.explain(message, source); means != "" {
			return means
		}
	}
	return ""
}

func when(pattern, means string) rule { return rule{regexp.MustCompile(pattern), nil, means} }

func in(pattern, source, means string) rule {
	return rule{regexp.MustCompile(pattern), regexp.MustCompile(source), means}
}

// number matches Go's types of numbers.
const number = `(u?int\d*|float\d+|byte)`

// unreadable matches what Go's parser says.
const unreadable = `^(?:expected |unexpected |illegal |missing [^r]|import path )`

// formula matches the beginning of a line with a formula, not of one with prose.
const formula = `(?:^\s*(?:\}\s*else\s+)?(?:if|elif|for|while|return)\b|=|\().*`

// foreignRules explain lines that are written as in other languages.
var foreignRules = []rule{
	in(unreadable, `^\s*(?:def|function|fn|fun|sub)\s+\w+\s*\(`, "A function begins with func, and its parameters and its result have types: func area(r float64) float64 {"),
	in(unreadable, `^\s*class\s+\w+\s*[:({]`, "Go has no classes. Data of several kinds is type Name struct { … }"),
	in(unreadable, `^\s*(?:int|float|double|float64|float32|string|bool|let|auto)\s+(\w+)\s*=\s*(.*\S)`, "The name of a variable comes first, without a type: $1 := $2 below %%, or var $1 = $2 above it."),
	in(unreadable, `^\s*(?:int|float|double|float64|float32|string|bool)\s+(\w+)\s*;?$`, "The name of a variable comes first, and then its type: var $1 float64"),
	in(unreadable, `\bwhile\b`, "Write for in place of while: for x > 0 {"),
	in(unreadable, `\belif\b`, "Write else if in place of elif."),
	in(unreadable, formula+`[\w\])]\s+and\s`, "Write && in place of and."),
	in(unreadable, formula+`[\w\])]\s+or\s`, "Write || in place of or."),
	in(unreadable, formula+`\bnot\s+[\w.(]`, "Write ! in place of not, such as !ready. To ask whether a list is empty, write len(list) == 0."),
	in(unreadable, `\bf""|\bf''`, "Go has no texts with f. A value in a text is printed by fmt.Printf(\"the area is %v\\n\", area)"),
	in(unreadable, `(?:^|[^\w)])(\w+)\s*[!=]=\s*\[\s*\]`, "A list is empty if len($1) == 0, so compare that."),
	in(`^(?:unexpected comma; expecting \]|expected type, found|expected '\]')`, `(?:=|\(|,|\breturn)\s*\[([^\[\]:]*)\]\s*(?:$|[),{}])`, "A list is written with its type and braces: []float64{$1}"),
	in(`^expected operand, found '\{'`, `(?:[^=!<>]=|\(|,|\breturn)\s*\{([^{}]*)\}?\s*(?:$|[),])`, "A list is written with its type: []float64{$1}"),
	in(unreadable, `\bfor\s*\(`, "Go writes for without round brackets: for i := 0; i < 3; i++ {"),
	in(unreadable, `^[^{}]*[=(][^{}]*\S\s+if\s[^{}]*\selse\b`, "In Go, if is a statement and no part of a formula. Make the variable before, and change it between the braces of an if."),
	in(`^illegal character U\+003F`, `\?.*:`, "Go has no ? and : in formulas. Make the variable before, and change it between the braces of an if."),
	in(`^missing import path`, `^\s*import\s+(\w+)\s*$`, "The path of an import is a text in double quotes: import \"$1\""),
	in(unreadable, `\blambda\b`, "A function as a value is written func(x float64) float64 { return 2 * x }"),
	when(`^expected '\)', found ','`, "Go has no tuples. Values with commas between them stand without brackets, such as a, b := 1, 2, and a list of them is []float64{1, 2}."),
	in(unreadable, `\blab\.(?:Todo\s*[^\s),}=]|\d)`, "Your answer takes the place of lab.Todo. Remove what is left of it, the word lab too."),
	in(unreadable, `^\s*func\b.*\)[^{]*:\s*$`, "There is no colon in Go. This line ends in the type of the result and a brace, such as func area(r float64) float64 {, and a brace } on a line of its own ends the function."),
	in(`^expected type, found newline`, `^\s*var\s+(\w+)\s*$`, "A variable needs a value or a type, such as var $1 = 0.0"),
	in(`^expected type, found ':='`, `^\s*var\s+(\w+)\s*:=`, "Behind var $1, write = in place of :="),
	in(unreadable, `^\s*for\s.*\sin\s`, "Go writes this loop as for i := range 3 { for numbers, and for _, x := range list { for a list."),
	in(unreadable, `^\s*(?:\}\s*)?(?:if|for|else)\b[^{]*:(?:\s|$)`, "There is no colon in Go. Braces enclose what belongs together: { at the end of this line, and } on a line of its own below."),
	in(unreadable, `^\s*(?:\}\s*else\s+)?if\b[^{]*\s(?:return|break|continue)\b`, "Braces are missing around the statement: if … { return … }"),
	in(unreadable, `^\s*print(?:ln|f)?\s+[^\s(=:]`, "The brackets of the call are missing: fmt.Println(…)"),
}

// compilerRules explain messages of Go's parser and compiler. The first that matches counts.
var compilerRules = append(slices.Clone(foreignRules), []rule{
	// the parser
	when(`^expected '([)\]])', found newline`, "The bracket $1 is missing at the end of this line."),
	when(`^illegal character U\+0023`, "A comment begins with // in Go."),
	when(`^illegal character U\+[0-9A-F]+ '([^\x00-\x7f])'`, "Go does not know the sign $1. Write what it means by a number, a name, or the signs + - * / of the keyboard."),
	when(`^curly quotation mark`, "Text is written in straight quotation marks: \"text\"."),
	when(`^expected boolean expression, found assignment`, "The sign = gives a variable a value. Write == to compare."),
	when(`^expected '==', found '='`, "The sign = is no part of a formula. It gives a variable a value, in a line of its own. To compare, write ==; a function takes its argument in brackets, such as f(x)."),
	when(`^expected statement, found 'else'`, "The word else belongs into the line of the brace before it: } else {"),
	when(`^unexpected semicolon or newline before \{`, "The brace { belongs at the end of the line above."),
	when(`^import path must be a string`, "The path of an import is a text in double quotes, such as import \"math\"."),
	when(`^expected statement, found '\.'`, "A line cannot begin with a dot. Put the dot at the end of the line above."),
	when(`^expected statement, found 'import'`, "Imports belong above the line %%, or into a cell of their own."),
	when(`^expected statement, found '(.)'`, "This $1 closes nothing. Remove it, or write what it should close."),
	when(`^expected '\(', found \w+`, "A function with a name cannot be declared below %%. Move it above the line %%, or into a cell of its own."),
	when(`^(?:illegal rune literal|more than one character in rune literal)`, `Text belongs in double quotes: "text". Single quotes are for one character.`),
	when(`^string literal not terminated`, "This text has no closing quotation mark. Write it at the end of the text."),
	in(`^missing ','`, `([\w.\[\]]+)(\+\+|--)`, "$1$2 is a statement of its own and has no value. Write it into a line of its own."),
	in(`^missing ','`, `\b([A-Za-z_]\w*)(\.\d+)`, "Between $1 and $2 a sign is missing, such as *"),
	when(`^missing ',' before newline in `, "A closing bracket is missing at the end of this line. If the list goes on in the next line, a comma is missing."),
	when(`^missing ',' in `, "Two values stand side by side where the mark is. Write a comma or an operator between them, or the bracket that is missing."),
	when(`^expected '\{', found newline|^unexpected newline, expect(?:ed|ing) \{`, "The brace { belongs at the end of this line, not into the next one."),
	in(`^expected ';', found (?:\w|'[^a-z])`, `^\s*(?:(?:if|for|switch|func|else)\b|\})`, "Go cannot read this line from the mark on: a sign is missing there or too much, such as an operator or a brace {"),
	when(`^expected ';', found `, "Before the mark the statement should end. If a value goes on there, an operator is missing; if it is a text, it needs double quotes: \"text\"."),
	when(unreadable, "Go cannot read this line: something is missing or too much where the mark is."),

	// names
	when(`^declared and not used: err$`, "Nothing looks at err. Write below this line: if err != nil { log.Fatal(err) }"),
	when(`^declared and not used: (`+ident+`)$`, "Nothing uses $1, and Go does not allow that. Use it, such as fmt.Println($1), or write _ in its place."),
	when(`^undefined: (\w+)\.\w+ \(but have (\w+)\)$`, "Names of a package begin with a capital letter: $1.$2."),
	when(`^undefined: (\w+)\.(\w+)$`, "Package $1 has no $2. Check the spelling: the Tab key after the dot shows what there is."),
	when(`^name (\w+) not exported by package (\w+)$`, "Names of a package begin with a capital letter, and $2.$1 does not."),
	when(`^unknown field (\w+) in struct literal of type (\S+)$`, "A $2 has no field $1. What looks like a setting is often a method that returns a changed copy: value.$1(…)"),
	when(`^implicit assignment to unexported field \w+ in struct literal of type (\S+)$`, "A $1 is not made by braces. A function of the package makes one, and methods return changed copies."),
	when(`undefined \(type (\S+) has no field or method (\w+), but does have (?:field|method) (\w+)\)`, "A $1 has no $2. Is $3 what you mean?"),
	when(`undefined \(type \[\]\S+ has no field or method append\)`, "A list grows by the function append: list = append(list, value)."),
	when(`undefined \(type svmnb\.\w+ has no field or method (Show|Alpha|Bias|Margin|Weights|Certificate|SupportVectors|TrainingErrors|Values)\b`, "This is a description, and only its fit has $1. MustFit() solves it and returns the fit: description.MustFit().$1"),
	when(`undefined \(type (\S+\.\S+) has no field or method ([a-z]\w*)\)`, "A $1 has no $2. What belongs to it begins with a capital letter, and the Tab key after the dot shows what there is."),
	when(`undefined \(type (\S+) has no field or method (\w+)\)`, "A $1 has no $2. Check the spelling: the Tab key after the dot shows what there is."),
	when(`^no new variables on left side of :=`, "The names on the left exist already. Write = instead of := to change them."),
	when(`^(\w+) redeclared in this block`, "The name $1 is declared twice. Give one of them another name."),
	when(`^other declaration of (\w+)`, "Here $1 is declared too."),

	// values
	when(`^(.+) \((?:variable|value) of .*display\.Figure\) is not used$`, "$1 is a figure, and a fit draws it: fit.Show($1)"),
	when(`^invalid operation: cannot call (.+) \(variable of .*display\.Figure\)`, "$1 is a figure, and a fit draws it: fit.Show($1)"),
	when(`^append\((\w+), (.+)\) \(.*\) is not used$`, "append returns the longer list. Write $1 = append($1, $2)"),
	when(`^(\w+) == (.+) \(.*\) is not used$`, "The sign == compares. Write $1 = $2 to give $1 this value."),
	when(`^(.+) \(.*\) is not used$`, "A cell does not print the value of its last line. Write fmt.Println($1)"),
	in(`^assignment mismatch: 1 variable but 2 values|^extra init expr`, `\b(\d+),\s*(\d+)\b`, "The comma makes two values of this. Numbers have a decimal point: $1.$2"),
	when(`^assignment mismatch: (\d+) variables? but (\d+) values?`, "On the left are $1 names, and on the right $2 values. Write one value for each name."),
	when(`^(?:extra|missing) init expr`, "Write one value for each name."),
	when(`^assignment mismatch: 1 variable but (?:.*\.)?Fit returns 2 values`, "Fit returns a fit and an error. Write fit, err := …, or call MustFit, which ends the cell if there is an error."),
	when(`^assignment mismatch: 1 variable but (?:.*\.)?(\w+) returns 2 values`, "$1 returns two values, and the second is usually an error. Write a name for each: value, err := …"),
	when(`^assignment mismatch: (\d+) variables? but (?:.*\.)?(\w+) returns (\d+) values?`, "$2 returns $3 values, and on the left are $1 names. Write a name for each; _ stands for one that you do not need."),
	when(`^cannot use (\S+) \(untyped float constant\) as int value .*\(truncated\)`, "A whole number is needed here, and $1 is not one."),
	when(`^(\S+) \(untyped float constant\) truncated to (u?int\d*)`, "Go does not mix whole numbers ($2) and others in a formula. Convert the whole one, such as float64(n)."),
	when(`^cannot use (.+) \(.*\bof type \[\]`+number+`\) as `+number+` value`, "$1 is a list, and a single number is needed here, such as $1[0]."),
	when(`^cannot use (.+) \(.*\bof type `+number+`\) as `+number+` value`, "$1 is a number of type $2, and one of type $3 is needed. Write $3($1)"),
	when(`^cannot use (.+) \(untyped string constant\) as `+number+` value`, "A number is needed here, and $1 is text. Write it without quotation marks."),
	when(`^cannot use nil as (.+) value`, "nil stands for nothing, and a value of type $1 cannot be nothing. Write a value, such as 0."),
	when(`^cannot use (.+) \((?:variable|value|constant.*) of (?:\w+ )?type (.+)\) as (.+?) value in `, "A value of type $3 is needed here, and $1 has the type $2."),
	when(`^invalid operation: .*\(mismatched types (?:untyped )?string and .*\)|^invalid operation: .*\(mismatched types \S+ and (?:untyped )?string\)`, "Text and a number cannot be compared or combined. Write both as text (in double quotes) or both as numbers."),
	when(`^invalid operation: .*\(mismatched types `+number+` and `+number+`\)`, "Go does not mix the types $1 and $2 in a formula. Convert one of them, such as float64(n)."),
	when(`^invalid operation: .*\(mismatched types (?:\[\].*|.* and \[\].*)\)`, "Operators work on single numbers, and this is a list. Write a loop over its elements."),
	when(`^invalid operation: operator ! not defined on (\S+) \(variable of type \[\]`, "$1 is a list, and ! needs a condition. A list is empty if len($1) == 0."),
	in(`^invalid operation: operator \^ not defined on `, `([\w.]+(?:\[[^]]*\])?)\s*\^\s*([\w.]+)`, "Go has no sign for powers. Write math.Pow($1, $2)"),
	in(`^invalid operation: cannot indirect `, `([\w.]+(?:\[[^]]*\])?)\s*\*\*\s*([\w.]+)`, "Go has no sign for powers. Write math.Pow($1, $2)"),
	when(`^invalid operation: operator % not defined on (.+) \(.*float`, "The sign % is for whole numbers. The remainder of other numbers is math.Mod(x, y)."),
	when(`^invalid argument: (.+) \(.*of type \[\]\w+\) cannot be ordered`, "The functions min and max take single numbers, such as max(a, b). The largest value of a list is slices.Max(list)."),
	when(`^invalid operation: operator \S+ not defined on (.+) \(.*of type \[\]`, "$1 is a list, and operators work on single numbers. Write a loop over its elements $1[i]."),
	when(`^invalid operation: (\S+) [!=]= .* \(slice can only be compared to nil\)`, "Lists are not compared as a whole. A list is empty if len($1) == 0."),
	when(`^invalid operation: .* \(slice can only be compared to nil\)`, "Lists are not compared as a whole. A list is empty if its len is 0."),
	when(`^non-boolean condition in (\w+) statement`, "A condition is a comparison, such as len(list) > 0 or x != 0."),
	in(`^invalid argument: index -\d+ .*must not be negative`, `([\w.]+)\[-(\d+)\]`, "Elements are counted from 0. Counted from the end, this one is $1[len($1)-$2]."),
	when(`^invalid argument: (.+) \((?:variable|value) of (?:\w+ )?type (.+)\) for built-in len`, "len counts the elements of a list or the bytes of a text, and $1 is a $2."),
	when(`^(.+) \(no value\) used as value`, "$1 returns nothing, so there is no value here."),
	when(`^not enough arguments in call to (\w+\.[A-Z]\w*)\.(\w+) have \(.*\) want \((?:\*)?\w+\.[A-Z]\w*(?:, .*)?\)`, "$1 is a type. Call $2 on a value of this type: value.$2(…)"),
	when(`^not enough arguments in call to (?:.*\.)?(\w+)(?: have|$)`, "$1 needs more arguments than it gets here."),
	in(`^too many arguments in call`, `\b(\d+),(\d+)\b`, "The call takes fewer arguments than it gets here. If a number is meant, write a decimal point: $1.$2"),
	when(`^too many arguments in call to (?:.*\.)?(\w+)(?: have|$)`, "$1 takes fewer arguments than it gets here."),
	when(`^cannot assign to (\S+\[\S+\]) `, "$1 is a part of a text, which cannot change. Make a new text."),
	when(`^cannot assign to (\S+) `, "$1 is not a variable, so it cannot change. Give the value a name of its own."),
}...)

var mathematics = regexp.MustCompile(`^(?i:abs|sqrt|exp|log|log2|log10|sin|cos|tan|pow|floor|ceil|round|hypot|tanh|inf|pi)$`)

// outputRules explain what a program prints instead of what was meant. The source is that of the
// cell.
var outputRules = []rule{
	when(`%![a-zA-Z]\(func\(`, "A function is printed here, and not what it returns. Brackets call it."),
	when(`%!([a-zA-Z])\(([a-z*\[][^=\n]*)=`, "%$1 does not fit a value of type $2. %v fits every value."),
	when(`%!([a-zA-Z])\(MISSING\)`, "There is no value for %$1: a text needs as many values behind it as it has signs %."),
	when(`%!\(EXTRA `, "There are more values than signs % in the text."),
	// the address of a function's code, which is much lower than those of variables
	in(`(?:^|[\s\[])0x[4-9a-f][0-9a-f]{5}(?:$|[\s\]])`, `Print(?:ln|f)?\((?:.*[ ,])?([a-z]\w*(?:\.\w+(?:\([^()]*\))?)*\.[A-Z]\w*)[,)]`, "A number such as 0x4a8060 is where a function is, not what it returns. Brackets call it, such as $1()"),
	in(`(?:^|[\s\[])0x[4-9a-f][0-9a-f]{5}(?:$|[\s\]])`, `Print(?:ln|f)?\((?:.*[ ,])?[a-z]\w*[,)]`, "A number such as 0x4a8060 is where a function is, not what it returns. Brackets with its arguments call it."),
}

// foreignNames explain names of other languages.
var foreignNames = map[string]string{
	"True": "Write true in place of True.", "TRUE": "Write true in place of TRUE.", "False": "Write false in place of False.", "FALSE": "Write false in place of FALSE.",
	"None": "Write nil in place of None.", "null": "Write nil in place of null.", "NULL": "Write nil in place of NULL.", "Null": "Write nil in place of Null.",
	"sum":     "Go has no function sum. Add the values of a list in a loop.",
	"input":   "A cell cannot ask for a value. Write the value into the cell, such as x := 2.5",
	"np":      "Go has no numpy. The functions of mathematics are in the package math, and a loop goes through a list.",
	"norm":    "Go has no function norm. The length of a list is the square root of the sum of the squares, by a loop and math.Sqrt.",
	"str":     "Go makes a text of a value by fmt.Sprint(value).",
	"float":   "The type of such numbers is float64.",
	"double":  "The type of such numbers is float64.",
	"Println": "The function is in the package fmt: fmt.Println", "Printf": "The function is in the package fmt: fmt.Printf",
	"printf": "The function is in the package fmt: fmt.Printf",
}

// panicRules explain what stands behind the word panic.
var panicRules = []rule{
	when(`index out of range \[(-\d+)\]`, "Element $1 is asked for, and elements are counted from 0."),
	when(`index out of range \[(-?\d+)\] with length 0`, "Element $1 is asked for, and the list is empty."),
	when(`index out of range \[(-?\d+)\] with length (\d+)`, "Element $1 is asked for, and the list has $2 elements, which are counted from 0."),
	when(`slice bounds out of range`, "A part of a list is asked for that reaches beyond its end."),
	when(`nil pointer dereference`, "A value here is nil, which means that it was never made. Look at the error of the call that should have made it."),
	when(`assignment to entry in nil map`, "The map was never made. Write m := map[string]int{} with your types, or use make."),
	in(`integer divide by zero`, `[/%]\s*len\((\w+)\)`, "A whole number is divided by len($1), which is 0 here: the list is empty."),
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
	when(`^"%%+[\w.]+[(:=].*" unknown or not implemented yet\.$`, "The line %% stands alone. Write the statements into the lines below it."),
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
