// SPDX-License-Identifier: MIT
//! scheduler.rs - the scheduler: closures that run at their time.
use crate::callback::{Expiration, PanicHandler};
use crate::group::{cancel_key, Group};
use crate::observe::Observe;
use crate::outcome::Outcome;
use crate::raw::{by_default_new, opaque, setters, sized};
use crate::scope::{Scope, ScopeEnd};
use crate::shared::Shared;
use crate::time::{to_duration, to_ns, Clock, Deadline};
use crate::timer::{Builder, Timer};
use crate::wheel::Progress;
use crate::Error;
use htw_sys::*;
use std::any::Any;
use std::ffi::CString;
use std::fmt;
use std::os::unix::io::RawFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

/// Runs closures at their time, in a small pool of threads.
///
/// ```
/// use htw::{Outcome, Scheduler};
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
///
/// let scheduler = Scheduler::new()?;
/// let (sender, receiver) = channel();
/// let timeout = scheduler.schedule(Duration::from_secs(30), |_| println!("no answer"))?;
/// let send = move |expiration: htw::Expiration| sender.send(expiration.late).unwrap();
/// scheduler.schedule(Duration::from_millis(5), send)?.detach();
///
/// println!("{:?} late", receiver.recv().unwrap());
/// assert_eq!(timeout.cancel(), Outcome::Cancelled); // it never runs
/// # Ok::<(), htw::Error>(())
/// ```
///
/// A closure never starts before its deadline. It starts later by less than a tick (1 ms, if the
/// options say nothing else) and the time that waking a thread takes. It is dropped exactly once,
/// when its timer has ended or scheduling fails: in the thread that ended the timer. A slow closure
/// delays no other while another worker is free.
///
/// Timers know the place of the call that has armed them: see [`Scheduler::dump`].
///
/// Dropping the scheduler stops it: that waits for closures that are running, and drops the others.
/// If it is dropped in one of its own closures, another thread does that, and the drop does not
/// wait.
///
/// # Panics in closures
///
/// are caught. What a closure panicked with goes to [`SchedulerOptions::on_panic`]; without it, it
/// is dropped after the panic hook has printed it. A timer that repeats ends then.
pub struct Scheduler {
    shared: Arc<Shared>,
}

/// The options of a [`Scheduler`].
pub struct SchedulerOptions {
    raw: htw_scheduler_options,
    clock: Clock,
    thread_name: Option<CString>,
    on_panic: Arc<PanicHandler>,
}

impl SchedulerOptions {
    /// The defaults: a tick of 1 ms, the monotonic clock, two workers, which start when they are
    /// needed.
    pub fn new() -> SchedulerOptions {
        let raw = sized!(htw_scheduler_options);
        SchedulerOptions {
            raw,
            clock: Clock::Monotonic,
            thread_name: None,
            on_panic: Arc::new(drop),
        }
    }

    setters! {
        /// The length of a tick, from 1 us to an hour.
        tick(tick: Duration) self => self.raw.tick_ns = to_ns(tick).max(1); // 0 means the default in C

        /// The clock of all timers that have no other one.
        clock(clock: Clock) self => {
            self.clock = clock;
            self.raw.clock = clock.raw();
        };

        /// The number of threads that run closures, up to 256. 0: the thread that waits for deadlines
        /// runs them, and a slow closure delays all others; with [`Clock::Manual`], the thread that
        /// calls [`Scheduler::advance`].
        workers(workers: u32) self => {
            self.raw.workers = if workers == 0 { HTW_NO_WORKERS } else { workers };
        };

        /// The number of independent parts, each with its lock; 0: one for each CPU.
        shards(shards: u32) self => self.raw.shards = shards;

        /// No threads: your event loop waits for [`Scheduler::fd`], and calls [`Scheduler::process`].
        embedded() self => self.raw.embedded = true;

        /// The most timers that may be pending at once; 0: no limit.
        max_pending(max: u64) self => self.raw.max_pending = max;

        /// How much longer than to the earliest deadline the scheduler may sleep, to serve several
        /// timers at once.
        timer_slack(slack: Duration) self => self.raw.timer_slack_ns = to_ns(slack);

        /// What is observed from the beginning; see [`Scheduler::observe`].
        observe(what: Observe) self => self.raw.observe = what.0;

        /// The prefix of the names of threads, instead of "htw". What follows a NUL is cut off.
        thread_name(name: &str) self => {
            let name = name.split('\0').next().unwrap_or_default();
            self.thread_name = CString::new(name).ok();
        };
    }

