package kernels_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// Kernel values have the same bits on every machine only if no product is fused
// with a sum. On amd64 the compiler does not do that; ask it for a machine where
// it does wherever the code lets it.
func TestNoFusedMultiplyAdd(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another machine, ten seconds the first time")
	}
	cmd := exec.Command("go", "build", "-gcflags=-S", ".", "../internal/vec")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("cannot compile for arm64 here: %v", err)
	}
	if !regexp.MustCompile(`vec/exp\.go:\d+\)\s+FMULD`).Match(listing) {
		t.Fatal("no product in the listing: nothing is tested")
	}
	for _, line := range regexp.MustCompile(`(?m)^.*\b(FMADD|FMSUB|FNMADD|FNMSUB)[DS]\b.*$`).FindAllString(string(listing), -1) {
		t.Errorf("fused: %s", line)
	}
}
