package beam

import (
	"os"
	"testing"
)

// The tests start their own program as worker processes.
func TestMain(m *testing.M) {
	Init()
	os.Exit(m.Run())
}