    /// Receives what a closure panicked with, in the thread in which it ran. If this panics, the
    /// process is aborted.
    pub fn on_panic<F>(mut self, handler: F) -> SchedulerOptions
    where
        F: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.on_panic = Arc::new(handler);
        self
    }

    /// Creates a scheduler.
    pub fn create(self) -> Result<Scheduler, Error> {
        let mut options = self.raw;
        options.thread_name = self.thread_name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        let mut raw = ptr::null_mut();
        // SAFETY: the library keeps no pointer to the options.
        Error::check(unsafe { htw_scheduler_create(&mut raw, &options) })?;
        let raw = NonNull::new(raw).expect("a scheduler was created");
        let shared = Shared { raw, clock: self.clock, on_panic: self.on_panic };
        Ok(Scheduler { shared: Arc::new(shared) })
    }
}

opaque!(SchedulerOptions);
by_default_new!(SchedulerOptions);

impl Scheduler {
    /// Creates a scheduler with the default options.
    pub fn new() -> Result<Scheduler, Error> {
        SchedulerOptions::new().create()
    }

    #[cfg(any(feature = "calendar", feature = "journal"))]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Schedules a closure, once, after a delay. With [`Duration::MAX`] it waits for
    /// [`Timer::reschedule`].
    #[track_caller]
    pub fn schedule<F>(&self, delay: Duration, function: F) -> Result<Timer, Error>
    where
        F: FnOnce(Expiration) + Send + 'static,
    {
        self.timer().after(delay).once(function)
    }

    /// Schedules a closure, once, at a time. An [`Instant`](std::time::Instant) or a
    /// [`SystemTime`](std::time::SystemTime) also selects the clock of the timer.
    #[track_caller]
    pub fn schedule_at<F>(&self, deadline: impl Into<Deadline>, function: F) -> Result<Timer, Error>
    where
        F: FnOnce(Expiration) + Send + 'static,
    {
        self.timer().at(deadline).once(function)
    }

    /// Schedules a closure that runs after each period.
    #[track_caller]
    pub fn schedule_every<F>(&self, period: Duration, function: F) -> Result<Timer, Error>
    where
        F: FnMut(Expiration) + Send + 'static,
    {
        self.timer().every(period, function)
    }

