package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// confine puts the guard into new namespaces. In that of processes, all others end when the
// guard ends. In that of files, the guard can make folders read-only. That of the network
// has no connection. A user namespace makes all this possible without special rights.
func (c confinement) confine(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if !c.Apart {
		return
	}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// watch starts argv under limits. It ends when argv ends or when too many processes run. It
// adopts processes that have lost their parent, so all that argv has started is below the
// guard.
func (c confinement) watch(argv []string) {
	if c.Apart {
		if err := c.hide(); err != nil {
			guardFails(err)
		}
	}
	// Without a process namespace, this makes the guard adopt orphaned processes.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		guardFails(err)
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: c.Memory, unix.RLIMIT_FSIZE: largestWrite, unix.RLIMIT_CORE: 0} {
		// A Go program that exceeds the limit ends with "out of memory". The limit is not
		// for the address space, because Go reserves much more of that than it uses.
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			guardFails(err)
		}
	}
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	runtime.LockOSThread() // the kernel is killed when the thread that has started it ends
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		guardFails(err)
	}
	for {
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			if err != nil && !errors.Is(err, syscall.EINTR) || pid == 0 {
				break
			}
			if pid == cmd.Process.Pid {
				endTree(os.Getpid())
				if status.Signaled() {
					guardFails(fmt.Errorf("the kernel ended by %v", status.Signal()))
				}
				os.Exit(status.ExitStatus())
			}
		}
		if below := descendants(os.Getpid()); len(below) > c.Processes {
			endTree(os.Getpid())
			guardFails(fmt.Errorf("more than %d processes", c.Processes))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hide makes all files read-only except for the writable folders, and hides all processes
// except for those below the guard, since the environment of other processes may contain
// secrets.
func (c confinement) hide() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	for _, dir := range c.Writable {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("files read-only: %w", err)
	}
	for _, dir := range c.Writable {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("%s writable: %w", dir, err)
		}
	}
	if len(c.Writable) > 0 { // enter the working folder through its new mount
		if err := os.Chdir(c.Writable[0]); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("processes of its own: %w", err)
	}
	return nil
}

// descendants lists the processes below a process.
func descendants(of int) (list []int) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	parent := map[int]int{}
	for _, file := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		_, above := status(file)
		if err == nil && above >= 0 {
			parent[pid] = above
		}
	}
	for pid := range parent {
		for p, steps := parent[pid], 0; p > 0 && steps < len(parent); p, steps = parent[p], steps+1 {
			if p == of {
				list = append(list, pid)
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// endTree kills all processes below a process, including those that they start meanwhile.
func endTree(of int) {
	for range 100 {
		running := 0
		for _, pid := range descendants(of) {
			if unix.Kill(pid, unix.SIGKILL) == nil && !ended(pid) {
				running++
			}
		}
		if running == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ended reports whether a process has ended, even if its parent has not been told yet.
func ended(pid int) bool {
	state, above := status(fmt.Sprintf("/proc/%d/stat", pid))
	return above < 0 || state == "Z"
}

// status reads the state and the parent of a process; the parent is −1 if the process has
// ended.
func status(file string) (state string, parent int) {
	data, _ := os.ReadFile(file)
	// The line is "pid (name) state ppid …", and the name may contain anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 2 {
		return "", -1
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return "", -1
	}
	return fields[0], parent
}

// killTree kills a process and everything it has started. Processes below it come first, as
// long as it still adopts orphans.
func killTree(cmd *exec.Cmd) {
	endTree(cmd.Process.Pid)
	killGroup(cmd)
}
