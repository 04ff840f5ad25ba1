//go:build race

package model_test

// racing is true under the race detector, in which sync.Pool forgets on purpose.
const racing = true
