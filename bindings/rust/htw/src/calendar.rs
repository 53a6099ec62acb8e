// SPDX-License-Identifier: MIT
//! calendar.rs - local times in a time zone, and timers that repeat by them (feature `calendar`).
use crate::callback::{Callback, Expiration};
use crate::group::Group;
use crate::raw::{c_text, opaque, setters, sized};
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::site::site_of;
use crate::time::{instant_ns, time_of, to_ns};
use crate::timer::Timer;
use crate::Error;
use htw_sys::*;
use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::BitOr;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The rules of a time zone, which do not change.
///
/// They are those of the system (tzdata), which are read once in a process.
pub struct Zone {
    raw: NonNull<htw_zone>,
}

// SAFETY: a zone does not change; the library counts its references atomically.
unsafe impl Send for Zone {}
unsafe impl Sync for Zone {}

impl Zone {
    /// Loads a zone by its name of tzdata, such as "Europe/Berlin" or "UTC".
    /// [`Error::NotFound`]: there is no such zone.
    pub fn new(name: &str) -> Result<Zone, Error> {
        let name = c_text(name)?;
        Zone::load(name.as_ptr())
    }

    /// Loads the local time zone of the process: that of the variable TZ, or /etc/localtime.
    pub fn local() -> Result<Zone, Error> {
        Zone::load(ptr::null())
    }

    fn load(name: *const c_char) -> Result<Zone, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is a string or NULL.
        Error::check(unsafe { htw_zone_create(&mut raw, name) })?;
        Ok(Zone { raw: NonNull::new(raw).expect("a zone was loaded") })
    }

    /// By how many seconds local time is ahead of UTC; negative west of Greenwich.
    pub fn offset(&self, time: SystemTime) -> i32 {
        // SAFETY: the zone exists.
        unsafe { htw_zone_offset(self.raw.as_ptr(), instant_ns(time)) }
    }
}

impl Drop for Zone {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it; timers have references of their own.
        unsafe { htw_zone_destroy(self.raw.as_ptr()) };
    }
}

fn raw_zone(zone: Option<&Zone>) -> *const htw_zone {
    zone.map_or(ptr::null(), |zone| zone.raw.as_ptr())
}

/// Days of the week, to be combined with `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weekdays(c_uint);

#[allow(missing_docs)]
impl Weekdays {
    pub const SUNDAY: Weekdays = Weekdays(HTW_SUNDAY);
    pub const MONDAY: Weekdays = Weekdays(HTW_MONDAY);
    pub const TUESDAY: Weekdays = Weekdays(HTW_TUESDAY);
    pub const WEDNESDAY: Weekdays = Weekdays(HTW_WEDNESDAY);
    pub const THURSDAY: Weekdays = Weekdays(HTW_THURSDAY);
    pub const FRIDAY: Weekdays = Weekdays(HTW_FRIDAY);
    pub const SATURDAY: Weekdays = Weekdays(HTW_SATURDAY);
    pub const MONDAY_TO_FRIDAY: Weekdays = Weekdays(HTW_WEEKDAYS);
    pub const EVERY_DAY: Weekdays = Weekdays(HTW_EVERY_DAY);
}

impl BitOr for Weekdays {
    type Output = Weekdays;
    fn bitor(self, other: Weekdays) -> Weekdays {
        Weekdays(self.0 | other.0)
    }
}

/// A text is no cron expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CronError {
    /// Where in the text the error is, in bytes.
    pub position: usize,
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no cron expression: error at position {}", self.position)
    }
}

impl std::error::Error for CronError {}

/// A set of local times, such as "03:00 every day": a value, which is read from a cron expression
/// by [`parse`](str::parse), and written as one by `to_string()`.
///
/// ```
/// use htw::{Calendar, Zone};
/// use std::time::{Duration, UNIX_EPOCH};
///
/// let nightly: Calendar = "30 2 * * *".parse()?;
/// let berlin = Zone::new("Europe/Berlin")?;
/// // In the night to 31 March 2024 clocks go from 02:00 to 03:00, which is 01:00 UTC.
/// let midnight = UNIX_EPOCH + Duration::from_secs(1711839600);
/// let next = nightly.next(midnight, Some(&berlin)).unwrap();
/// assert_eq!(next, midnight + Duration::from_secs(2 * 3600));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The guide of the C library explains expressions and daylight saving: docs/calendar.md.
#[derive(Clone, Copy)]
pub struct Calendar {
    raw: htw_calendar,
}

