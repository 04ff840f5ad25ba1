package main

import (
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup puts the kernel into a process group of its own: ctrl-C then reaches only the
// runner.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup ends the kernel and its children, which Windows does not end with their parent.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	_ = cmd.Process.Kill()
}
