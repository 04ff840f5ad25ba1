package beam

import (
	"os"
	"strconv"
	"testing"
)

// The tests start their own program as worker processes, and as svmnb-beam.
func TestMain(m *testing.M) {
	Init()
	if os.Getenv("SVMNB_TEST_COMMAND") != "" || os.Args[len(os.Args)-1] == "cell" {
		os.Exit(Command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func ftoa(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
