// SPDX-License-Identifier: MIT
//! time.rs - durations and instants as the library counts them: in nanoseconds of a clock.
use htw_sys::*;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clock of a scheduler, or of one of its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Never set; stops while the machine is suspended. The clock of [`Instant`] on Linux.
    Monotonic = HTW_CLOCK_MONOTONIC as isize,
    /// Never set; continues while the machine is suspended. Only on Linux.
    Boottime = HTW_CLOCK_BOOTTIME as isize,
    /// The wall clock, that of [`SystemTime`]. When it is set, deadlines follow.
    Realtime = HTW_CLOCK_REALTIME as isize,
    /// Changes only in [`Scheduler::advance`](crate::Scheduler::advance) and
    /// [`set_clock`](crate::Scheduler::set_clock): for tests. It starts at 0. The other clocks of
    /// timers of such a scheduler are manual, too.
    Manual = HTW_CLOCK_MANUAL as isize,
}

impl Clock {
    pub(crate) fn raw(self) -> htw_clock {
        self as htw_clock
    }

    /// Of a timer or an expiration, which never has HTW_CLOCK_DEFAULT.
    pub(crate) fn from_raw(raw: htw_clock) -> Clock {
        let all = [Clock::Monotonic, Clock::Boottime, Clock::Realtime, Clock::Manual];
        let found = all.into_iter().find(|clock| clock.raw() == raw);
        found.expect("a clock that Rust has")
    }
}

/// A time of a clock. Made by `into()` from an [`Instant`], of [`Clock::Monotonic`]; from a
/// [`SystemTime`], of [`Clock::Realtime`]; or from a [`Duration`] since the clock began, of the
/// clock of the timer. In manual time there is no [`Instant`].
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
    /// The clock that this is a time of; none: any.
    pub(crate) fn clock(self) -> Option<Clock> {
        match self.0 {
            Kind::Instant(_) => Some(Clock::Monotonic),
            Kind::SystemTime(_) => Some(Clock::Realtime),
            Kind::SinceEpoch(_) => None,
        }
    }

    /// In nanoseconds of its clock, never too early. `monotonic_ns` reads the monotonic clock.
    pub(crate) fn to_ns(self, monotonic_ns: impl Fn() -> i64) -> i64 {
        match self.0 {
            Kind::Instant(instant) => {
                // In this order, so that the time between the two only makes the deadline later.
                let now = Instant::now();
                match instant.checked_duration_since(now) {
                    Some(delay) => monotonic_ns().saturating_add(to_ns(delay)),
                    None => monotonic_ns().saturating_sub(to_ns(now - instant)),
                }
            }
            Kind::SystemTime(time) => instant_ns(time),
            Kind::SinceEpoch(since) => to_ns(since),
        }
    }
}

/// The time since 1970, or before it.
pub(crate) fn instant_ns(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => to_ns(since),
        Err(before) => -to_ns(before.duration()),
    }
}

/// The time that so many nanoseconds since 1970 are.
#[cfg(any(feature = "calendar", feature = "journal"))]
pub(crate) fn time_of(ns: i64) -> SystemTime {
    let distance = Duration::from_nanos(ns.unsigned_abs());
    if ns < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
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
    fn deadlines_are_those_of_their_clock() {
        let ns = |deadline: Deadline| deadline.to_ns(|| 5_000);
        let since = Duration::from_nanos(77);
        assert_eq!((ns(since.into()), Deadline::from(since).clock()), (77, None));
        assert_eq!(ns(Duration::MAX.into()), HTW_NEVER_NS);
        let time = Deadline::from(UNIX_EPOCH + since);
        assert_eq!((ns(time), time.clock()), (77, Some(Clock::Realtime)));
        assert_eq!(ns((UNIX_EPOCH - since).into()), -77);
        assert_eq!(Deadline::from(Instant::now()).clock(), Some(Clock::Monotonic));
        for clock in [Clock::Monotonic, Clock::Boottime, Clock::Realtime, Clock::Manual] {
            assert_eq!(Clock::from_raw(clock.raw()), clock);
        }
    }

    #[test]
    fn instant_is_counted_from_the_present() {
        let hour = Duration::from_secs(3600);
        let before = Instant::now();
        let deadline = Deadline::from(before + hour).to_ns(|| 0);
        let spent = to_ns(before.elapsed());
        assert!(deadline <= to_ns(hour) && deadline >= to_ns(hour) - spent);
        let past = Deadline::from(before).to_ns(|| HTW_HOUR);
        assert!(past <= HTW_HOUR && past >= HTW_HOUR - to_ns(before.elapsed()));
    }
}
