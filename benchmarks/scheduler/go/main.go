// SPDX-License-Identifier: MIT

// The workloads of htw-bench-scheduler for the timers of Go's runtime: time.AfterFunc() and Stop().
// One workload a process, so that no run inherits the heap of another one. ./dev bench scheduler builds
// this with `go build *.go`; it needs no module.
package main

import (
	"flag"
	"fmt"
	"os"
)

type options struct {
	workload  string
	peer      string
	producers int
	seconds   float64
	warmup    float64
}

type workload struct {
	seconds float64 // of measured time, if the command line does not say
	run     func(*options)
}

var workloads = map[string]workload{
	"threads":  {5, runThreads},
	"foreign":  {5, runForeign},
	"headline": {10, runHeadline},
	"lateness": {10, runLateness},
	"stall":    {5, runStall},
	"memory":   {5, runMemory},
	"scope":    {4, runScope},
}

func readOptions() *options {
	given := &options{}
	var quick bool
	flag.StringVar(&given.workload, "workload", "", "what to run")
	flag.StringVar(&given.peer, "peer", "go", "the name in the report")
	flag.IntVar(&given.producers, "producers", 1, "threads and foreign: goroutines that schedule")
	flag.Float64Var(&given.seconds, "seconds", 0, "measured time")
	flag.Float64Var(&given.warmup, "warmup", 0, "seconds before the measured time (2)")
	flag.BoolVar(&quick, "quick", false, "a fifth of the measured time and half of the warm-up")
	flag.Parse()
	chosen, found := workloads[given.workload]
	if !found || flag.NArg() != 0 || given.producers < 1 || given.seconds < 0 || given.warmup < 0 {
		fmt.Fprintf(os.Stderr, "htw-bench-go: wrong options: %v\n", os.Args[1:])
		os.Exit(2)
	}
	if given.seconds == 0 {
		given.seconds = chosen.seconds
		if quick {
			given.seconds /= 5
		}
	}
	if given.warmup == 0 {
		given.warmup = 2
		if quick {
			given.warmup = 1
		}
	}
	return given
}

func main() {
	given := readOptions()
	reportInit(given)
	workloads[given.workload].run(given)
	os.Exit(0) // without waiting for goroutines
}
