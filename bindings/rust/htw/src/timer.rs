// SPDX-License-Identifier: MIT
//! timer.rs - a timer of a scheduler: how it is described, and its handle.
use crate::callback::{Callback, Expiration};
use crate::group::Group;
use crate::outcome::Outcome;
use crate::raw::{setters, sized};
use crate::shared::Shared;
use crate::site::site_of;
use crate::time::{to_duration, to_ns, Clock, Deadline};
use crate::Error;
use htw_sys::*;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How a timer repeats. Its runs never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// Fixed rate. Periods that passed during a run are skipped; the next run receives their
    /// number.
    Skip = HTW_REPEAT_SKIP as isize,
    /// Fixed rate. Overdue runs follow one another until they have caught up.
    Burst = HTW_REPEAT_BURST as isize,
    /// Fixed rate. If a run was overdue, later periods count from its end.
    Delay = HTW_REPEAT_DELAY as isize,
    /// Fixed delay: a period from the end of a run to the start of the next one.
    After = HTW_REPEAT_AFTER as isize,
}

/// A timer of a [`Scheduler`](crate::Scheduler). Dropping it cancels the timer, but does not wait
/// for a closure that is running; [`detach`](Timer::detach) lets the timer go.
///
/// Any thread may use it, also in the closure of the timer. It may outlive the scheduler: its timer
/// is gone then.
#[must_use = "a timer that is dropped is cancelled; call detach() to let it go"]
pub struct Timer {
    scheduler: Arc<Shared>,
    handle: htw_handle,
}

impl Timer {
    /// What a schedule call of C has made; after a failure nothing, and the argument is released.
    ///
    /// # Safety
    ///
    /// The release hook takes the argument.
    pub(crate) unsafe fn scheduled(
        scheduler: &Arc<Shared>,
        result: c_int,
        handle: htw_handle,
        arg: *mut c_void,
        release: htw_release_hook,
    ) -> Result<Timer, Error> {
        if let Err(error) = Error::check(result) {
            if let Some(release) = release {
                // SAFETY: after a failure the argument is the caller's.
                unsafe { release(arg) };
            }
            return Err(error);
        }
        Ok(Timer { scheduler: scheduler.clone(), handle })
    }

    /// Cancels the timer, and says whether its closure will run. If a cancel and an expiration
    /// race, exactly one takes effect. With [`Outcome::Cancelled`] the closure was dropped in this
    /// call.
    pub fn cancel(&self) -> Outcome {
        // SAFETY: the scheduler exists as long as this refers to it, here and below.
        let result = unsafe { htw_cancel(self.scheduler.raw(), self.handle) };
        Outcome::check(result).unwrap_or(Outcome::Gone) // an error: in a child after fork
    }

    /// Cancels the timer, and tells how much of its delay was left if it was cancelled: 0 if it was
    /// due, [`Duration::MAX`] if it never was to run, of a paused timer the rest that it kept.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use htw::{Clock, Outcome, SchedulerOptions};
    ///
    /// let scheduler = SchedulerOptions::new().clock(Clock::Manual).create()?;
    /// let timer = scheduler.schedule(Duration::from_secs(5), |_| ())?;
    /// scheduler.advance(Duration::from_secs(2))?;
    /// assert_eq!(timer.cancel_remaining(), (Outcome::Cancelled, Some(Duration::from_secs(3))));
    /// assert_eq!(timer.cancel_remaining(), (Outcome::Gone, None));
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn cancel_remaining(&self) -> (Outcome, Option<Duration>) {
        let mut left_ns = 0;
        let result =
            unsafe { htw_cancel_remaining(self.scheduler.raw(), self.handle, &mut left_ns) };
        match Outcome::check(result).unwrap_or(Outcome::Gone) {
            Outcome::Cancelled if left_ns == HTW_NEVER_NS => {
                (Outcome::Cancelled, Some(Duration::MAX))
            }
            Outcome::Cancelled => (Outcome::Cancelled, Some(to_duration(left_ns))),
            other => (other, None),
        }
    }

