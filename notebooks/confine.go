package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// A learner's program may start other programs, which may leave its process group.
// Therefore the kernel of the check command runs below a guard. The guard is this program,
// started under the name below. It sets limits, starts the kernel and counts processes;
// everything that it has started ends with it (confine_linux.go). On other systems the
// kernel only has a process group of its own.

const guardName = "svmnb-guard"

// confinement has the limits that a guard enforces.
type confinement struct {
	Memory    uint64   // bytes for each process
	Processes int      // largest number of processes at a time, not counting threads
	Writable  []string // the only folders that can be written, if Apart
	Apart     bool     // in separate namespaces for processes, files and the network
}

// mostProcesses is many times what a compiler and a linker need.
const mostProcesses = 256

// largestWrite is the largest size of a file that a learner's program can write.
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

// guard runs the guard if the program was started as one; otherwise it returns. main calls
// it first.
func guard() {
	switch {
	case len(os.Args) < 2 || os.Args[1] != guardName:
		return
	case len(os.Args) < 4: // a test whether a guard can be started
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

// canBeApart returns nil, or why programs cannot have separate namespaces.
func canBeApart() error {
	c := confinement{Memory: 1 << 30, Processes: mostProcesses, Apart: true}
	argv, err := c.guarded([]string{"/proc/self/exe", guardName}) // a guard without arguments ends at once
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