impl Calendar {
    /// Of a function that fills in a calendar, and returns 0.
    fn make(fill: impl FnOnce(*mut htw_calendar) -> c_int) -> Result<Calendar, Error> {
        let mut raw = MaybeUninit::uninit();
        Error::check(fill(raw.as_mut_ptr()))?;
        // SAFETY: it was filled in.
        Ok(Calendar { raw: unsafe { raw.assume_init() } })
    }

    /// One local time every day.
    pub fn daily(hour: u8, minute: u8, second: u8) -> Result<Calendar, Error> {
        // SAFETY: `raw` may be written, here and below.
        Calendar::make(|raw| unsafe {
            htw_calendar_daily(raw, hour.into(), minute.into(), second.into())
        })
    }

    /// One local time on days of the week.
    pub fn weekly(days: Weekdays, hour: u8, minute: u8, second: u8) -> Result<Calendar, Error> {
        Calendar::make(|raw| unsafe {
            htw_calendar_weekly(raw, days.0, hour.into(), minute.into(), second.into())
        })
    }

    /// One local time on a day of each month that has it: 1 to 31; -1: the last day.
    pub fn monthly(day: i8, hour: u8, minute: u8, second: u8) -> Result<Calendar, Error> {
        Calendar::make(|raw| unsafe {
            htw_calendar_monthly(raw, day.into(), hour.into(), minute.into(), second.into())
        })
    }

    /// The first instant after another one, in a time zone or UTC. `None`: there is none until the
    /// year 2262.
    pub fn next(&self, after: SystemTime, zone: Option<&Zone>) -> Option<SystemTime> {
        // SAFETY: calendar and zone exist, here and below.
        let ns = unsafe { htw_calendar_next(&self.raw, raw_zone(zone), instant_ns(after)) };
        (ns != HTW_NEVER_NS).then(|| time_of(ns))
    }

    /// The last instant before another one. `None`: there is none since the year 1678.
    pub fn previous(&self, before: SystemTime, zone: Option<&Zone>) -> Option<SystemTime> {
        let ns = unsafe { htw_calendar_previous(&self.raw, raw_zone(zone), instant_ns(before)) };
        (ns != i64::MIN).then(|| time_of(ns))
    }
}

impl FromStr for Calendar {
    type Err = CronError;

    fn from_str(expression: &str) -> Result<Calendar, CronError> {
        let text = CString::new(expression)
            .map_err(|error| CronError { position: error.nul_position() })?;
        let mut position = 0;
        // SAFETY: the text is a string.
        Calendar::make(|raw| unsafe { htw_calendar_cron(raw, text.as_ptr(), &mut position) })
            .map_err(|_| CronError { position })
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0 as c_char; HTW_CALENDAR_TEXT_MAX as usize];
        // SAFETY: the library writes a string of at most this size.
        let text = unsafe {
            htw_calendar_format(&self.raw, text.as_mut_ptr(), text.len());
            CStr::from_ptr(text.as_ptr())
        };
        f.pad(&text.to_string_lossy())
    }
}

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Calendar(\"{}\")", self)
    }
}

impl PartialEq for Calendar {
    fn eq(&self, other: &Calendar) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Calendar {}

/// Describes a timer that repeats by a calendar; [`schedule`](CalendarTimer::schedule) schedules it.
/// See [`Scheduler::calendar_timer`].
#[must_use = "nothing is scheduled before schedule()"]
pub struct CalendarTimer<'a> {
    scheduler: &'a Arc<Shared>,
    spec: htw_calendar_spec,
    name: Option<&'static str>,
    borrows: PhantomData<&'a [u8]>, // zone, keys and group
}

