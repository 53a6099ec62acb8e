// SPDX-License-Identifier: MIT
//! Timers that are armed and cancelled.
use crate::delays::{Delays, MILLISECOND, SECOND};
use crate::machine::{cpu_ns, enough_bytes, nanoseconds, now_ns, resident_bytes, sleep_until};
use crate::peer::{Peer, STRAYS};
use crate::report::Report;
use crate::Options;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::thread::{spawn, JoinHandle};

const LAG: usize = 1000; // pending timers of a producer
const BATCH: usize = 100;
const BATCHES: usize = 64; // between producer and canceller
const PATIENCE_NS: i64 = 5 * SECOND;

static STOPPING: AtomicBool = AtomicBool::new(false);

/// How many pairs a thread has done, in a cache line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Pairs(AtomicU64);

impl Pairs {
    fn add(&self, count: usize) {
        self.0.store(self.0.load(Ordering::Relaxed) + count as u64, Ordering::Relaxed);
    }
}

/// Runs while the threads do: reads what they have done at the start and at the end of the measured time, then
/// stops them, and checks that no timer is left.
fn measure<P: Peer>(
    given: &Options,
    report: &Report,
    peer: &P,
    pairs: &[Arc<Pairs>],
    threads: Vec<JoinHandle<()>>,
) {
    let done = || pairs.iter().map(|each| each.0.load(Ordering::Relaxed)).sum::<u64>();
    let enough = enough_bytes();
    sleep_until(now_ns() + nanoseconds(given.warmup));
    let (before, cpu_before, start) = (done(), cpu_ns(), now_ns());
    let end = start + nanoseconds(given.seconds);
    let mut pending_max = 0;
    let mut samples = 0;
    while now_ns() < end {
        sleep_until(now_ns() + 10 * MILLISECOND);
        pending_max = pending_max.max(peer.pending().unwrap_or(0));
        samples += 1;
        if samples % 10 == 0 && resident_bytes() > enough {
            report.out_of_memory();
        }
    }
    let seconds = (now_ns() - start) as f64 / 1e9;
    let cpu = cpu_ns() - cpu_before;
    let count = done() - before;
    if count == 0 {
        report.fail("no pair was done in the measured time");
    }
    report.number("pairs_per_s", count as f64 / seconds);
    report.number("cpu_ns_per_pair", cpu as f64 / count as f64);
    if peer.pending().is_some() {
        report.count("pending_max", pending_max);
    }
    STOPPING.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("a thread has panicked");
    }
    let patience = now_ns() + PATIENCE_NS;
    while peer.pending().unwrap_or(0) != 0 {
        if now_ns() > patience {
            report.fail("timers are left that were cancelled");
        }
        sleep_until(now_ns() + 10 * MILLISECOND);
    }
    if STRAYS.load(Ordering::Relaxed) != 0 {
        report.fail("timers fired that were to be cancelled long before");
    }
}

/// Each producer arms a timer and cancels the one that it armed 1000 before.
pub fn threads<P: Peer>(given: &Options, report: &Report, peer: P) {
    let peer = Arc::new(peer);
    let mut pairs = Vec::new();
    let mut threads = Vec::new();
    for number in 0..given.producers {
        let mine = Arc::new(Pairs::default());
        pairs.push(Arc::clone(&mine));
        let peer = Arc::clone(&peer);
        threads.push(spawn(move || {
            let _guard = peer.enter();
            let mut delays = Delays::new(number, SECOND, 30 * SECOND);
            let mut timers: Vec<_> = (0..LAG).map(|_| peer.arm(delays.next_ns())).collect();
            while !STOPPING.load(Ordering::Relaxed) {
                for timer in &mut timers {
                    let oldest = std::mem::replace(timer, peer.arm(delays.next_ns()));
                    peer.cancel(oldest);
                }
                mine.add(LAG);
            }
            for timer in timers {
                peer.cancel(timer);
            }
        }));
    }
    measure(given, report, &*peer, &pairs, threads);
}

fn produce<P: Peer>(
    peer: &P,
    mut delays: Delays,
    batches: SyncSender<Vec<P::Timer>>,
    empty: Receiver<Vec<P::Timer>>,
) {
    let _guard = peer.enter();
    while !STOPPING.load(Ordering::Relaxed) {
        let mut batch = empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        batch.extend((0..BATCH).map(|_| peer.arm(delays.next_ns())));
        batches.send(batch).expect("the canceller has gone");
    }
}

fn cancel<P: Peer>(
    peer: &P,
    mine: &Pairs,
    batches: Receiver<Vec<P::Timer>>,
    empty: SyncSender<Vec<P::Timer>>,
) {
    for mut batch in batches {
        for timer in batch.drain(..) {
            peer.cancel(timer);
        }
        mine.add(BATCH);
        let _ = empty.try_send(batch);
    }
}

/// Each producer arms timers, and another thread cancels them. Batches and their memory go through channels.
pub fn foreign<P: Peer>(given: &Options, report: &Report, peer: P) {
    let peer = Arc::new(peer);
    let mut pairs = Vec::new();
    let mut threads = Vec::new();
    for number in 0..given.producers {
        let mine = Arc::new(Pairs::default());
        pairs.push(Arc::clone(&mine));
        let (batches, full) = sync_channel(BATCHES);
        let (returned, empty) = sync_channel(BATCHES);
        let delays = Delays::new(number, SECOND, 30 * SECOND);
        let (producer, canceller) = (Arc::clone(&peer), Arc::clone(&peer));
        threads.push(spawn(move || produce(&*producer, delays, batches, empty)));
        threads.push(spawn(move || cancel(&*canceller, &mine, full, returned)));
    }
    measure(given, report, &*peer, &pairs, threads);
}
