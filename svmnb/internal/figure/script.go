package figure

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"
)

// A source is the JavaScript of a figure, name.js beside name.go: functions and
// variables, with an empty line before each. Each of them goes into the option by
// itself, so none sees another. In scope are svm (runtime.js's tools), T (colour token
// to colour), O (the whole option), echarts and chart(). A name such as $color stands
// for what Go fills in.
type source string

// marksJS is what several figures share.
//
//go:embed marks.js
var marksJS source

// cut returns a function of the source without its name, or the value of a variable,
// for the option. values are names, without their $, each with what it stands for.
func (s source) cut(name string, values ...any) types.FuncStr {
	return types.FuncStr("__f__" + s.text(name, values...) + "__f__")
}

// text is what cut returns, without the marks of a function.
func (s source) text(name string, values ...any) string {
	text := string(s)
	if _, function, ok := strings.Cut(text, "\nfunction "+name+"("); ok {
		text = "function (" + function
	} else if _, value, ok := strings.Cut(text, "\nvar "+name+" = "); ok {
		text = value
	} else {
		panic("figure: the JavaScript has no " + name)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if strings.Contains(text, "$tables;") {
		values = append(values, "tables;", tables())
	}
	if len(values) > 0 {
		pairs := make([]string, 0, len(values))
		for i := 0; i < len(values); i += 2 {
			pairs = append(pairs, "$"+values[i].(string), fmt.Sprint(values[i+1]))
		}
		text = strings.NewReplacer(pairs...).Replace(text)
	}
	return text
}

// tables returns the statements that stand for $tables, without the function around them.
func tables() string {
	_, body, _ := strings.Cut(string(marksJS), "\nfunction tables() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	return strings.TrimSpace(body)
}

// style is how a line is drawn, for a script: in the colour of a token, if any, of a
// width, and with dashes, if any.
func style(color string, width float64, dash ...int) string {
	var parts []string
	if color != "" {
		parts = append(parts, "stroke: '"+color+"'")
	}
	parts = append(parts, fmt.Sprint("lineWidth: ", width))
	if len(dash) > 0 {
		parts = append(parts, "lineDash: ["+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(dash)), ", "), "[]")+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
