// SPDX-License-Identifier: MIT

package main

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	millisecond = 1_000_000
	second      = 1_000_000_000
)

// The counters of one callback at a time.
type tally struct {
	count    atomic.Uint64 // written last, and read first
	lateness histogram
}

// How many timers have fired, and how late. A callback takes a tally that no other callback has at that
// time. The pool keeps one for each processor, so callbacks write no common cache line.
type expirations struct {
	free    sync.Pool
	mutex   sync.Mutex
	tallies []*tally // all that were made
}

func newExpirations() *expirations {
	e := &expirations{}
	e.free.New = func() any {
		made := &tally{}
		e.mutex.Lock()
		e.tallies = append(e.tallies, made)
		e.mutex.Unlock()
		return made
	}
	return e
}

// Schedules a timer that is counted here. Its delay counts from before the call.
func (e *expirations) schedule(delayNs int64) *time.Timer {
	deadlineNs := nowNs() + delayNs
	return time.AfterFunc(time.Duration(delayNs), func() {
		mine := e.free.Get().(*tally)
		mine.lateness.record(nowNs() - deadlineNs)
		mine.count.Store(mine.count.Load() + 1)
		e.free.Put(mine)
	})
}

// Schedules so many timers each millisecond, and catches up if it is late. Returns how many.
func (e *expirations) keepPace(delays *delays, timersPerMs int, seconds float64) int64 {
	periods := nanoseconds(seconds) / millisecond
	startNs := nowNs()
	for i := int64(0); i < periods; i++ {
		sleepUntil(startNs + i*millisecond)
		for j := 0; j < timersPerMs; j++ {
			e.schedule(delays.nextNs())
		}
	}
	sleepUntil(startNs + periods*millisecond)
	return periods * int64(timersPerMs)
}

func (e *expirations) fired() int64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	count := uint64(0)
	for _, each := range e.tallies {
		count += each.count.Load()
	}
	return int64(count)
}

// Waits until so many have fired. Returns false if they have not by the deadline.
func (e *expirations) await(count, deadlineNs int64) bool {
	for e.fired() < count {
		if nowNs() >= deadlineNs {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

// Call this when the timers that count have fired.
func (e *expirations) lateness() *histogram {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	sum := &histogram{}
	for _, each := range e.tallies {
		sum.merge(&each.lateness)
	}
	return sum
}

func (e *expirations) check(scheduled int64) {
	if fired := e.fired(); fired > scheduled {
		fail("%d timers were scheduled, and %d fired", scheduled, fired)
	}
}

var strays atomic.Int64

// The callback of timers that are going to be cancelled.
func stray() {
	strays.Add(1)
}
