// SPDX-License-Identifier: MIT
//! job.rs - what a journal is told and shows: jobs, steps, queues (feature `journal`).
use crate::raw::{bytes_of, c_text, initial, setters, text_of};
use crate::time::{instant_ns, time_of, to_duration, to_ns};
use crate::Error;
use htw_sys::*;
use std::ffi::CString;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::time::{Duration, SystemTime};

/// The name of a queue for C. "" is the default queue, to C NULL.
pub(crate) struct QueueName(Option<CString>);

impl QueueName {
    pub fn new(name: &str) -> Result<QueueName, Error> {
        if name.is_empty() {
            return Ok(QueueName(None));
        }
        Ok(QueueName(Some(c_text(name)?)))
    }

    /// Valid while the name is.
    pub fn raw(&self) -> *const c_char {
        self.0.as_ref().map_or(ptr::null(), |name| name.as_ptr())
    }
}

/// A job that is to be put. Made by `Job::new(payload)`, and the methods below.
///
/// The name of a queue is a text without NUL of up to 255 bytes; "" is the default queue.
#[derive(Clone, Copy, Debug)]
#[must_use = "a job is put by Journal::put()"]
pub struct Job<'a> {
    payload: &'a [u8],
    deadline_ns: i64,
    key: Option<&'a [u8]>,
    if_absent: bool,
    pub(crate) queue: &'a str,
    priority: u32,
    lease: Duration,
}

impl<'a> Job<'a> {
    /// A job that is handed out at once.
    pub fn new(payload: &'a [u8]) -> Job<'a> {
        Job {
            payload,
            deadline_ns: 0,
            key: None,
            if_absent: false,
            queue: "",
            priority: 0,
            lease: Duration::ZERO,
        }
    }

    setters! {
        /// It is handed out at that time: see [`Journal::now`](crate::Journal::now).
        at(time: SystemTime) self => self.deadline_ns = instant_ns(time);

        /// It is handed out when a step makes it ready.
        never() self => self.deadline_ns = HTW_NEVER_NS;

        /// At most one job has a key: a new one replaces the one that has it.
        key(key: &'a [u8]) self => self.key = Some(key);

        /// If a job has the key, that one stays, and the put fails with [`Error::KeyExists`].
        if_absent() self => self.if_absent = true;

        /// The queue that it is in.
        queue(queue: &'a str) self => self.queue = queue;

        /// 0, as without this, comes first; of equal ones the job that was put first.
        priority(priority: u32) self => self.priority = priority;

        /// How long its leases last; without this as the options of the journal say.
        lease(lease: Duration) self => self.lease = lease;
    }

    pub(crate) fn raw(&self, queue: &QueueName) -> htw_job {
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_job_init) };
        raw.deadline_ns = self.deadline_ns;
        raw.payload = self.payload.as_ptr() as *const c_void;
        raw.payload_size = self.payload.len();
        if let Some(key) = self.key {
            raw.key = key.as_ptr() as *const c_void;
            raw.key_size = key.len();
        }
        raw.queue = queue.raw();
        raw.priority = self.priority;
        raw.flags = if self.if_absent { HTW_JOB_IF_ABSENT } else { 0 };
        raw.lease_ns = to_ns(self.lease);
        raw
    }
}

/// What is done with a job that exists, by [`Journal::update`](crate::Journal::update) or in a [`Change`](crate::Change).
#[derive(Clone, Copy)]
#[must_use = "a step is made by Journal::update()"]
pub struct Step<'a> {
    raw: htw_job_update,
    borrows: PhantomData<&'a [u8]>,
}

impl<'a> Step<'a> {
    fn new(id: u64, step: htw_job_step) -> Step<'static> {
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_job_update_init) };
        raw.id = id;
        raw.step = step;
        Step { raw, borrows: PhantomData }
    }

    fn at(mut self, time: SystemTime) -> Step<'a> {
        self.raw.deadline_ns = instant_ns(time);
        self
    }

    /// Ends the job, in any state.
    pub fn done(id: u64) -> Step<'static> {
        Step::new(id, HTW_JOB_END)
    }

    /// Ends the job, unless it is leased or was delivered.
    pub fn cancel(id: u64) -> Step<'static> {
        Step::new(id, HTW_JOB_CANCEL)
    }

    /// The same for the job that has a key.
    pub fn cancel_key(key: &'a [u8]) -> Step<'a> {
        let mut step: Step<'a> = Step::new(0, HTW_JOB_CANCEL);
        step.raw.key = key.as_ptr() as *const c_void;
        step.raw.key_size = key.len();
        step
    }

    /// Gives a leased job back: as the policy of its queue says, and without one at once.
    pub fn release(id: u64) -> Step<'static> {
        Step::new(id, HTW_JOB_RELEASE)
    }

    /// Gives a leased job back until that time.
    pub fn release_at(id: u64, time: SystemTime) -> Step<'static> {
        Step::release(id).at(time)
    }

    /// Puts the job aside until it is kicked.
    pub fn bury(id: u64) -> Step<'static> {
        Step::new(id, HTW_JOB_BURY)
    }

    /// Makes a job ready that is buried or delayed.
    pub fn kick(id: u64) -> Step<'static> {
        Step::new(id, HTW_JOB_KICK)
    }

    /// Gives a job that is not leased another time.
    pub fn move_to(id: u64, time: SystemTime) -> Step<'static> {
        Step::new(id, HTW_JOB_MOVE).at(time)
    }

    /// The lease of the job ends at that time.
    pub fn extend(id: u64, end: SystemTime) -> Step<'static> {
        Step::new(id, HTW_JOB_EXTEND).at(end)
    }

    setters! {
        /// The step also gives the job a priority.
        priority(priority: u32) self => {
            self.raw.has_priority = true;
            self.raw.priority = priority;
        };

        /// The step fails with [`Error::LeaseEnded`] if the lease of this attempt has ended.
        of_attempt(attempt: u32) self => self.raw.attempt = attempt;
    }

    pub(crate) fn raw(&self) -> &htw_job_update {
        &self.raw
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Its time is to come.
    Delayed = HTW_JOB_DELAYED as isize,
    /// It waits to be leased.
    Ready = HTW_JOB_READY as isize,
    /// It is leased, or was delivered and is not done.
    Leased = HTW_JOB_LEASED as isize,
    /// It was put aside until it is kicked.
    Buried = HTW_JOB_BURIED as isize,
}

