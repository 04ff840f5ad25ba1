//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

func (c confinement) confine(*exec.Cmd) {}

func (c confinement) watch([]string) { guardFails(errors.ErrUnsupported) }

// killTree kills a process and everything it has started.
func killTree(cmd *exec.Cmd) { killGroup(cmd) }
