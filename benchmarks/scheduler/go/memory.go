// SPDX-License-Identifier: MIT

package main

import "time"

// The memory of a million pending timers, each with a callback that has its own argument, as every timer in C has.
func runMemory(*options) {
	const timers = 1_000_000
	delays := newDelays(1, 3600*second, 7200*second)
	kept := make([]*time.Timer, timers)
	before := liveBytes()
	for i := range kept {
		argument := i
		kept[i] = time.AfterFunc(time.Duration(delays.nextNs()), func() { strays.Add(int64(argument)) })
	}
	full := liveBytes()
	for _, timer := range kept {
		if !timer.Stop() {
			fail("a timer that was pending could not be cancelled")
		}
	}
	reportNumber("bytes_per_timer", float64(full-before)/timers)
}
