package kernels_test

import (
	"testing"

	"github.com/svmnb/svmnb/internal/doctest"
)

func TestDocsAreTheExample(t *testing.T) {
	doctest.Same(t, "../docs/adding-a-kernel.md", "example_own_test.go", 4)
}
