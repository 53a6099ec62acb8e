// SPDX-License-Identifier: MIT
//! journal.rs - jobs in a file, which survive a crash, and queues of them (feature `journal`).
use crate::callback::PanicHandler;
use crate::change::Change;
use crate::job::{Job, JobInfo, JobState, QueueName, QueuePolicy, QueueStats, Step};
use crate::lease::{Lease, LeaseNotice, Receiver};
use crate::open::{check_step, later, Deliver, Open, Stopped};
use crate::raw::{by_default_new, c_text, initial, opaque, setters};
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::time::{instant_ns, time_of, to_ns, Clock};
use crate::Error;
use htw_sys::*;
use std::ffi::CStr;
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A sentence about the last failure of a journal in this thread, with the file and the cause; in a closure that was
/// given an error: about that.
pub fn journal_error() -> String {
    // SAFETY: the string is valid until the next failure in this thread.
    unsafe { CStr::from_ptr(htw_journal_error()) }.to_string_lossy().into_owned()
}

/// The options of a [`Journal`].
pub struct JournalOptions {
    raw: htw_journal_options,
    deliver: Option<Box<Deliver>>,
    stopped: Option<Box<Stopped>>,
}

impl JournalOptions {
    /// The defaults: changes are durable when the disk has confirmed them, and all jobs are leased.
    pub fn new() -> JournalOptions {
        // SAFETY: the library fills in all members.
        let raw = unsafe { initial(htw_journal_options_init) };
        JournalOptions { raw, deliver: None, stopped: None }
    }

    /// Receives the jobs of the default queue, where the scheduler runs closures. Jobs that it does not end, as when it
    /// panics, are given back, and delivered again.
    pub fn deliver<F>(mut self, deliver: F) -> JournalOptions
    where
        F: Fn(Lease) + Send + Sync + 'static,
    {
        // SAFETY: the delivery is that of a hook.
        let deliver = move |journal, raw: &_| deliver(unsafe { Lease::of(journal, raw) });
        self.deliver = Some(Box::new(deliver));
        self
    }

    /// Is told why, if the journal stops by itself: the disk has failed, or the file is damaged.
    pub fn stopped<F>(mut self, stopped: F) -> JournalOptions
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        self.stopped = Some(Box::new(stopped));
        self
    }

    setters! {
        /// Changes are durable when the operating system has them: a power cut may undo those of the last seconds.
        synchronous_normal() self => self.raw.synchronous = HTW_SYNCHRONOUS_NORMAL;

        /// How many jobs are delivered at once, up to 256; without this one at a time, in order.
        parallel(parallel: u32) self => self.raw.parallel = parallel;

        /// How far ahead jobs are held in memory, up to a day.
        near(near: Duration) self => self.raw.near_ns = to_ns(near);

        /// The most bytes of jobs in memory.
        max_memory(bytes: u64) self => self.raw.max_memory = bytes;

        /// The most jobs in the file.
        max_jobs(jobs: u64) self => self.raw.max_jobs = jobs;

        /// The most jobs that are delivered and not done.
        max_in_flight(jobs: u64) self => self.raw.max_in_flight = jobs;

        /// How long a change that is made later may wait for others, up to a second.
        gather(gather: Duration) self => self.raw.gather_ns = to_ns(gather).max(1); // 0 means the default in C

        /// How long leases last where neither the request nor the job says it; without this a minute.
        lease(lease: Duration) self => self.raw.lease_ns = to_ns(lease);

        /// The file is the database of SQLite of a program, whose transactions put jobs by an `INSERT` into
        /// `htw_inbox`; see "Jobs in your own transactions" in docs/journal.md. The journal looks for them at this
        /// interval, or when it is told by [`wake`](Journal::wake); `Duration::MAX`: only then.
        guest(inbox: Duration) self => {
            self.raw.is_guest = true;
            self.raw.inbox_ns = to_ns(inbox).max(1); // 0 means the default in C
        };
    }

    /// Opens a journal, or creates its file.
    pub fn open(self, scheduler: &Scheduler, path: impl AsRef<Path>) -> Result<Journal, Error> {
        let shared = scheduler.shared();
        self.open_with(Some(shared.clone()), shared.on_panic.clone(), path.as_ref())
    }

    /// Opens a journal without a scheduler: jobs are put, cancelled and looked at, not handed out.
    pub fn open_alone(self, path: impl AsRef<Path>) -> Result<Journal, Error> {
        self.open_with(None, Arc::new(drop), path.as_ref())
    }

    fn open_with(
        self,
        scheduler: Option<Arc<Shared>>,
        on_panic: Arc<PanicHandler>,
        path: &Path,
    ) -> Result<Journal, Error> {
        let path = c_text(path.as_os_str().as_bytes())?;
        let inner = Open::create(self.raw, self.deliver, self.stopped, scheduler, on_panic, &path)?;
        Ok(Journal { inner })
    }
}

