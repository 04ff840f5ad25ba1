package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What Jupyter itself would write for this, byte for byte.
const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "text-1",
   "metadata": {
    "private": {
     "unknown": [
      1,
      2.50,
      1e400
     ]
    }
   },
   "source": [
    "# Ünïcode <b>&</b>\n",
    "$a_1$"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "future_field": null,
   "id": "code-1",
   "metadata": {
    "tags": [
     "raises-exception"
    ]
   },
   "outputs": [
    {
     "data": {
      "image/png": "iVBORw0KGgo=\n",
      "text/html": [
       "<p>\n",
       "x</p>"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    },
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "two"
     ]
    },
    {
     "ename": "ERROR",
     "evalue": "no",
     "output_type": "error",
     "traceback": [
      "\u001b[31mno"
     ]
    }
   ],
   "source": []
  }
 ],
 "metadata": {
  "kernelspec": {
   "display_name": "Go (svmnb)",
   "language": "go",
   "name": "svmnb"
  },
  "something_else": {}
 },
 "nbformat": 4,
 "nbformat_minor": 5,
 "top_level_unknown": true
}
`

func TestNotebookRoundTrip(t *testing.T) {
	nb, err := parseNotebook([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	data, err := nb.encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != sample {
		t.Errorf("written differently:\n%s", data)
	}
	if nb.title() != "Ünïcode <b>&</b>" {
		t.Errorf("title %q", nb.title())
	}
	if !nb.cells[1].expectsError() || nb.cells[0].expectsError() {
		t.Error("the tag raises-exception is not seen where it is")
	}
}

func TestOutputsRoundTrip(t *testing.T) {
	nb, err := parseNotebook([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	c := nb.cells[1]
	outs, err := c.outputs()
	if err != nil {
		t.Fatal(err)
	}
	if outs[0].data["text/html"] != "<p>\nx</p>" || outs[1].text != "one\ntwo" || outs[2].traceback[0] != "\x1b[31mno" {
		t.Errorf("read %+v", outs)
	}
	c.setOutputs(outs, 3)
	data, err := nb.encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != sample {
		t.Errorf("written differently:\n%s", data)
	}
	c.setOutputs(nil, 0)
	data, err = nb.encode()
	if err != nil || !strings.Contains(string(data), `"outputs": []`) || !strings.Contains(string(data), `"execution_count": null`) {
		t.Errorf("without outputs: %v\n%s", err, data)
	}
}

func TestParseNotebookUpgrades(t *testing.T) {
	const old = `{"cells":[{"cell_type":"code","source":"x"},{"cell_type":"code","source":"x"},{"cell_type":"raw","id":"same","source":[]},{"cell_type":"raw","id":"same"}],"nbformat":4,"nbformat_minor":2}`
	parse := func() *notebook {
		nb, err := parseNotebook([]byte(old))
		if err != nil {
			t.Fatal(err)
		}
		return nb
	}
	a, b := parse(), parse()
	if !reflect.DeepEqual(a.raw, b.raw) {
		t.Error("ids differ from reading to reading")
	}
	ids := map[any]bool{}
	for _, c := range a.cells {
		ids[c.raw["id"]] = true
	}
	if len(ids) != 4 || ids[""] || !ids["same"] {
		t.Errorf("ids %v", ids)
	}
	if a.raw["nbformat_minor"] != json.Number("5") {
		t.Errorf("minor format %v", a.raw["nbformat_minor"])
	}
	if outs, ok := a.cells[0].raw["outputs"].([]any); !ok || len(outs) != 0 {
		t.Errorf("outputs %v", a.cells[0].raw["outputs"])
	}
}

func TestParseNotebookErrors(t *testing.T) {
	for data, want := range map[string]string{
		``:                           "not a notebook",
		`[]`:                         "not a notebook",
		`{} {}`:                      "something follows",
		`{"nbformat":3}`:             "notebook format 3, want 4",
		`{"nbformat":4}`:             "no list of cells",
		`{"nbformat":4,"cells":[1]}`: "cell 1 is not an object",
		`{"nbformat":4,"cells":[{"cell_type":"raw"},{"cell_type":"heading"}]}`: "cell 2 has the type heading",
		`{"nbformat":4,"cells":[],"metadata":[]}`:                              "metadata is not an object",
	} {
		if _, err := parseNotebook([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want it to say %q", data, err, want)
		}
	}
}

func TestTimingsAreNotWritten(t *testing.T) {
	nb := code("x")
	nb.cells[0].raw["metadata"] = map[string]any{"execution": map[string]any{"iopub.status.idle": "2026-01-01"}, "kept": true}
	data, err := nb.encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("iopub")) || !bytes.Contains(data, []byte("kept")) {
		t.Errorf("wrote %s", data)
	}
}

func TestAdopt(t *testing.T) {
	nb := code("x")
	nb.adopt()
	data, _ := nb.encode()
	if !bytes.Contains(data, []byte(`"name": "svmnb"`)) || !bytes.Contains(data, []byte(`"mimetype": "text/x-go"`)) {
		t.Errorf("wrote %s", data)
	}
	nb.raw["metadata"] = map[string]any{"kernelspec": map[string]any{"name": "gonb"}}
	nb.adopt()
	if data, _ := nb.encode(); !bytes.Contains(data, []byte(`"name": "gonb"`)) {
		t.Errorf("another kernel's name is lost: %s", data)
	}
}

func TestWriteFileReplaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	for _, text := range []string{"first, longer", "second"} {
		if err := writeFile(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("read %q, %v", got, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

func FuzzParseNotebook(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"stream","text":1}],"source":{"a":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parseNotebook(data)
		if err != nil {
			return
		}
		first, err := nb.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseNotebook(first)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, first)
		}
		second, err := again.encode()
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("not stable: %v\n%s\n%s", err, first, second)
		}
		if _, err := exportHTML(nb, "fuzz", t.TempDir()); err != nil && !strings.Contains(err.Error(), "is not an object") {
			t.Error(err)
		}
	})
}
