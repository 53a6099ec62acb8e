// SPDX-License-Identifier: MIT

package main

import (
	"math"
	"math/bits"
)

const (
	histogramBits = 6
	histogramHalf = 1 << histogramBits
)

// Counts durations as histogram.h does: exactly below 128 ns, then in 64 buckets an octave. A quantile is
// at most 1.6 % too high. One goroutine at a time records.
type histogram struct {
	total  uint64
	early  int64 // values below zero, which also count as 0
	maxNs  int64
	counts [(64 - histogramBits) * histogramHalf]uint64
}

func (h *histogram) record(ns int64) {
	h.total++
	if ns < 0 {
		h.early++
		ns = 0
	}
	if ns > h.maxNs {
		h.maxNs = ns
	}
	shift := 63 - histogramBits - bits.LeadingZeros64(uint64(ns)|histogramHalf)
	h.counts[shift*histogramHalf+int(ns>>uint(shift))]++
}

func (h *histogram) merge(from *histogram) {
	h.total += from.total
	h.early += from.early
	if from.maxNs > h.maxNs {
		h.maxNs = from.maxNs
	}
	for i, count := range from.counts {
		h.counts[i] += count
	}
}

func (h *histogram) quantileNs(quantile float64) int64 {
	wanted := uint64(math.Ceil(quantile * float64(h.total)))
	seen := uint64(0)
	for i, count := range h.counts {
		seen += count
		if seen >= wanted && seen > 0 {
			if highest(i) < h.maxNs {
				return highest(i)
			}
			return h.maxNs
		}
	}
	return 0
}

// The greatest value that has this index.
func highest(index int) int64 {
	shift := 0
	if index >= histogramHalf {
		shift = index/histogramHalf - 1
	}
	return int64(index-shift*histogramHalf+1)<<uint(shift) - 1
}
