// SPDX-License-Identifier: MIT

package main

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	lag      = 1000 // pending timers of a producer
	batch    = 100
	capacity = 64 * batch
	nap      = 50 * time.Microsecond
)

var stopping atomic.Bool

// What a goroutine of a workload has done.
type doings struct {
	pairs     atomic.Int64
	scheduled int64
	cancelled int64
	_         [40]byte // a cache line of its own
}

func (d *doings) schedule(delays *delays) *time.Timer {
	d.scheduled++
	return time.AfterFunc(time.Duration(delays.nextNs()), stray)
}

func (d *doings) cancel(timer *time.Timer) {
	if timer.Stop() {
		d.cancelled++
	}
}

// Runs while the goroutines do: reads what they have done at the start and at the end of the measured time,
// then stops them, and checks that each timer was cancelled or has fired.
func measurePairs(given *options, all []*doings, stopped *sync.WaitGroup) {
	done := func() (pairs int64) {
		for _, each := range all {
			pairs += each.pairs.Load()
		}
		return pairs
	}
	enough := enoughBytes()
	sleepUntil(nowNs() + nanoseconds(given.warmup))
	pairsBefore, cpuBefore, startNs := done(), cpuNs(), nowNs()
	for endNs := startNs + nanoseconds(given.seconds); nowNs() < endNs; {
		sleepUntil(nowNs() + 100*millisecond)
		if residentBytes() > enough {
			reportOutOfMemory()
		}
	}
	seconds := float64(nowNs()-startNs) / 1e9
	cpu := cpuNs() - cpuBefore
	pairs := done() - pairsBefore
	if pairs == 0 {
		fail("no pair was done in the measured time")
	}
	reportNumber("pairs_per_s", float64(pairs)/seconds)
	reportNumber("cpu_ns_per_pair", float64(cpu)/float64(pairs))
	stopping.Store(true)
	stopped.Wait()
	scheduled, cancelled := int64(0), int64(0)
	for _, each := range all {
		scheduled += each.scheduled
		cancelled += each.cancelled
	}
	time.Sleep(10 * time.Millisecond) // callbacks that were about to run
	if cancelled+strays.Load() != scheduled {
		fail("of %d timers %d were cancelled and %d fired", scheduled, cancelled, strays.Load())
	}
}

// Each producer schedules a timer and cancels the one that it scheduled 1000 before.
func runThreads(given *options) {
	var stopped sync.WaitGroup
	all := make([]*doings, given.producers)
	for i := range all {
		all[i] = &doings{}
		stopped.Add(1)
		go func(mine *doings, delays *delays) {
			defer stopped.Done()
			timers := make([]*time.Timer, lag)
			for i := range timers {
				timers[i] = mine.schedule(delays)
			}
			for !stopping.Load() {
				for i, oldest := range timers {
					timers[i] = mine.schedule(delays)
					mine.cancel(oldest)
				}
				mine.pairs.Add(lag)
			}
			for _, timer := range timers {
				mine.cancel(timer)
			}
		}(all[i], newDelays(uint64(i), second, 30*second))
	}
	measurePairs(given, all, &stopped)
}

// Hands timers from one goroutine to another one in batches. One that waits sleeps: on few cores it would
// take the CPU time of the other one.
type ring struct {
	pushed atomic.Int64
	closed atomic.Bool
	_      [48]byte
	popped atomic.Int64
	_      [56]byte
	slots  [capacity]*time.Timer
}

func (r *ring) push(timers []*time.Timer) {
	position := r.pushed.Load()
	for position-r.popped.Load() == capacity {
		time.Sleep(nap)
	}
	copy(r.slots[position%capacity:], timers)
	r.pushed.Store(position + batch)
}

// Returns false if the ring is closed and empty.
func (r *ring) pop(timers []*time.Timer) bool {
	position := r.popped.Load()
	for position == r.pushed.Load() {
		if r.closed.Load() && position == r.pushed.Load() {
			return false
		}
		time.Sleep(nap)
	}
	copy(timers, r.slots[position%capacity:])
	r.popped.Store(position + batch)
	return true
}

// Each producer schedules timers, and another goroutine cancels them.
func runForeign(given *options) {
	var stopped sync.WaitGroup
	all := make([]*doings, 0, 2*given.producers)
	for i := 0; i < given.producers; i++ {
		between := &ring{}
		producer, canceller := &doings{}, &doings{}
		all = append(all, producer, canceller)
		stopped.Add(2)
		go func(delays *delays) {
			defer stopped.Done()
			timers := make([]*time.Timer, batch)
			for !stopping.Load() {
				for i := range timers {
					timers[i] = producer.schedule(delays)
				}
				between.push(timers)
			}
			between.closed.Store(true)
		}(newDelays(uint64(i), second, 30*second))
		go func() {
			defer stopped.Done()
			timers := make([]*time.Timer, batch)
			for between.pop(timers) {
				for _, timer := range timers {
					canceller.cancel(timer)
				}
				canceller.pairs.Add(batch)
			}
		}()
	}
	measurePairs(given, all, &stopped)
}
