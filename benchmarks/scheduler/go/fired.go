// SPDX-License-Identifier: MIT

package main

import (
	"sync/atomic"
	"time"
)

const patience = 60 * second

// One goroutine schedules as fast as it can, and all timers fire.
func runHeadline(given *options) {
	const warmupTimersPerMs = 500
	const readClockEvery = 1000
	const readMemoryEvery = 1_000_000
	delays := newDelays(1, millisecond, second)
	warmup := newExpirations()
	warmup.await(warmup.keepPace(delays, warmupTimersPerMs, given.warmup), nowNs()+patience)

	measured := newExpirations()
	enough := enoughBytes()
	cpuBefore, startNs := cpuNs(), nowNs()
	scheduled := int64(0)
	for endNs := startNs + nanoseconds(given.seconds); nowNs() < endNs; {
		for i := 0; i < readClockEvery; i++ {
			measured.schedule(delays.nextNs())
		}
		scheduled += readClockEvery
		if scheduled%readMemoryEvery == 0 && residentBytes() > enough {
			reportOutOfMemory()
		}
	}
	fired, stopNs := measured.fired(), nowNs()
	drained := measured.await(scheduled, stopNs+patience)
	drainSeconds := float64(nowNs()-stopNs) / 1e9
	cpu := cpuNs() - cpuBefore
	seconds := float64(stopNs-startNs) / 1e9
	reportNumber("scheduled_per_s", float64(scheduled)/seconds)
	reportNumber("fired_per_s", float64(fired)/seconds)
	reportCount("backlog_at_end", scheduled-fired)
	if drained {
		reportNumber("drain_s", drainSeconds)
	} else {
		reportNumber("drain_given_up_after_s", drainSeconds)
		reportCount("unfired", scheduled-measured.fired())
	}
	reportNumber("cpu_ns_per_timer", float64(cpu)/float64(measured.fired()))
	lateness := measured.lateness()
	reportPercentiles("lateness", lateness)
	reportCount("early", lateness.early)
	measured.check(scheduled)
}

// 100 000 timers a second, all of which fire: how late they are, and what they cost.
func runLateness(given *options) {
	const timersPerMs = 100
	delays := newDelays(1, millisecond, second)
	newExpirations().keepPace(delays, timersPerMs, given.warmup) // these do not count

	measured := newExpirations()
	cpuBefore := cpuNs()
	timers := measured.keepPace(delays, timersPerMs, given.seconds)
	cpu := cpuNs() - cpuBefore
	if !measured.await(timers, nowNs()+patience) {
		reportCount("unfired", timers-measured.fired())
	}
	lateness := measured.lateness()
	reportPercentiles("lateness", lateness)
	reportCount("early", lateness.early)
	reportNumber("cpu_ns_per_timer", float64(cpu)/float64(timers))
	measured.check(timers)
}

// Schedules and cancels on its own.
type bystander struct {
	calls atomic.Pointer[histogram]
	laps  atomic.Int64
}

func (b *bystander) run() {
	const delay = 30 * time.Second
	timers := make([]*time.Timer, lag)
	for i := range timers {
		timers[i] = time.AfterFunc(delay, stray)
	}
	for {
		calls := b.calls.Load()
		for i, oldest := range timers {
			beforeNs := nowNs()
			timers[i] = time.AfterFunc(delay, stray)
			calls.record(nowNs() - beforeNs)
			if !oldest.Stop() {
				fail("a timer of the bystander fired, or could not be cancelled")
			}
		}
		b.laps.Add(1)
	}
}

// When this returns, the bystander has stopped recording anywhere else.
func (b *bystander) recordTo(histogram *histogram) {
	b.calls.Store(histogram)
	for seen := b.laps.Load(); b.laps.Load() == seen; {
		time.Sleep(time.Millisecond)
	}
}

// All fall due within a millisecond.
func scheduleBurst(timers, dueNs int64) *expirations {
	burst := newExpirations()
	for i := int64(0); i < timers; i++ {
		burst.schedule(dueNs + i*millisecond/timers - nowNs())
	}
	return burst
}

// A million timers fall due at once while a bystander schedules and cancels: how long its calls take.
func runStall(*options) {
	const timers = 1_000_000
	const warmupTimers = 100_000
	const aheadNs = 3 * second
	const beforeNs = 100 * millisecond // the measured second starts so long before the burst
	beside := &bystander{}
	beside.calls.Store(&histogram{})
	go beside.run()
	warmup := scheduleBurst(warmupTimers, nowNs()+aheadNs/3)
	warmup.await(warmupTimers, nowNs()+aheadNs)

	dueNs := nowNs() + aheadNs
	measured := scheduleBurst(timers, dueNs)
	sleepUntil(dueNs - beforeNs)
	calls := &histogram{}
	beside.recordTo(calls)
	sleepUntil(dueNs - beforeNs + second)
	beside.recordTo(&histogram{})
	reportPercentiles("schedule", calls)
	if measured.await(timers, nowNs()+patience) {
		lateness := measured.lateness()
		reportNumber("last_fired_late_ms", float64(lateness.maxNs)/1e6)
		reportCount("early", lateness.early)
	} else {
		reportCount("unfired", timers-measured.fired())
	}
	measured.check(timers)
}
