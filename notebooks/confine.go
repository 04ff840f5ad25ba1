package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// The program of a learner may start others, and these may leave its process group. So
// the kernel of check runs below a guard, which is this program called by the name below:
// the guard sets limits, starts the kernel, counts what runs, and what it has started dies
// with it (confine_linux.go). Where the system lacks the means, the kernel has a process
// group of its own, and that is all.

const guardName = "svmnb-guard"

// confinement is what a guard is told.
type confinement struct {
	Memory    uint64   // bytes, of each process
	Processes int      // at most so many at once, threads aside
	Writable  []string // folders, where the system can hold programs to them
	Apart     bool     // in namespaces of its own: processes, files, network
}

// mostProcesses is what a compiler and a linker need, many times over.
const mostProcesses = 256

// largestWrite is how large a file of a learner's program can grow.
const largestWrite = 1 << 30

// guarded returns the command that starts argv below a guard.
func (c confinement) guarded(argv []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(c)
	return append([]string{self, guardName, string(told)}, argv...), err
}

// guard is what main does first: it returns unless the program was called as a guard.
func guard() {
	switch {
	case len(os.Args) < 2 || os.Args[1] != guardName:
		return
	case len(os.Args) < 4: // asked whether it can be started
		os.Exit(0)
	}
	var c confinement
	if err := json.Unmarshal([]byte(os.Args[2]), &c); err != nil {
		guardFails(err)
	}
	c.watch(os.Args[3:])
}

func guardFails(err error) {
	fmt.Fprintln(os.Stderr, "the guard of a learner's program:", err)
	os.Exit(125)
}

// canBeApart says why programs cannot have namespaces of their own, or nil.
func canBeApart() error {
	c := confinement{Memory: 1 << 30, Processes: mostProcesses, Apart: true}
	argv, err := c.guarded([]string{"/proc/self/exe", guardName}) // which does nothing
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	c.confine(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, out)
	}
	return nil
}
