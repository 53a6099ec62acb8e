// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
)

var reportRun string // the members with which every line begins

func reportInit(given *options) {
	reportRun = fmt.Sprintf(`"workload":"%s","peer":"%s","producers":%d`, given.workload, given.peer,
		given.producers)
}

func reportCount(metric string, value int64) {
	fmt.Printf("{%s,\"metric\":\"%s\",\"value\":%d}\n", reportRun, metric, value)
}

func reportNumber(metric string, value float64) {
	fmt.Printf("{%s,\"metric\":\"%s\",\"value\":%.6g}\n", reportRun, metric, value)
}

// Of a histogram of nanoseconds, in microseconds.
func reportPercentiles(what string, histogram *histogram) {
	reportNumber(what+"_p50_us", float64(histogram.quantileNs(0.5))/1e3)
	reportNumber(what+"_p99_us", float64(histogram.quantileNs(0.99))/1e3)
	reportNumber(what+"_p99.9_us", float64(histogram.quantileNs(0.999))/1e3)
	reportNumber(what+"_max_us", float64(histogram.maxNs)/1e3)
}

// Ends a run that needs more memory than there is. That is a result.
func reportOutOfMemory() {
	reportCount("out_of_memory", 1)
	os.Exit(0)
}

// Ends the process: a timer did something wrong.
func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "htw-bench-go: {%s} %s\n", reportRun, fmt.Sprintf(format, values...))
	os.Exit(1)
}
