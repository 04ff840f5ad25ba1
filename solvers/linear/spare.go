package linear

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// spare returns how many bytes a Stepper may take beyond what its Method needs: what the
// caller's limit leaves; or half of what Go's limit leaves, since K and the data count to it
// too; or half of the memory that the machine has free, if it says.
func spare(limit int64, need float64) float64 {
	if limit > 0 {
		return float64(limit) - need
	}
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return (allowed(0) - need) / 2
	}
	return max(allowed(0), machine()/2) - need
}

// machine returns how many bytes of memory the machine has free, or 0 if it does not say.
func machine() float64 {
	free := 0.0
	data, err := os.ReadFile("/proc/meminfo") // on Linux
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemAvailable:" {
			kB, _ := strconv.ParseFloat(fields[1], 64)
			free = kB * 1024
		}
	}
	// A container may have less. Its files have a number of bytes, or "max".
	for _, files := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		if most, ok := number(files[0]); ok {
			used, _ := number(files[1])
			free = min(free, max(0, most-used))
		}
	}
	return free
}

func number(file string) (float64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	return v, err == nil
}