/// How a job is leased.
#[derive(Clone, Copy, Debug)]
pub struct LeaseOptions {
    wait_until_ns: i64,
    lasts: Duration,
    is_durable: bool,
}

impl LeaseOptions {
    /// Does not wait for a job, and the lease lasts as the job or the options of the journal say.
    pub fn new() -> LeaseOptions {
        LeaseOptions { wait_until_ns: i64::MIN, lasts: Duration::ZERO, is_durable: false }
    }

    setters! {
        /// Waits for a job until that time: see [`Journal::now`].
        wait_until(time: SystemTime) self => self.wait_until_ns = instant_ns(time);

        /// Waits for a job for ever.
        wait() self => self.wait_until_ns = HTW_NEVER_NS;

        /// How long the lease lasts. Then the job is ready again, unless the policy of its queue says otherwise.
        lasts(lasts: Duration) self => self.lasts = lasts;

        /// The lease survives a crash.
        durable() self => self.is_durable = true;
    }

    fn raw(&self) -> htw_lease {
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_lease_init) };
        raw.wait_until_ns = self.wait_until_ns;
        raw.lease_ns = to_ns(self.lasts);
        raw.is_durable = self.is_durable;
        raw
    }
}

/// Where [`Journal::list`] goes on.
#[derive(Clone, Copy)]
pub struct ListPlace(htw_list_place);

impl Default for ListPlace {
    /// The beginning.
    fn default() -> ListPlace {
        // SAFETY: zeroed is the beginning.
        ListPlace(unsafe { std::mem::zeroed() })
    }
}

/// Jobs in a file, which survive a crash: each is handed out at its time, at least once.
///
/// ```
/// use htw::{Job, JournalOptions, LeaseOptions, Scheduler};
///
/// # let folder = std::env::temp_dir().join(format!("htw-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("jobs");
/// let scheduler = Scheduler::new()?;
/// let journal = JournalOptions::new().open(&scheduler, path)?;
/// journal.put(Job::new(b"to ada").queue("mail"))?; // it is on the disk
/// while let Some(lease) = journal.lease(&["mail"], LeaseOptions::new())? {
///     println!("{}", String::from_utf8_lossy(lease.payload()));
///     lease.done()?; // a lease that is dropped gives its job back
/// }
/// # drop(journal);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The guide of the C library says what is promised: docs/journal.md. Methods that change something wait for the disk;
/// those named `..._later` take a closure, which is called in the thread that writes, when the change is durable or has
/// failed. In it methods that wait fail with [`Error::Deadlock`].
///
/// A queue is named by a text; "" is the default queue. Times are those of [`Journal::now`].
///
/// The file is closed when the journal and all its leases are dropped, which waits for closures that run, and for all
/// changes. Drop them before the scheduler: what is due after that is not handed out.
pub struct Journal {
    inner: Arc<Open>,
}

impl Journal {
    /// Closes the file, and says what a drop cannot: whether changes without a closure were lost. [`Error::Busy`]: there
    /// are leases, and the last of them closes it.
    pub fn close(self) -> Result<(), Error> {
        let mut inner = Arc::try_unwrap(self.inner).map_err(|_| Error::Busy)?;
        inner.close()
    }

