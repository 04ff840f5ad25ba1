//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the kernel into a process group of its own: ctrl-C then reaches only the
// runner, and the kernel's children can be ended together.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
