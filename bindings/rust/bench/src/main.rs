// SPDX-License-Identifier: MIT
//! Measures `htw::Wheel` beside tokio-util's DelayQueue: nanoseconds of processor time for each timer, the median of
//! three rounds.
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::time::delay_queue::{DelayQueue, Key};

/// Timeouts as a server has them: 30 to 60 s, in ticks of 1 ms.
const SHORTEST: u64 = 30_000;
const LONGEST: u64 = 60_000;
/// The clock goes on by so many ticks between two polls.
const STEP: u64 = 10;

/// What is measured of each kind. All methods work on the timers that `schedule` has made.
trait Kind {
    const NAME: &'static str;
    fn new() -> Self;
    fn schedule(&mut self, deadlines: &[u64]);
    /// Gives each timer a deadline that is 5 s later.
    fn reschedule(&mut self, order: &[usize], deadlines: &[u64]);
    fn cancel(&mut self, order: &[usize]);
    /// Lets all timers expire, and returns how many have.
    fn expire(&mut self, last: u64) -> usize;
}

struct Htw {
    wheel: htw::Wheel<u64>,
    keys: Vec<htw::Key>,
}

impl Kind for Htw {
    const NAME: &'static str = "`htw::Wheel`";

    fn new() -> Htw {
        Htw { wheel: htw::Wheel::new(), keys: Vec::new() }
    }

    fn schedule(&mut self, deadlines: &[u64]) {
        let timers = deadlines.iter().enumerate();
        self.keys = timers.map(|(id, deadline)| self.wheel.insert(*deadline, id as u64)).collect();
    }

    fn reschedule(&mut self, order: &[usize], deadlines: &[u64]) {
        for i in order {
            assert!(self.wheel.reschedule(self.keys[*i], deadlines[*i] + 5000));
        }
    }

    fn cancel(&mut self, order: &[usize]) {
        for i in order {
            assert!(self.wheel.remove(self.keys[*i]).is_some());
        }
    }

    fn expire(&mut self, last: u64) -> usize {
        let steps = (0..=last).step_by(STEP as usize);
        steps.map(|now| self.wheel.expire(now + STEP).count()).sum()
    }
}

/// In a runtime whose clock stands still, and is advanced.
struct Tokio {
    runtime: tokio::runtime::Runtime,
    start: Instant,
    queue: DelayQueue<u64>,
    keys: Vec<Key>,
}

/// Takes all that is due, and does not wait for more.
struct TakeDue<'a>(&'a mut DelayQueue<u64>);

impl Future for TakeDue<'_> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<usize> {
        let mut count = 0;
        while let Poll::Ready(Some(_)) = self.0.poll_expired(context) {
            count += 1;
        }
        Poll::Ready(count)
    }
}

impl Tokio {
    fn at(&self, deadline: u64) -> Instant {
        self.start + Duration::from_millis(deadline)
    }
}

impl Kind for Tokio {
    const NAME: &'static str = "tokio-util `DelayQueue`";

    fn new() -> Tokio {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().unwrap();
        let (start, queue) = runtime.block_on(async { (Instant::now(), DelayQueue::new()) });
        Tokio { runtime, start, queue, keys: Vec::new() }
    }

    fn schedule(&mut self, deadlines: &[u64]) {
        let handle = self.runtime.handle().clone();
        let _inside = handle.enter();
        for (id, deadline) in deadlines.iter().enumerate() {
            let key = self.queue.insert_at(id as u64, self.at(*deadline));
            self.keys.push(key);
        }
    }

    fn reschedule(&mut self, order: &[usize], deadlines: &[u64]) {
        let handle = self.runtime.handle().clone();
        let _inside = handle.enter();
        for i in order {
            let deadline = self.at(deadlines[*i] + 5000);
            self.queue.reset_at(&self.keys[*i], deadline);
        }
    }

    fn cancel(&mut self, order: &[usize]) {
        let handle = self.runtime.handle().clone();
        let _inside = handle.enter();
        for i in order {
            self.queue.remove(&self.keys[*i]);
        }
    }

    fn expire(&mut self, last: u64) -> usize {
        let queue = &mut self.queue;
        self.runtime.block_on(tokio::task::unconstrained(async {
            let mut count = 0;
            for _ in (0..=last).step_by(STEP as usize) {
                tokio::time::advance(Duration::from_millis(STEP)).await;
                count += TakeDue(queue).await;
            }
            count
        }))
    }
}

/// Numbers without an order, the same in each run.
fn scatter(i: usize) -> u64 {
    let product = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ (product >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
}

fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn clocked(count: usize, work: impl FnOnce()) -> f64 {
    let start = processor_time();
    work();
    (processor_time() - start) / count as f64
}

/// One round: schedule, move and cancel all timers; schedule again, and let them expire.
fn round<K: Kind>(deadlines: &[u64], order: &[usize]) -> [f64; 4] {
    let count = deadlines.len();
    let mut kind = K::new();
    let schedule = clocked(count, || kind.schedule(deadlines));
    let reschedule = clocked(count, || kind.reschedule(order, deadlines));
    let cancel = clocked(count, || kind.cancel(order));
    let mut kind = K::new();
    kind.schedule(deadlines);
    let mut expired = 0;
    let expire = clocked(count, || expired = kind.expire(LONGEST));
    assert_eq!(expired, count, "{}", K::NAME);
    [schedule, reschedule, cancel, expire]
}

/// Prints a row of the table.
fn measure<K: Kind>(deadlines: &[u64], order: &[usize]) {
    print!("| {} | {} |", K::NAME, deadlines.len());
    let rounds: Vec<_> = (0..3).map(|_| round::<K>(deadlines, order)).collect();
    for column in 0..4 {
        let mut figures: Vec<f64> = rounds.iter().map(|figures| figures[column]).collect();
        figures.sort_by(f64::total_cmp);
        print!(" {:.0} |", figures[1]);
    }
    println!();
}

fn main() {
    println!("| | timers | schedule | move | cancel | expire |\n|---|---|---|---|---|---|");
    for count in [100_000, 1_000_000] {
        let deadlines: Vec<u64> =
            (0..count).map(|i| SHORTEST + scatter(i) % (LONGEST - SHORTEST)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|i| scatter(count + i));
        measure::<Htw>(&deadlines, &order);
        measure::<Tokio>(&deadlines, &order);
    }
}
