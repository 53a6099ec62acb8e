// SPDX-License-Identifier: MIT
//! time.rs - durations and instants as the library counts them: in nanoseconds of the scheduler's
//! clock.
use crate::Error;
use htw_sys::*;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clock of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Never set; stops while the machine is suspended. The clock of [`Instant`] on Linux.
    Monotonic,
    /// Never set; continues while the machine is suspended. Only on Linux.
    Boottime,
    /// The wall clock, that of [`SystemTime`]. When it is set, deadlines follow.
    Realtime,
    /// Changes only in [`Scheduler::advance`](crate::Scheduler::advance): for tests. It starts at
    /// 0.
    Manual,
}

impl Clock {
    pub(crate) fn raw(self) -> htw_clock {
        match self {
            Clock::Monotonic => HTW_CLOCK_MONOTONIC,
            Clock::Boottime => HTW_CLOCK_BOOTTIME,
            Clock::Realtime => HTW_CLOCK_REALTIME,
            Clock::Manual => HTW_CLOCK_MANUAL,
        }
    }
}

/// A time of a scheduler's clock. Made by `into()` from an [`Instant`], for [`Clock::Monotonic`];
/// from a [`SystemTime`], for [`Clock::Realtime`]; or from a [`Duration`] since the clock began,
/// for any clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Instant(Instant),
    SystemTime(SystemTime),
    SinceEpoch(Duration),
}

impl From<Instant> for Deadline {
    fn from(instant: Instant) -> Deadline {
        Deadline(Kind::Instant(instant))
    }
}

impl From<SystemTime> for Deadline {
    fn from(time: SystemTime) -> Deadline {
        Deadline(Kind::SystemTime(time))
    }
}

impl From<Duration> for Deadline {
    fn from(since_epoch: Duration) -> Deadline {
        Deadline(Kind::SinceEpoch(since_epoch))
    }
}

impl Deadline {
    /// In nanoseconds of a scheduler's clock, never too early. `now_ns` reads that clock.
    pub(crate) fn to_ns(self, clock: Clock, now_ns: impl Fn() -> i64) -> Result<i64, Error> {
        match (self.0, clock) {
            (Kind::Instant(instant), Clock::Monotonic) => {
                // In this order, so that the time between the two only makes the deadline later.
                let now = Instant::now();
                Ok(match instant.checked_duration_since(now) {
                    Some(delay) => now_ns().saturating_add(to_ns(delay)),
                    None => now_ns().saturating_sub(to_ns(now - instant)),
                })
            }
            (Kind::SystemTime(time), Clock::Realtime) => {
                Ok(match time.duration_since(UNIX_EPOCH) {
                    Ok(since) => to_ns(since),
                    Err(before) => -to_ns(before.duration()),
                })
            }
            (Kind::SinceEpoch(since), _) => Ok(to_ns(since)),
            _ => Err(Error::InvalidArgument),
        }
    }
}

/// What is too long for the library never ends.
pub(crate) fn to_ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(HTW_NEVER_NS)
}

/// Of a time that is not negative.
pub(crate) fn to_duration(ns: i64) -> Duration {
    Duration::from_nanos(ns.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_those_of_the_clock() {
        let ns = |deadline: Deadline, clock| deadline.to_ns(clock, || 5_000);
        let since = Duration::from_nanos(77);
        for clock in [Clock::Monotonic, Clock::Boottime, Clock::Realtime, Clock::Manual] {
            assert_eq!(ns(since.into(), clock), Ok(77));
            assert_eq!(ns(Duration::MAX.into(), clock), Ok(HTW_NEVER_NS));
        }
        assert_eq!(ns((UNIX_EPOCH + since).into(), Clock::Realtime), Ok(77));
        assert_eq!(ns((UNIX_EPOCH - since).into(), Clock::Realtime), Ok(-77));
        assert_eq!(ns(UNIX_EPOCH.into(), Clock::Monotonic), Err(Error::InvalidArgument));
        assert_eq!(ns(Instant::now().into(), Clock::Realtime), Err(Error::InvalidArgument));
    }

    #[test]
    fn instant_is_counted_from_the_present() {
        let hour = Duration::from_secs(3600);
        let before = Instant::now();
        let deadline = Deadline::from(before + hour).to_ns(Clock::Monotonic, || 0).unwrap();
        let spent = to_ns(before.elapsed());
        assert!(deadline <= to_ns(hour) && deadline >= to_ns(hour) - spent);
        let past = Deadline::from(before).to_ns(Clock::Monotonic, || HTW_HOUR).unwrap();
        assert!(past <= HTW_HOUR && past >= HTW_HOUR - to_ns(before.elapsed()));
    }
}
