package figure

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"
)

// source is the JavaScript of a figure, in name.js beside name.go. It has functions and
// variables, each after an empty line. Each is put into the option on its own, so none can
// use another. They can use svm (the tools of runtime.js), T (which returns the colour of a
// token), O (the whole option), echarts and chart(). A name such as $color is replaced by a
// value from Go.
type source string

// marksJS is what several figures share.
//
//go:embed marks.js
var marksJS source

// fontFamily names the fonts of the theme in echarts/runtime.js. Figures measure their texts in these
// fonts, since those of sans-serif alone may be a seventh narrower.
const fontFamily = `system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`

// cut returns a function of the source, without its name, or the value of a variable, for
// the option. values are names without their $, each followed by its value.
func (s source) cut(name string, values ...any) types.FuncStr {
	return types.FuncStr("__f__" + s.text(name, values...) + "__f__")
}

// text is cut without the mark that makes a text a function.
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

// tables returns the statements that replace $tables, without the function around them.
func tables() string {
	_, body, _ := strings.Cut(string(marksJS), "\nfunction tables() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	return strings.TrimSpace(body)
}

// style returns a line style for a script: the colour of a token, or none, the width, and
// the dashes, if any.
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
