// SPDX-License-Identifier: MIT
//! How many timers have fired, and how late. Each thread that runs callbacks has counters of its own.
use crate::delays::{Delays, MILLISECOND};
use crate::histogram::Histogram;
use crate::machine::{nanoseconds, now_ns, sleep_until};
use crate::peer::Tasks;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

struct Tally {
    count: AtomicU64,           // written last, and read first
    lateness: Mutex<Histogram>, // its thread alone takes it until the end
}

/// Two, so that late timers of the warm-up are not measured.
#[derive(Clone, Copy)]
pub enum Phase {
    Warmup,
    Measured,
}

type Tallies = [Tally; 2];

static ALL: Mutex<Vec<&'static Tallies>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Cell<Option<&'static Tallies>> = const { Cell::new(None) };
}

fn own() -> &'static Tallies {
    OWN.get().unwrap_or_else(|| {
        let empty = || Tally { count: AtomicU64::new(0), lateness: Mutex::new(Histogram::new()) };
        let made: &'static Tallies = Box::leak(Box::new([empty(), empty()]));
        ALL.lock().unwrap().push(made);
        OWN.set(Some(made));
        made
    })
}

impl Phase {
    /// Schedules a timer that is counted here. Its delay counts from before the call.
    pub fn schedule(self, peer: &Tasks, delay_ns: i64) {
        let deadline_ns = now_ns() + delay_ns;
        peer.schedule(delay_ns, move || {
            let tally = &own()[self as usize];
            tally.lateness.lock().unwrap().record(now_ns() - deadline_ns);
            tally.count.store(tally.count.load(Ordering::Relaxed) + 1, Ordering::Release);
        });
    }

    /// Schedules so many timers each millisecond, and catches up if it is late. Returns how many.
    pub fn keep_pace(
        self,
        peer: &Tasks,
        delays: &mut Delays,
        timers_per_ms: u64,
        seconds: f64,
    ) -> u64 {
        let periods = nanoseconds(seconds) / MILLISECOND;
        let start_ns = now_ns();
        for i in 0..periods {
            sleep_until(start_ns + i * MILLISECOND);
            for _ in 0..timers_per_ms {
                self.schedule(peer, delays.next_ns());
            }
        }
        sleep_until(start_ns + periods * MILLISECOND);
        periods as u64 * timers_per_ms
    }

    pub fn fired(self) -> u64 {
        let all = ALL.lock().unwrap();
        all.iter().map(|tallies| tallies[self as usize].count.load(Ordering::Acquire)).sum()
    }

    /// Waits until so many have fired. Returns false if they have not by the deadline.
    pub fn wait(self, count: u64, deadline_ns: i64) -> bool {
        while self.fired() < count {
            let now = now_ns();
            if now >= deadline_ns {
                return false;
            }
            sleep_until(now + MILLISECOND);
        }
        true
    }

    pub fn lateness(self) -> Histogram {
        let mut sum = Histogram::new();
        for tallies in ALL.lock().unwrap().iter() {
            sum.merge(&tallies[self as usize].lateness.lock().unwrap());
        }
        sum
    }
}