    /// The present time of jobs: the wall clock, or in manual time that of the scheduler.
    pub fn now(&self) -> SystemTime {
        match &self.inner.scheduler {
            Some(shared) if shared.clock == Clock::Manual => time_of(shared.now_ns(Clock::Manual)),
            _ => SystemTime::now(),
        }
    }

    /// Puts a job, waits until it is durable, and returns its id.
    pub fn put(&self, job: Job<'_>) -> Result<u64, Error> {
        self.apply(Change::new().put(job)).map(|ids| ids[0])
    }

    /// Cancels a job. `false`: it was delivered or leased, or has ended.
    pub fn cancel(&self, id: u64) -> Result<bool, Error> {
        self.update(Step::cancel(id))
    }

    /// Ends a job in any state. `false`: there is none.
    pub fn done(&self, id: u64) -> Result<bool, Error> {
        self.update(Step::done(id))
    }

    /// Makes a step. `false`: it does not apply to the job as it is, or there is none.
    pub fn update(&self, step: Step<'_>) -> Result<bool, Error> {
        // SAFETY: the journal is open, here and below.
        check_step(unsafe { htw_journal_update(self.raw(), step.raw()) })
    }

    /// Makes a change, waits until it is durable, and returns the ids of the jobs that were put. If it fails, nothing has
    /// changed, and its leases are given back.
    pub fn apply(&self, change: Change<'_>) -> Result<Vec<u64>, Error> {
        change.submit(|raw| Error::check(unsafe { htw_journal_apply(self.raw(), raw) }).map(drop))
    }

    /// Makes jobs of a queue ready, and returns how many: those that were buried first, or, if none is buried, the delayed
    /// ones that would come first.
    pub fn kick(&self, queue: &str, count: u32) -> Result<u32, Error> {
        let queue = QueueName::new(queue)?;
        let result = unsafe { htw_journal_kick(self.raw(), queue.raw(), count) };
        Error::check(result).map(|kicked| kicked as u32)
    }

    /// Waits until all is durable that was changed before, by any thread.
    pub fn sync(&self) -> Result<(), Error> {
        Error::check(unsafe { htw_journal_sync(self.raw()) }).map(drop)
    }

    /// A transaction was committed that has put jobs into the journal of a guest: they are taken in at once.
    pub fn wake(&self) -> Result<(), Error> {
        Error::check(unsafe { htw_journal_wake(self.raw()) }).map(drop)
    }