impl Scheduler {
    /// Describes a timer that repeats by a calendar. Its clock is
    /// [`Clock::Realtime`](crate::Clock::Realtime), whatever that of the scheduler is.
    ///
    /// ```no_run
    /// # fn back_up() {}
    /// let scheduler = htw::Scheduler::new()?;
    /// let berlin = htw::Zone::new("Europe/Berlin")?;
    /// let working_days: htw::Calendar = "0 3 * * mon-fri".parse()?;
    /// let backup =
    ///     scheduler.calendar_timer(&working_days).zone(&berlin).schedule(|_| back_up())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calendar_timer(&self, calendar: &Calendar) -> CalendarTimer<'_> {
        let mut spec = sized!(htw_calendar_spec);
        spec.calendar = calendar.raw;
        CalendarTimer { scheduler: self.shared(), spec, name: None, borrows: PhantomData }
    }
}

impl<'a> CalendarTimer<'a> {
    setters! {
        /// The time zone; without it UTC.
        zone(zone: &'a Zone) self => self.spec.zone = zone.raw.as_ptr();

        /// Instants after this one count, for example the last for which the program knows that it ran;
        /// without it, those after now.
        after(time: SystemTime) self => {
            self.spec.after_ns = match instant_ns(time) {
                0 => 1, // to C 0 means now
                after_ns => after_ns,
            };
        };

        /// Each run is later by the same part of this time, up to a day, which the key selects: so that
        /// the machines of a fleet spread.
        jitter(jitter: Duration, key: &'a [u8]) self => {
            self.spec.jitter_ns = to_ns(jitter);
            self.spec.jitter_key = key.as_ptr() as *const c_void;
            self.spec.jitter_key_size = key.len();
        };

        /// An instant is missed if the closure runs more than this later; without it a minute.
        grace(grace: Duration) self => self.spec.grace_ns = to_ns(grace).max(1); // to C 0 means a minute

        /// How many missed instants run late. 0: none, and the next run receives their number; 1, as
        /// without this: one run for all of them; N, up to 1000: the last N, the oldest first.
        catch_up(runs: u32) self => {
            self.spec.catch_up = if runs == 0 { HTW_CALENDAR_NO_CATCH_UP } else { runs };
        };

        /// The key, as [`Builder::key`](crate::Builder::key).
        key(key: &'a [u8]) self => {
            self.spec.key = key.as_ptr() as *const c_void;
            self.spec.key_size = key.len();
        };

        /// As [`Builder::keep_existing`](crate::Builder::keep_existing).
        keep_existing() self => self.spec.keep_existing = true;

        /// The group, which must be of the same scheduler.
        group(group: &'a Group) self => self.spec.group = group.raw();

        /// As [`Builder::name`](crate::Builder::name).
        name(name: &'static str) self => self.name = Some(name);
    }

    /// Schedules a closure that runs at each instant, until the timer is cancelled. Its expiration
    /// has the instant as `deadline`, and as `missed` the number of instants since the previous run
    /// for which nothing ran. If a run panics, it is the last. A calendar without a next instant:
    /// [`Error::InvalidArgument`].
    #[track_caller]
    pub fn schedule<F>(mut self, function: F) -> Result<Timer, Error>
    where
        F: FnMut(Expiration) + Send + 'static,
    {
        let spec = &mut self.spec;
        spec.callback = Some(Callback::<F>::run);
        spec.site = site_of(spec.callback, Location::caller(), self.name);
        spec.release = Some(Callback::<F>::release);
        spec.arg = Callback::into_arg(function, self.scheduler.on_panic.clone());
        let mut handle = 0;
        // SAFETY: what the spec borrows lives while this does, and the library copies it; callback
        // and release hook are for this argument.
        unsafe {
            let result =
                htw_schedule_calendar(self.scheduler.raw(), spec, &mut handle, ptr::null_mut());
            Timer::scheduled(self.scheduler, result, handle, spec.arg, spec.release)
        }
    }
}

opaque!(Zone);