impl JobState {
    fn from_raw(raw: htw_job_state) -> JobState {
        match raw {
            HTW_JOB_READY => JobState::Ready,
            HTW_JOB_LEASED => JobState::Leased,
            HTW_JOB_BURIED => JobState::Buried,
            _ => JobState::Delayed,
        }
    }
}

/// What the library shows of a thing: its members, each with its value from the struct of C.
macro_rules! record {
    ($(#[$about:meta])* $name:ident of $struct:ident as $raw:ident;
     $($(#[$doc:meta])* $member:ident: $type:ty = $value:expr;)*) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* pub $member: $type,)*
        }

        impl $name {
            /// # Safety
            ///
            /// As in a visit of the library.
            pub(crate) unsafe fn of($raw: &$struct) -> $name {
                unsafe { $name { $($member: $value,)* } }
            }
        }
    };
}

record! {
    /// A job as it is.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    JobInfo of htw_job_info as raw;
    /// The id.
    id: u64 = raw.id;
    /// The state.
    state: JobState = JobState::from_raw(raw.state);
    /// The payload.
    payload: Vec<u8> = bytes_of(raw.payload, raw.payload_size).unwrap_or_default();
    /// The key, if it has one.
    key: Option<Vec<u8>> = bytes_of(raw.key, raw.key_size);
    /// The queue; "": the default one.
    queue: String = text_of(raw.queue);
    /// When it is ready, or when its lease ends; `None`: never.
    deadline: Option<SystemTime> = (raw.deadline_ns != HTW_NEVER_NS).then(|| time_of(raw.deadline_ns));
    /// When it was put, if that is known.
    put: Option<SystemTime> = (raw.put_ns != i64::MIN).then(|| time_of(raw.put_ns));
    /// How long its leases last.
    lease: Duration = to_duration(raw.lease_ns);
    /// The priority.
    priority: u32 = raw.priority;
    /// How often it was leased or delivered.
    attempts: u32 = raw.attempts;
    /// How often it was given back.
    releases: u32 = raw.releases;
    /// How often its lease has ended by itself.
    timeouts: u32 = raw.timeouts;
    /// How often it was buried.
    buries: u32 = raw.buries;
    /// How often it was kicked.
    kicks: u32 = raw.kicks;
}

/// What a queue does with a job whose attempt has failed: whose lease was released or has ended by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuePolicy {
    /// After so many attempts a job is buried; 0: never.
    pub attempts_max: u32,
    /// The delay after the first attempt; zero: none.
    pub initial: Duration,
    /// The longest delay.
    pub cap: Duration,
    /// By this the delay grows with each attempt.
    pub multiplier: f64,
    /// How much of the delay may be left out at random, from 0 to 1.
    pub jitter: f64,
}

impl Default for QueuePolicy {
    /// Does nothing.
    fn default() -> QueuePolicy {
        // SAFETY: the library fills in all members.
        QueuePolicy::of(&unsafe { initial(htw_queue_policy_init) })
    }
}

impl QueuePolicy {
    fn of(raw: &htw_queue_policy) -> QueuePolicy {
        QueuePolicy {
            attempts_max: raw.attempts_max,
            initial: to_duration(raw.initial_ns),
            cap: to_duration(raw.cap_ns),
            multiplier: raw.multiplier,
            jitter: raw.jitter,
        }
    }

    pub(crate) fn raw(&self) -> htw_queue_policy {
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_queue_policy_init) };
        raw.attempts_max = self.attempts_max;
        raw.initial_ns = to_ns(self.initial);
        raw.cap_ns = to_ns(self.cap);
        raw.multiplier = self.multiplier;
        raw.jitter = self.jitter;
        raw
    }
}

record! {
    /// The numbers of a queue.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    QueueStats of htw_queue_stats as raw;
    /// The name; "": the default queue.
    name: String = text_of(raw.name);
    /// Jobs in this state, as in those below.
    delayed: u64 = raw.delayed;
    /// See [`JobState`].
    ready: u64 = raw.ready;
    /// See [`JobState`].
    leased: u64 = raw.leased;
    /// See [`JobState`].
    buried: u64 = raw.buried;
    /// Requests for a lease that name it.
    waiting: u64 = raw.waiting;
    /// Until when it is paused, if it is.
    paused_until: Option<SystemTime> = (raw.paused_until_ns != i64::MIN).then(|| time_of(raw.paused_until_ns));
    /// The policy.
    policy: QueuePolicy = QueuePolicy::of(&raw.policy);
}