    /// Describes a timer with further properties.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let scheduler = htw::Scheduler::new()?;
    /// let session = scheduler.group()?;
    /// let timer = scheduler
    ///     .timer()
    ///     .after(Duration::from_secs(10))
    ///     .slack(Duration::from_secs(1))
    ///     .key(b"keep-alive")
    ///     .group(&session)
    ///     .once(|_| println!("idle"))?;
    /// session.cancel()?; // all of its timers
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn timer(&self) -> Builder<'_> {
        Builder::new(&self.shared)
    }

    /// Enters a scope: an operation that ends, with all that it starts, after `delay`, or when it is cancelled. With
    /// [`Duration::MAX`] it has no deadline of its own. The closure is called once when it ends; not if it has ended at once,
    /// which [`Scope::why`] tells, or is dropped before.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let scheduler = htw::Scheduler::new()?;
    /// let rpc = scheduler.scope(Duration::from_millis(200), |_| ())?;
    /// let query = rpc.child(Duration::from_secs(60), |end| println!("{:?}", end))?;
    /// assert!(query.left() <= Duration::from_millis(200)); // what to pass on
    /// rpc.cancel();
    /// assert_eq!((query.why(), query.cause()), (htw::ScopeEnd::Parent, htw::ScopeEnd::Cancelled));
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn scope<F>(&self, delay: Duration, ended: F) -> Result<Scope, Error>
    where
        F: FnOnce(ScopeEnd) + Send + 'static,
    {
        Scope::enter(&self.shared, ptr::null_mut(), delay, ended)
    }

    /// Creates a group of timers.
    pub fn group(&self) -> Result<Group, Error> {
        Group::new(&self.shared)
    }

    /// Cancels the timer that has a key and no group.
    pub fn cancel_key(&self, key: &[u8]) -> Result<Outcome, Error> {
        cancel_key(&self.shared, ptr::null_mut(), key)
    }

    /// Sets what is observed: switches on what is in the set, and off the rest.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let scheduler = htw::Scheduler::new()?;
    /// scheduler.observe(htw::Observe::SITES | htw::Observe::EVENTS)?;
    /// let _timer = scheduler.timer().after(Duration::from_secs(30)).name("idle").once(|_| ())?;
    /// assert!(scheduler.dump()?.contains("wake-ups"));
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn observe(&self, what: Observe) -> Result<(), Error> {
        // SAFETY: the scheduler exists.
        Error::check(unsafe { htw_scheduler_observe(self.shared.raw(), what.0) })?;
        Ok(())
    }

    /// What is observed.
    pub fn observed(&self) -> Observe {
        // SAFETY: the scheduler exists.
        Observe(unsafe { htw_scheduler_observed(self.shared.raw()) })
    }

    /// How many timers are pending.
    pub fn pending(&self) -> u64 {
        // SAFETY: the scheduler exists, here and below.
        unsafe { htw_pending(self.shared.raw()) }
    }

    /// The time of the scheduler's clock since its epoch.
    pub fn now(&self) -> Duration {
        self.now_by(self.shared.clock)
    }

    /// The time of a clock that timers of this scheduler have, since its epoch. Of another one: 0.
    pub fn now_by(&self, clock: Clock) -> Duration {
        to_duration(self.shared.now_ns(clock))
    }

    /// The statistics since the scheduler was created.
    pub fn stats(&self) -> Result<htw_scheduler_stats, Error> {
        let mut raw = sized!(htw_scheduler_stats);
        Error::check(unsafe { htw_scheduler_get_stats(self.shared.raw(), &mut raw) })?;
        Ok(raw)
    }

    /// What is pending, for people: by the place of the call that has armed it, with
    /// [`name`](Builder::name), and the next ten timers.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let scheduler = htw::Scheduler::new()?;
    /// let _timer = scheduler.timer().after(Duration::from_secs(30)).name("idle").once(|_| ())?;
    /// assert!(scheduler.dump()?.contains(" idle "));
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn dump(&self) -> Result<String, Error> {
        let (mut text, mut size) = (ptr::null_mut(), 0);
        // SAFETY: fclose() sets text and size, and leaves the text to this function.
        unsafe {
            let stream = libc::open_memstream(&mut text, &mut size);
            if stream.is_null() {
                return Err(Error::OutOfMemory);
            }
            let result = htw_scheduler_dump(self.shared.raw(), stream);
            let closed = libc::fclose(stream);
            let copy = (closed == 0).then(|| {
                let bytes = std::slice::from_raw_parts(text as *const u8, size);
                String::from_utf8_lossy(bytes).into_owned()
            });
            libc::free(text as *mut libc::c_void);
            Error::check(result)?;
            copy.ok_or(Error::OutOfMemory)
        }
    }

    /// Stops the scheduler: waits for closures that are running, drops the others, and returns how
    /// many those were. What is scheduled later fails with [`Error::Stopped`]. In a closure of this
    /// scheduler: [`Error::Deadlock`].
    pub fn stop(&self) -> Result<u64, Error> {
        self.shared.stop()
    }

    /// Advances [`Clock::Manual`], runs all that becomes due, tick by tick, and returns when
    /// nothing runs any more.
    ///
    /// ```
    /// use htw::{Clock, SchedulerOptions};
    /// use std::time::Duration;
    ///
    /// let scheduler = SchedulerOptions::new().clock(Clock::Manual).workers(0).create()?;
    /// scheduler.schedule(Duration::from_secs(60), |_| println!("a minute is over"))?.detach();
    /// scheduler.advance(Duration::from_secs(59))?;
    /// assert_eq!(scheduler.pending(), 1);
    /// scheduler.advance(Duration::from_secs(1))?; // runs it here
    /// assert_eq!(scheduler.pending(), 0);
    /// # Ok::<(), htw::Error>(())
    /// ```
    pub fn advance(&self, delta: Duration) -> Result<(), Error> {
        Error::check(unsafe { htw_scheduler_advance(self.shared.raw(), to_ns(delta)) }).map(drop)
    }

    /// In manual time: sets a clock to a time since its epoch in one step, forward or back, and runs
    /// all that becomes due. Timers of other clocks do not notice.
    pub fn set_clock(&self, clock: Clock, time: Duration) -> Result<(), Error> {
        let time_ns = to_ns(time);
        Error::check(unsafe { htw_scheduler_set_clock(self.shared.raw(), clock.raw(), time_ns) })
            .map(drop)
    }

    /// The file descriptor of an embedded scheduler, which becomes readable when
    /// [`process`](Scheduler::process) has work. Only wait for it; it belongs to the scheduler.
    pub fn fd(&self) -> Result<RawFd, Error> {
        Error::check(unsafe { htw_scheduler_fd(self.shared.raw()) })
    }

    /// Runs closures that are due, in this thread, and returns how many and whether work is left.
    /// Only for embedded schedulers. `budget`: the most closures to run; 0: all that are due at the
    /// start of the call.
    pub fn process(&self, budget: usize) -> Result<(usize, Progress), Error> {
        let mut count = 0;
        let result = unsafe { htw_scheduler_process(self.shared.raw(), budget, &mut count) };
        let more = Error::check(result)? as htw_wheel_progress == HTW_MORE;
        Ok((count, if more { Progress::More } else { Progress::Done }))
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        if self.shared.stop() == Err(Error::Deadlock) {
            let shared = self.shared.clone();
            // Without a thread the scheduler continues, as if it had been leaked.
            let stopper =
                std::thread::Builder::new().name("htw-stop".into()).spawn(move || shared.stop());
            if stopper.is_err() {
                std::mem::forget(self.shared.clone());
            }
        }
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("now", &self.now())
            .field("pending", &self.pending())
            .finish()
    }
}
