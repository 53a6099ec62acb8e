// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"time"
)

// Enters and leaves contexts as scope.c does scopes: some have an earlier deadline than their parent, and so a timer.
func runScope(given *options) {
	const lap = 1000
	parent, cancel := context.WithTimeout(context.Background(), time.Hour/2)
	defer cancel()
	measure := func(delay time.Duration, seconds float64) float64 {
		laps := &histogram{}
		beforeNs := nowNs()
		for endNs := beforeNs + nanoseconds(seconds); beforeNs < endNs; {
			for i := 0; i < lap; i++ {
				_, cancel := context.WithTimeout(parent, delay)
				cancel()
			}
			afterNs := nowNs()
			laps.record(afterNs - beforeNs)
			beforeNs = afterNs
		}
		return float64(laps.quantileNs(0.5)) / lap
	}
	measure(5*time.Second, given.warmup)
	reportNumber("ns_tighter_p50", measure(5*time.Second, given.seconds/2))
	reportNumber("ns_not_tighter_p50", measure(time.Hour, given.seconds/2))
}
