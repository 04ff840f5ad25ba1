package svmnb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDiskFullForTrue is TestDiskFull on a disk of 1 MiB, which a child makes in namespaces of
// its own: the system says ENOSPC there, in any write, Sync or Close.
func TestDiskFullForTrue(t *testing.T) {
	if dir := os.Getenv("SVMNB_CHILD"); dir != "" {
		smallDisk(t, dir)
		return
	}
	child := childOf(t, "TestDiskFullForTrue", t.TempDir())
	child.Args = append(child.Args, "-test.v")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	if err := child.Start(); err != nil {
		t.Skip("no namespace in which to make a small disk:", err)
	}
	err := child.Wait()
	if bytes.Contains(out.Bytes(), []byte("--- SKIP")) {
		t.Skipf("no small disk:\n%s", &out)
	}
	if err != nil || !bytes.Contains(out.Bytes(), []byte("PASS")) {
		t.Fatalf("%v:\n%s", err, &out)
	}
	t.Logf("%s", &out)
}

func smallDisk(t *testing.T, dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("tmpfs:", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	filled := 0
	filler := filepath.Join(dir, "filler")
	full := func(bytes int, do func()) {
		var disk syscall.Statfs_t
		if err := syscall.Statfs(dir, &disk); err != nil {
			t.Fatal(err)
		}
		// What is left is whole blocks.
		rest := (int(disk.Bavail) - bytes/int(disk.Bsize)) * int(disk.Bsize)
		if err := os.WriteFile(filler, make([]byte, rest), 0o600); err != nil {
			t.Fatal(err)
		}
		filled++
		do()
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	writeToFullDisk(t, dir, full, syscall.ENOSPC)
	t.Logf("the disk was full %d times", filled)
}
