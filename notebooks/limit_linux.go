package main

import "golang.org/x/sys/unix"

// limitMemory bounds what the kernel, and each process that it starts from now
// on, may write to: a Go program that wants more ends with "out of memory". The
// address space is not what is bounded, because Go reserves much that it never
// uses.
func (c *client) limitMemory(bytes uint64) error {
	return unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