    /// As [`put`](Journal::put), without waiting.
    pub fn put_later<F>(&self, job: Job<'_>, then: F) -> Result<u64, Error>
    where
        F: FnOnce(Result<(), Error>) + Send + 'static,
    {
        self.apply_later(Change::new().put(job), then).map(|ids| ids[0])
    }

    /// As [`update`](Journal::update), without waiting. Where that returns `false`, the error says why.
    pub fn update_later<F>(&self, step: Step<'_>, then: F) -> Result<(), Error>
    where
        F: FnOnce(Result<(), Error>) + Send + 'static,
    {
        later(
            &self.inner,
            |result| then(result.map(drop)),
            |durable, arg| unsafe {
                htw_journal_update_later(self.raw(), step.raw(), durable, arg)
            },
        )
    }

    /// As [`apply`](Journal::apply), without waiting.
    pub fn apply_later<F>(&self, change: Change<'_>, then: F) -> Result<Vec<u64>, Error>
    where
        F: FnOnce(Result<(), Error>) + Send + 'static,
    {
        change.submit(|raw| {
            later(
                &self.inner,
                |result| then(result.map(drop)),
                |durable, arg| unsafe { htw_journal_apply_later(self.raw(), raw, durable, arg) },
            )
        })
    }

    /// As [`kick`](Journal::kick), without waiting.
    pub fn kick_later<F>(&self, queue: &str, count: u32, then: F) -> Result<(), Error>
    where
        F: FnOnce(Result<u32, Error>) + Send + 'static,
    {
        let queue = QueueName::new(queue)?;
        let function = |result: Result<c_int, Error>| then(result.map(|kicked| kicked as u32));
        later(&self.inner, function, |durable, arg| unsafe {
            htw_journal_kick_later(self.raw(), queue.raw(), count, durable, arg)
        })
    }

    /// Leases the first ready job of some queues. `None`: there was none in time.
    pub fn lease(&self, queues: &[&str], options: LeaseOptions) -> Result<Option<Lease>, Error> {
        with_queues(queues, options, |raw| match self.lease_raw(raw) {
            Err(Error::TimedOut) => Ok(None),
            result => result,
        })
    }

    /// Leases the job with an id, ready or not. `None`: it is leased, or there is none.
    pub fn lease_id(&self, id: u64, options: LeaseOptions) -> Result<Option<Lease>, Error> {
        let mut raw = options.raw();
        raw.id = id;
        match self.lease_raw(&raw) {
            Err(Error::NotFound | Error::InUse) => Ok(None),
            result => result,
        }
    }

    fn lease_raw(&self, raw: &htw_lease) -> Result<Option<Lease>, Error> {
        let mut receiver = Receiver { journal: self.inner.clone(), lease: None };
        let arg = &mut receiver as *mut Receiver as *mut c_void;
        // SAFETY: the receiver is used before the call returns.
        Error::check(unsafe { htw_journal_lease(self.raw(), raw, Some(Receiver::receive), arg) })?;
        Ok(receiver.lease)
    }

    /// As [`lease`](Journal::lease), without waiting: the closure is called once, in the thread that writes. Returns a
    /// number for [`cancel_lease`](Journal::cancel_lease).
    pub fn lease_later<F>(
        &self,
        queues: &[&str],
        options: LeaseOptions,
        then: F,
    ) -> Result<u64, Error>
    where
        F: FnOnce(Result<Lease, Error>) + Send + 'static,
    {
        with_queues(queues, options, |raw| {
            let notice = Box::into_raw(Box::new(LeaseNotice {
                journal: Arc::downgrade(&self.inner),
                on_panic: self.inner.on_panic.clone(),
                function: then,
            }));
            let (leased, mut request) = (Some(LeaseNotice::<F>::receive as _), 0);
            // SAFETY: the library calls the notice once, unless this fails.
            let result = unsafe {
                htw_journal_lease_later(
                    self.raw(),
                    raw,
                    leased,
                    notice as *mut c_void,
                    &mut request,
                )
            };
            if let Err(error) = Error::check(result) {
                // SAFETY: the library has not taken it.
                drop(unsafe { Box::from_raw(notice) });
                return Err(error);
            }
            Ok(request)
        })
    }

    /// Ends a request that waits: its closure receives [`Error::Cancelled`]. `false`: it was called, or is about to be.
    pub fn cancel_lease(&self, request: u64) -> bool {
        unsafe { htw_journal_lease_cancel(self.raw(), request) == 0 }
    }

    /// The job with an id, if there is one.
    pub fn peek(&self, id: u64) -> Result<Option<JobInfo>, Error> {
        let mut jobs: Vec<JobInfo> = Vec::new();
        let arg = &mut jobs as *mut Vec<JobInfo> as *mut c_void;
        // SAFETY: the visits are made in the call, here and below.
        match Error::check(unsafe { htw_journal_peek(self.raw(), id, Some(visit_job), arg) }) {
            Ok(_) | Err(Error::NotFound) => Ok(jobs.pop()),
            Err(error) => Err(error),
        }
    }

    /// At most `count` jobs of a queue in a state, from a place on, which is moved behind them: delayed ones by time,
    /// ready ones by priority, buried ones in the order of burying. Jobs that change between two calls may be missed or
    /// come twice.
    pub fn list(
        &self,
        queue: &str,
        state: JobState,
        place: &mut ListPlace,
        count: u32,
    ) -> Result<Vec<JobInfo>, Error> {
        let queue = QueueName::new(queue)?;
        let mut jobs: Vec<JobInfo> = Vec::new();
        let arg = &mut jobs as *mut Vec<JobInfo> as *mut c_void;
        Error::check(unsafe {
            htw_journal_list(
                self.raw(),
                queue.raw(),
                state as htw_job_state,
                &mut place.0,
                count,
                Some(visit_job),
                arg,
            )
        })?;
        Ok(jobs)
    }

    /// The numbers of a queue, if it exists.
    pub fn queue(&self, name: &str) -> Result<Option<QueueStats>, Error> {
        let queue = QueueName::new(name)?;
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_queue_stats_init) };
        match Error::check(unsafe { htw_journal_get_queue(self.raw(), queue.raw(), &mut raw) }) {
            Ok(_) => {
                raw.name = queue.raw();
                Ok(Some(unsafe { QueueStats::of(&raw) }))
            }
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The numbers of all queues, the default queue first.
    pub fn queues(&self) -> Result<Vec<QueueStats>, Error> {
        unsafe extern "C" fn visit(arg: *mut c_void, raw: *const htw_queue_stats) -> bool {
            unsafe { (*(arg as *mut Vec<QueueStats>)).push(QueueStats::of(&*raw)) };
            true
        }
        let mut queues: Vec<QueueStats> = Vec::new();
        let arg = &mut queues as *mut Vec<QueueStats> as *mut c_void;
        Error::check(unsafe { htw_journal_list_queues(self.raw(), Some(visit), arg) })?;
        Ok(queues)
    }

    /// Gives a queue a policy, and waits until that is durable. The default one does nothing.
    pub fn set_policy(&self, queue: &str, policy: &QueuePolicy) -> Result<(), Error> {
        let queue = QueueName::new(queue)?;
        let result = unsafe { htw_journal_set_policy(self.raw(), queue.raw(), &policy.raw()) };
        Error::check(result).map(drop)
    }

    /// None of the jobs of a queue is leased before that time.
    pub fn pause(&self, queue: &str, until: SystemTime) -> Result<(), Error> {
        self.pause_until(queue, instant_ns(until))
    }

    /// Ends a pause.
    pub fn resume(&self, queue: &str) -> Result<(), Error> {
        self.pause_until(queue, i64::MIN)
    }

    fn pause_until(&self, queue: &str, until_ns: i64) -> Result<(), Error> {
        let queue = QueueName::new(queue)?;
        Error::check(unsafe { htw_journal_pause(self.raw(), queue.raw(), until_ns) }).map(drop)
    }

    /// The statistics since the journal was opened.
    pub fn stats(&self) -> Result<htw_journal_stats, Error> {
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_journal_stats_init) };
        Error::check(unsafe { htw_journal_get_stats(self.raw(), &mut raw) })?;
        Ok(raw)
    }

    fn raw(&self) -> *mut htw_journal {
        self.inner.raw()
    }
}

unsafe extern "C" fn visit_job(arg: *mut c_void, raw: *const htw_job_info) -> bool {
    // SAFETY: the argument is that of peek() or list(), and `raw` is valid here.
    unsafe { (*(arg as *mut Vec<JobInfo>)).push(JobInfo::of(&*raw)) };
    true
}

fn with_queues<T>(
    queues: &[&str],
    options: LeaseOptions,
    call: impl FnOnce(&htw_lease) -> Result<T, Error>,
) -> Result<T, Error> {
    let names = queues.iter().map(|queue| QueueName::new(queue)).collect::<Result<Vec<_>, _>>()?;
    let pointers: Vec<_> = names.iter().map(QueueName::raw).collect();
    let mut raw = options.raw();
    raw.queues = pointers.as_ptr();
    raw.queue_count = pointers.len();
    call(&raw)
}

opaque!(JournalOptions, ListPlace, Journal);
by_default_new!(JournalOptions, LeaseOptions);
