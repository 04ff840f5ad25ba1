package main

import "testing"

func TestSigned(t *testing.T) {
	const line = "import labx \"github.com/svmnb/svmnb/notebooks/lab\"\n"
	for _, test := range []struct{ source, want string }{
		{"%% check 1.1\nlab.Check(\"1.1\", lab.Near(`a lab.Near`, a, 3, tol, \"see lab.Check(\"))\n", line + "%% check 1.1\nlabx.CheckFor(\"s\", \"1.1\", labx.Near(`a lab.Near`, a, 3, tol, \"see lab.Check(\"))\n"},
		{"var b = lab.Todo\n%% check 1.1\n// lab.Check(\nx.lab.Check(1)\nlab . Check (\"1.1\")", line + "var b = labx.Todo\n%% check 1.1\n// lab.Check(\nx.lab.Check(1)\nlabx.CheckFor(\"s\", \"1.1\")"},
		{"%%\nlab.Check(`1.1`, lab.True(`x`, slack(lab.Todo) == 1, ``).Worth(2))", line + "%%\nlabx.CheckFor(\"s\", `1.1`, labx.True(`x`, slack(labx.Todo) == 1, ``).Worth(2))"},
		{"%% check 1.1\ntest()\n", ""},
		{"%% check 1.1\n\"", ""},
		{"", ""},
	} {
		got, secret := signed(test.source, "labx", "s")
		if test.want == "" && (got != test.source || secret != "") || test.want != "" && (got != test.want || secret != "s") {
			t.Errorf("%q is signed as\n%q, %q, want\n%q", test.source, got, secret, test.want)
		}
	}
}