    /// Cancels the timer, and waits until its closure is not running and was dropped.
    ///
    /// Fails with [`Error::Deadlock`] where it would wait for itself; the timer is cancelled then.
    pub fn cancel_wait(&self) -> Result<Outcome, Error> {
        Outcome::check(unsafe { htw_cancel_wait(self.scheduler.raw(), self.handle) })
    }

    /// Gives the timer a new delay from now. A closure that was to run once, and has run, does not
    /// run again.
    pub fn reschedule(&self, delay: Duration) -> Result<Outcome, Error> {
        Outcome::check(unsafe { htw_reschedule(self.scheduler.raw(), self.handle, to_ns(delay)) })
    }

    /// Gives the timer a new deadline, of its clock; see [`Timer::reschedule`].
    pub fn reschedule_at(&self, deadline: impl Into<Deadline>) -> Result<Outcome, Error> {
        let clock = match self.clock() {
            Some(clock) => clock,
            None => return Ok(Outcome::Gone),
        };
        let deadline_ns = self.scheduler.deadline_ns(deadline.into(), Some(clock))?;
        Outcome::check(unsafe { htw_reschedule_at(self.scheduler.raw(), self.handle, deadline_ns) })
    }

    /// Gives a repeating timer another period, from its next run on.
    pub fn set_period(&self, period: Duration) -> Result<Outcome, Error> {
        Outcome::check(unsafe { htw_set_period(self.scheduler.raw(), self.handle, to_ns(period)) })
    }

    /// Whether the timer waits for a run.
    pub fn is_pending(&self) -> bool {
        self.info().map_or(false, |info| info.pending)
    }

    /// The clock of the timer; `None`: the timer has ended.
    pub fn clock(&self) -> Option<Clock> {
        self.info().map(|info| Clock::from_raw(info.clock))
    }

    /// The deadline since the epoch of the timer's clock; `None`: the timer has ended.
    pub fn deadline(&self) -> Option<Duration> {
        self.info().map(|info| to_duration(info.deadline_ns))
    }

    fn info(&self) -> Option<htw_timer_info> {
        let mut info = MaybeUninit::uninit();
        let result = unsafe {
            htw_scheduler_timer_info(self.scheduler.raw(), self.handle, info.as_mut_ptr())
        };
        // SAFETY: the library has filled it in.
        (result == 0).then(|| unsafe { info.assume_init() })
    }

    /// Lets the timer run without this handle.
    pub fn detach(mut self) {
        self.handle = 0;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.handle != 0 {
            self.cancel();
        }
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("deadline", &self.deadline()).finish()
    }
}

/// Describes a timer; [`once`](Builder::once) and [`every`](Builder::every) schedule it. See
/// [`Scheduler::timer`](crate::Scheduler::timer).
#[must_use = "nothing is scheduled before once() or every()"]
pub struct Builder<'a> {
    scheduler: &'a Arc<Shared>,
    spec: htw_spec,
    deadline: Option<Deadline>, // otherwise the delay is in the spec
    clock: Option<Clock>,
    slack_ns: i64,
    name: Option<&'static str>,
    borrows: PhantomData<&'a [u8]>, // the key and the group
}

impl<'a> Builder<'a> {
    pub(crate) fn new(scheduler: &'a Arc<Shared>) -> Builder<'a> {
        let spec = sized!(htw_spec);
        Builder {
            scheduler,
            spec,
            deadline: None,
            clock: None,
            slack_ns: 0,
            name: None,
            borrows: PhantomData,
        }
    }

    setters! {
        /// The delay until the first run; 0 if nothing else is said, and a period for a timer that
        /// repeats.
        after(delay: Duration) self => {
            self.deadline = None;
            self.spec.when_ns = to_ns(delay);
        };
    }

    /// The deadline of the first run. An [`Instant`](std::time::Instant) or a
    /// [`SystemTime`](std::time::SystemTime) also selects the clock of the timer; it is refused when
    /// the timer is scheduled if [`clock`](Builder::clock) says another one, or an `Instant` in
    /// manual time.
    pub fn at(mut self, deadline: impl Into<Deadline>) -> Builder<'a> {
        self.deadline = Some(deadline.into());
        self
    }

