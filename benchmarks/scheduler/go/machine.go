// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

var clockStart = time.Now()

// The monotonic clock; time.Since() of such a start reads no other one.
func nowNs() int64 {
	return int64(time.Since(clockStart))
}

func nanoseconds(seconds float64) int64 {
	return int64(seconds * 1e9)
}

// As a Go program sleeps, so with the timers under test.
func sleepUntil(instantNs int64) {
	for left := instantNs - nowNs(); left > 0; left = instantNs - nowNs() {
		time.Sleep(time.Duration(left))
	}
}

// The CPU time of all threads.
func cpuNs() int64 {
	const processCPU = 2 // CLOCK_PROCESS_CPUTIME_ID
	var used syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&used)), 0); err != 0 {
		fail("clock_gettime: %v", err)
	}
	return used.Nano()
}

// The heap in use after collections.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// The first number after a word in a file of /proc.
func numberAfter(path, word string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("%v", err)
	}
	_, after, _ := strings.Cut(string(text), word)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		fail("no %s in %s", word, path)
	}
	number, _ := strconv.ParseInt(fields[0], 10, 64)
	return number
}

// If the process has more resident memory than this, the machine would soon swap.
func enoughBytes() int64 {
	return residentBytes() + numberAfter("/proc/meminfo", "MemAvailable:")*1024/4*3
}

func residentBytes() int64 {
	return numberAfter("/proc/self/status", "VmRSS:") * 1024
}
