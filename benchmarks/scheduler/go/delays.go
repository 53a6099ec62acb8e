// SPDX-License-Identifier: MIT

package main

import "math/bits"

// Draws delays evenly between two bounds; the generator is that of random.h.
type delays struct {
	high, low  uint64
	shortestNs int64
	span       uint64
}

func newDelays(seed uint64, shortestNs, longestNs int64) *delays {
	d := &delays{seed + 0x9e3779b97f4a7c15, 1, shortestNs, uint64(longestNs-shortestNs) + 1}
	for i := 0; i < 8; i++ { // until the seed has reached every bit
		d.draw()
	}
	return d
}

func (d *delays) draw() uint64 {
	const multiplier = 0xda942042e4dd58b5
	carry, low := bits.Mul64(d.low, multiplier)
	d.high = d.high*multiplier + carry
	d.low = low
	return d.high
}

func (d *delays) nextNs() int64 {
	scaled, _ := bits.Mul64(d.draw(), d.span)
	return d.shortestNs + int64(scaled)
}
