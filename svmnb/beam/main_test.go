package beam

import (
	"os"
	"strconv"
	"testing"
)

// The tests start their own program as worker processes.
func TestMain(m *testing.M) {
	Init()
	os.Exit(m.Run())
}

func ftoa(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
