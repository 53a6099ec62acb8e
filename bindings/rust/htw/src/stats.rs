// SPDX-License-Identifier: MIT
//! stats.rs - the statistics of a scheduler.
use htw_sys::*;
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

/// Statistics: the names of their counters, and of their distributions.
macro_rules! stats {
    ($(#[$about:meta])* $stats:ident of $raw:ident;
     $($(#[$doc:meta])* $count:ident,)* ; $($(#[$distribution_doc:meta])* $distribution:ident,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $stats {
            $($(#[$doc])* pub $count: u64,)*
            $($(#[$distribution_doc])* pub $distribution: Distribution,)*
        }

        impl $stats {
            pub(crate) fn of(raw: &$raw) -> $stats {
                $stats {
                    $($count: raw.$count,)*
                    $($distribution: Distribution::new(&raw.$distribution),)*
                }
            }
        }
    };
}
#[cfg(feature = "journal")]
pub(crate) use stats;

stats! {
    /// What a [`Scheduler`](crate::Scheduler) has done since it was created. When no thread is in a call
    /// and nothing runs, `scheduled = fired + cancelled + handed_back + pending`.
    SchedulerStats of htw_scheduler_stats;
    /// Timers scheduled.
    scheduled,
    /// Timers that ended with a run.
    fired,
    /// Timers that were cancelled or replaced.
    cancelled,
    /// Timers that had not run when the scheduler was stopped.
    handed_back,
    /// Runs of closures.
    runs,
    /// Runs that started later than the threshold for that.
    late,
    /// Periods that were skipped.
    missed,
    /// Timers refused because too many were pending.
    refused,
    /// How often a timer got another deadline.
    moved,
    /// How often a timer was moved to a lower level of its wheel.
    demoted,
    /// How often a thread woke up to serve deadlines.
    wakeups,
    /// How often it then found nothing due.
    empty_wakeups,
    /// Timers that are pending.
    pending,
    /// Closures that are running.
    running,
    /// The memory of the scheduler with its timers, without the closures.
    memory_bytes,
    ;
    /// From the deadline to the start of a run.
    lateness,
    /// How long closures ran.
    callback,
}
