//go:build !race

package model_test

const racing = false
