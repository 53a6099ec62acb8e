// SPDX-License-Identifier: MIT
//! Timers that wait.
use crate::delays::{Delays, MILLISECOND, SECOND};
use crate::expirations::Phase::{Measured, Warmup};
use crate::machine::{nanoseconds, now_ns, resident_bytes, sleep_until, threads};
use crate::peer::{Peer, Tasks, STRAYS};
use crate::report::Report;
use crate::Options;
use std::sync::atomic::Ordering;
use tokio::task::AbortHandle;

const PATIENCE_NS: i64 = 60 * SECOND;

/// One timer that is an hour away: what waiting for it costs.
pub fn idle(given: &Options, report: &Report, peer: Tasks) {
    let _guard = peer.enter();
    peer.arm(3600 * SECOND);
    sleep_until(now_ns() + nanoseconds(given.warmup));
    let (main_before, before) = threads();
    sleep_until(now_ns() + nanoseconds(given.seconds));
    let (main, others) = threads();
    let (switches, cpu_ns) = (others.switches - before.switches, others.cpu_ns - before.cpu_ns);
    report.number("measured_s", given.seconds);
    report.count("wakeups_timer_thread", switches);
    report.count("wakeups_process", switches + main.switches - main_before.switches);
    report.number("cpu_ms_timer_thread", cpu_ns as f64 / 1e6);
    report.number("cpu_ms_process", (cpu_ns + main.cpu_ns - main_before.cpu_ns) as f64 / 1e6);
    if peer.pending() != Some(1) {
        report.fail("the timer is not pending any more");
    }
}

/// Waits until the runtime has so many tasks, each of which has armed its timer by then.
fn settle(report: &Report, peer: &Tasks, tasks: u64) {
    let patience = now_ns() + PATIENCE_NS;
    while peer.pending() != Some(tasks) {
        if now_ns() > patience {
            report.fail("timers are left that were cancelled");
        }
        sleep_until(now_ns() + 10 * MILLISECOND);
    }
    sleep_until(now_ns() + SECOND);
}

type Kept = Vec<Option<AbortHandle>>;

fn schedule(peer: &Tasks, timers: u64, kept: &mut Kept) {
    let mut delays = Delays::new(1, 3600 * SECOND, 7200 * SECOND);
    for slot in &mut kept[..timers as usize] {
        *slot = Some(peer.arm(delays.next_ns()));
    }
}

fn cancel(report: &Report, peer: &Tasks, kept: &mut Kept) {
    for timer in kept.iter_mut().filter_map(Option::take) {
        peer.cancel(timer);
    }
    settle(report, peer, 0);
}

/// A million pending timers; then ten million that fire, and ten million that are cancelled.
pub fn memory(given: &Options, report: &Report) {
    let many = 10 * given.timers;
    let mut kept = Kept::new();
    kept.resize_with(many as usize, || None); // resident from now on
    let without = resident_bytes();
    let peer = Tasks::start();
    let _guard = peer.enter();
    Warmup.schedule(&peer, MILLISECOND);
    if !Warmup.wait(1, now_ns() + PATIENCE_NS) {
        report.fail("a timer did not fire");
    }
    settle(report, &peer, 0);
    let before = resident_bytes();
    report.count("fixed_bytes", before - without);

    schedule(&peer, given.timers, &mut kept);
    settle(report, &peer, given.timers);
    let full = resident_bytes();
    report.number("bytes_per_timer", (full as f64 - before as f64) / given.timers as f64);
    cancel(report, &peer, &mut kept);

    let mut delays = Delays::new(2, 0, SECOND);
    let due = now_ns() + 10 * SECOND;
    for _ in 0..many {
        Measured.schedule(&peer, due + delays.next_ns() - now_ns());
    }
    let peak = resident_bytes();
    report.count("pending_at_peak", peer.pending().unwrap_or(0));
    if !Measured.wait(many, now_ns() + 2 * PATIENCE_NS) {
        report.fail("timers did not fire");
    }
    let left = |peak: u64| {
        sleep_until(now_ns() + SECOND);
        100.0 * (resident_bytes() as f64 - before as f64) / (peak as f64 - before as f64)
    };
    report.number("memory_left_percent", left(peak));

    schedule(&peer, many, &mut kept);
    settle(report, &peer, many);
    let peak = resident_bytes();
    cancel(report, &peer, &mut kept);
    report.number("memory_left_cancelled_percent", left(peak));
    if STRAYS.load(Ordering::Relaxed) != 0 {
        report.fail("timers fired that were cancelled");
    }
}
