// SPDX-License-Identifier: MIT
//! stats.rs - the statistics of a scheduler.
use crate::shared::Shared;
use crate::Error;
use htw_sys::*;
use std::mem::MaybeUninit;
use std::time::Duration;

/// How often a duration was measured, and how long it was. Percentiles are at most 1/64 too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distribution {
    /// How often.
    pub count: u64,
    /// The sum.
    pub sum: Duration,
    /// Half of them were no longer.
    pub p50: Duration,
    /// Nine of ten.
    pub p90: Duration,
    /// 99 of 100.
    pub p99: Duration,
    /// 999 of 1000.
    pub p999: Duration,
    /// The longest.
    pub max: Duration,
}

/// What a [`Scheduler`](crate::Scheduler) has done since it was created. When no thread is in a call
/// and nothing runs, `scheduled = fired + cancelled + handed_back + pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedulerStats {
    /// Timers scheduled.
    pub scheduled: u64,
    /// Timers that ended with a run.
    pub fired: u64,
    /// Timers that were cancelled or replaced.
    pub cancelled: u64,
    /// Timers that had not run when the scheduler was stopped.
    pub handed_back: u64,
    /// Runs of closures.
    pub runs: u64,
    /// Runs that started later than the threshold for that.
    pub late: u64,
    /// Periods that were skipped.
    pub missed: u64,
    /// Timers refused because too many were pending.
    pub refused: u64,
    /// How often a timer got another deadline.
    pub moved: u64,
    /// How often a timer was moved to a lower level of its wheel.
    pub demoted: u64,
    /// How often a thread woke up to serve deadlines.
    pub wakeups: u64,
    /// How often it then found nothing due.
    pub empty_wakeups: u64,
    /// Timers that are pending.
    pub pending: u64,
    /// Closures that are running.
    pub running: u64,
    /// The memory of the scheduler with its timers, without the closures.
    pub memory_bytes: u64,
    /// From the deadline to the start of a run.
    pub lateness: Distribution,
    /// How long closures ran.
    pub callback: Distribution,
}

impl Distribution {
    pub(crate) fn new(raw: &htw_distribution) -> Distribution {
        Distribution {
            count: raw.count,
            sum: Duration::from_nanos(raw.sum_ns),
            p50: Duration::from_nanos(raw.p50_ns),
            p90: Duration::from_nanos(raw.p90_ns),
            p99: Duration::from_nanos(raw.p99_ns),
            p999: Duration::from_nanos(raw.p999_ns),
            max: Duration::from_nanos(raw.max_ns),
        }
    }
}

impl SchedulerStats {
    pub(crate) fn of(scheduler: &Shared) -> Result<SchedulerStats, Error> {
        let mut stats = MaybeUninit::uninit();
        // SAFETY: the library fills in all members.
        let raw = unsafe {
            htw_scheduler_stats_init(stats.as_mut_ptr());
            Error::check(htw_scheduler_get_stats(scheduler.raw(), stats.as_mut_ptr()))?;
            stats.assume_init()
        };
        Ok(SchedulerStats {
            scheduled: raw.scheduled,
            fired: raw.fired,
            cancelled: raw.cancelled,
            handed_back: raw.handed_back,
            runs: raw.runs,
            late: raw.late,
            missed: raw.missed,
            refused: raw.refused,
            moved: raw.moved,
            demoted: raw.demoted,
            wakeups: raw.wakeups,
            empty_wakeups: raw.empty_wakeups,
            pending: raw.pending,
            running: raw.running,
            memory_bytes: raw.memory_bytes,
            lateness: Distribution::new(&raw.lateness),
            callback: Distribution::new(&raw.callback),
        })
    }
}