    setters! {
        /// The clock of the timer, of its delay and period; without this, that of the scheduler.
        clock(clock: Clock) self => self.clock = Some(clock);

        /// How much later the first run may be, so that timers run together.
        slack(slack: Duration) self => self.slack_ns = to_ns(slack);

        /// The key. At most one timer of a group, or of those without a group, is pending under a key;
        /// the new one replaces the other.
        key(key: &'a [u8]) self => {
            self.spec.key = key.as_ptr() as *const c_void;
            self.spec.key_size = key.len();
        };

        /// Keeps the timer that is pending under the key: scheduling fails with [`Error::KeyExists`]
        /// then.
        keep_existing() self => self.spec.keep_existing = true;

        /// The group, which must be of the same scheduler.
        group(group: &'a Group) self => self.spec.group = group.raw();

        /// How the timer repeats; [`Repeat::Skip`] if nothing else is said.
        repeat(repeat: Repeat) self => self.spec.repeat = repeat as htw_repeat;

        /// What the timers of this place are for, such as "idle", for
        /// [`Scheduler::dump`](crate::Scheduler::dump).
        name(name: &'static str) self => self.name = Some(name);
    }

    /// What C needs, without a callback.
    fn spec(&self) -> Result<htw_spec, Error> {
        let mut spec = self.spec;
        let mut clock = self.clock;
        if let Some(deadline) = self.deadline {
            clock = clock.or_else(|| deadline.clock());
            spec.when_ns = self.scheduler.deadline_ns(deadline, clock)?;
            spec.absolute = true;
        }
        if let Some(clock) = clock {
            spec.clock = clock.raw();
        }
        spec.latest_ns = spec.when_ns.saturating_add(self.slack_ns);
        Ok(spec)
    }

    /// Schedules a closure that runs once. If that fails the closure is dropped.
    #[track_caller]
    pub fn once<F>(self, function: F) -> Result<Timer, Error>
    where
        F: FnOnce(Expiration) + Send + 'static,
    {
        let mut spec = self.spec()?;
        spec.callback = Some(Callback::<Option<F>>::run_once);
        spec.site = site_of(spec.callback, Location::caller(), self.name);
        spec.release = Some(Callback::<Option<F>>::release);
        spec.arg = Callback::into_arg(Some(function), self.scheduler.on_panic.clone());
        // SAFETY: `callback` and `release` are for this argument.
        unsafe { schedule(self.scheduler, &spec) }
    }

    /// Schedules a closure that runs again and again, until the timer is cancelled. If a run
    /// panics, it is the last.
    #[track_caller]
    pub fn every<F>(mut self, period: Duration, function: F) -> Result<Timer, Error>
    where
        F: FnMut(Expiration) + Send + 'static,
    {
        let period_ns = to_ns(period);
        if period_ns == 0 {
            return Err(Error::InvalidArgument); // to C this would mean once
        }
        if self.deadline.is_none() && self.spec.when_ns == 0 {
            self.spec.when_ns = period_ns;
        }
        let mut spec = self.spec()?;
        spec.period_ns = period_ns;
        spec.callback = Some(Callback::<F>::run);
        spec.site = site_of(spec.callback, Location::caller(), self.name);
        spec.release = Some(Callback::<F>::release);
        spec.arg = Callback::into_arg(function, self.scheduler.on_panic.clone());
        // SAFETY: as in once().
        unsafe { schedule(self.scheduler, &spec) }
    }
}

/// # Safety
///
/// The callback and the release hook take the argument that the spec has.
unsafe fn schedule(scheduler: &Arc<Shared>, spec: &htw_spec) -> Result<Timer, Error> {
    let mut handle = 0;
    // SAFETY: key and group live while the builder does; the library copies the spec.
    let result =
        unsafe { htw_schedule_spec(scheduler.raw(), spec, &mut handle, std::ptr::null_mut()) };
    unsafe { Timer::scheduled(scheduler, result, handle, spec.arg, spec.release) }
}
