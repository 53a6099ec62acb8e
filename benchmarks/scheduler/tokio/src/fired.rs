// SPDX-License-Identifier: MIT
//! Timers that fire.
use crate::delays::{Delays, MILLISECOND, SECOND};
use crate::expirations::Phase::{self, Measured, Warmup};
use crate::histogram::Histogram;
use crate::machine::{cpu_ns, enough_bytes, nanoseconds, now_ns, resident_bytes, sleep_until};
use crate::peer::{Peer, Tasks, STRAYS};
use crate::report::Report;
use crate::Options;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const PATIENCE_NS: i64 = 60 * SECOND;

fn report_lateness(report: &Report, scheduled: u64) {
    let lateness = Measured.lateness();
    report.percentiles("lateness", &lateness);
    report.count("early", lateness.early);
    if Measured.fired() > scheduled {
        report.fail("more timers fired than were scheduled");
    }
}

/// One thread schedules as fast as it can, and all timers fire.
pub fn headline(given: &Options, report: &Report, peer: Tasks) {
    const WARMUP_TIMERS_PER_MS: u64 = 500;
    const READ_CLOCK_EVERY: u64 = 1000;
    const READ_MEMORY_EVERY: u64 = 1_000_000;
    let _guard = peer.enter();
    let mut delays = Delays::new(1, MILLISECOND, SECOND);
    let warm = Warmup.keep_pace(&peer, &mut delays, WARMUP_TIMERS_PER_MS, given.warmup);
    Warmup.wait(warm, now_ns() + PATIENCE_NS);

    let enough = enough_bytes();
    let (cpu_before, start) = (cpu_ns(), now_ns());
    let end = start + nanoseconds(given.seconds);
    let mut scheduled = 0;
    while now_ns() < end {
        for _ in 0..READ_CLOCK_EVERY {
            Measured.schedule(&peer, delays.next_ns());
        }
        scheduled += READ_CLOCK_EVERY;
        if scheduled % READ_MEMORY_EVERY == 0 && resident_bytes() > enough {
            report.out_of_memory();
        }
    }
    let (fired, stop) = (Measured.fired(), now_ns());
    let drained = Measured.wait(scheduled, stop + PATIENCE_NS);
    let drain_s = (now_ns() - stop) as f64 / 1e9;
    let cpu = cpu_ns() - cpu_before;
    let seconds = (stop - start) as f64 / 1e9;
    report.number("scheduled_per_s", scheduled as f64 / seconds);
    report.number("fired_per_s", fired as f64 / seconds);
    report.count("backlog_at_end", scheduled - fired);
    if drained {
        report.number("drain_s", drain_s);
    } else {
        report.number("drain_given_up_after_s", drain_s);
        report.count("unfired", scheduled - Measured.fired());
    }
    report.number("cpu_ns_per_timer", cpu as f64 / Measured.fired() as f64);
    report_lateness(report, scheduled);
}

/// 100 000 timers a second, all of which fire: how late they are, and what they cost.
pub fn lateness(given: &Options, report: &Report, peer: Tasks) {
    const TIMERS_PER_MS: u64 = 100;
    let _guard = peer.enter();
    let mut delays = Delays::new(1, MILLISECOND, SECOND);
    Warmup.keep_pace(&peer, &mut delays, TIMERS_PER_MS, given.warmup);
    let cpu_before = cpu_ns();
    let timers = Measured.keep_pace(&peer, &mut delays, TIMERS_PER_MS, given.seconds);
    let cpu = cpu_ns() - cpu_before;
    if !Measured.wait(timers, now_ns() + PATIENCE_NS) {
        report.count("unfired", timers - Measured.fired());
    }
    report_lateness(report, timers);
    report.number("cpu_ns_per_timer", cpu as f64 / timers as f64);
}

/// Arms and cancels on its own, and records how long it takes to arm.
struct Bystander {
    calls: Mutex<Histogram>, // taken once a lap
    laps: AtomicU64,
}

impl Bystander {
    fn run(&self, peer: &Tasks) {
        const LAG: usize = 1000;
        const DELAY_NS: i64 = 30 * SECOND;
        let _guard = peer.enter();
        let mut timers: Vec<_> = (0..LAG).map(|_| peer.arm(DELAY_NS)).collect();
        loop {
            {
                let mut calls = self.calls.lock().unwrap();
                for timer in &mut timers {
                    let before = now_ns();
                    let newest = peer.arm(DELAY_NS);
                    calls.record(now_ns() - before);
                    peer.cancel(std::mem::replace(timer, newest));
                }
            }
            self.laps.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The calls since the last time.
    fn take(&self) -> Histogram {
        std::mem::replace(&mut *self.calls.lock().unwrap(), Histogram::new())
    }
}

/// All fall due within a millisecond.
fn schedule_burst(phase: Phase, peer: &Tasks, timers: u64, due_ns: i64) {
    for i in 0..timers {
        phase.schedule(peer, due_ns + i as i64 * MILLISECOND / timers as i64 - now_ns());
    }
}

/// A million timers fall due at once while a bystander arms and cancels: how long its calls take.
pub fn stall(given: &Options, report: &Report, peer: Tasks) {
    const WARMUP_TIMERS: u64 = 100_000;
    const AHEAD_NS: i64 = 3 * SECOND;
    const BEFORE_NS: i64 = 100 * MILLISECOND; // the measured second starts so long before the burst
    let peer = Arc::new(peer);
    let _guard = peer.enter();
    let beside =
        Arc::new(Bystander { calls: Mutex::new(Histogram::new()), laps: AtomicU64::new(0) });
    {
        let (peer, beside) = (Arc::clone(&peer), Arc::clone(&beside));
        std::thread::spawn(move || beside.run(&peer));
    }
    let warm = WARMUP_TIMERS.min(given.timers);
    schedule_burst(Warmup, &peer, warm, now_ns() + AHEAD_NS / 3);
    Warmup.wait(warm, now_ns() + AHEAD_NS);

    let due = now_ns() + AHEAD_NS;
    schedule_burst(Measured, &peer, given.timers, due);
    report.number("filled_before_burst_ms", (due - now_ns()) as f64 / 1e6);
    sleep_until(due - BEFORE_NS);
    let laps = beside.laps.load(Ordering::Relaxed);
    beside.take();
    sleep_until(due - BEFORE_NS + SECOND);
    let fired_in_window = Measured.fired();
    let calls = beside.take();
    if beside.laps.load(Ordering::Relaxed) == laps {
        report.fail("the bystander has done nothing");
    }
    report.percentiles("schedule", &calls);
    report.count("fired_in_window", fired_in_window);
    if Measured.wait(given.timers, now_ns() + PATIENCE_NS) {
        let lateness = Measured.lateness();
        report.number("last_fired_late_ms", lateness.max_ns as f64 / 1e6);
        report.count("early", lateness.early);
    } else {
        report.count("unfired", given.timers - Measured.fired());
    }
    if STRAYS.load(Ordering::Relaxed) != 0 || Measured.fired() > given.timers {
        report.fail("timers fired that were cancelled, or twice");
    }
}
