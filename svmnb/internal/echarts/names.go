package echarts

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// An option contains names that come from data, and JavaScript, which the page compiles. A
// text is JavaScript if it begins with a mark. In Go, JavaScript has its own type,
// go-echarts' FuncStr; any other text that begins with the mark loses the mark before it
// leaves the program.

// mark begins the JavaScript functions of an option, as go-echarts writes them.
const mark = "__f__"

// noWidth is a space of zero width.
const noWidth = "\u200b"

// proto must not reach ECharts as a text. ECharts caches the widths of texts in an object
// whose keys are the texts, and this key would change the prototype of all objects.
const proto = "__proto__"

// Functions returns the JavaScript functions in an option or a part of one.
func Functions(v any) map[string]bool {
	found := map[string]bool{}
	functions(reflect.ValueOf(v), found)
	return found
}

func functions(v reflect.Value, found map[string]bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[types.FuncStr]() {
			found[v.String()] = true
		}
	case reflect.Pointer, reflect.Interface:
		functions(v.Elem(), found)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			functions(it.Value(), found)
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.String:
			for i := range v.Len() {
				functions(v.Index(i), found)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Type.Kind() == reflect.String && strings.HasSuffix(f.Name, "Formatter"): // go-echarts declares these functions as strings
				found[v.Field(i).String()] = true
			case f.IsExported():
				functions(v.Field(i), found)
			}
		}
	}
}

// named are the keys of texts that people read and that may come from data.
var named = []string{"name", "text", "subtext", "data", "names", "classes", "target", "metric"}

// harmless returns the JSON of an option with all texts safe to show: a text that is not in
// code loses the mark of a function, each text is cleaned, and names and subtitles are shortened.
func harmless(option []byte, code map[string]bool) []byte {
	var out []byte
	from, key := 0, "" // end of what is copied already, and the latest key
	for i := 0; i < len(option); i++ {
		if option[i] != '"' {
			continue
		}
		start := i
		for i++; option[i] != '"'; i++ {
			if option[i] == '\\' {
				i++
			}
		}
		raw := option[start+1 : i]
		if i+1 < len(option) && option[i+1] == ':' {
			key = string(raw)
			continue
		}
		isName := slices.Contains(named, key)
		if !suspect(raw, isName) {
			continue
		}
		var text string
		if json.Unmarshal(option[start:i+1], &text) != nil || code[text] {
			continue
		}
		text = words.Clean(text)
		if isName {
			most := words.Most
			if key == "subtext" { // a sentence with names in it, which breaks into lines
				most *= 4
			}
			text = words.Cut(text, most)
		}
		if strings.HasPrefix(text, mark) {
			text = noWidth + text
		}
		text = strings.ReplaceAll(text, proto, proto[:1]+noWidth+proto[1:])
		safe, err := json.Marshal(text)
		if err != nil {
			continue // encoding a string never fails
		}
		out = append(append(out, option[from:start]...), safe...)
		from = i + 1
	}
	return append(out, option[from:]...)
}

// suspect reports whether a JSON text may need a change.
func suspect(raw []byte, isName bool) bool {
	if isName && len(raw) > words.Most || strings.HasPrefix(string(raw[:min(len(raw), len(mark))]), mark) {
		return true
	}
	for i, c := range raw {
		switch {
		case c == '\\' && i+1 < len(raw) && raw[i+1] != '"' && raw[i+1] != '\\' && raw[i+1] != 'n':
			return true // JSON escapes control characters
		case c == '_' && strings.HasPrefix(string(raw[i:min(len(raw), i+len(proto))]), proto):
			return true
		case c >= 0x7f && (c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2 || c == 0xef):
			return true
		}
	}
	return false
}
