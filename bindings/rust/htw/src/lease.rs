// SPDX-License-Identifier: MIT
//! lease.rs - a job that is handed out (feature `journal`).
use crate::callback::{guard, PanicHandler};
use crate::job::Step;
use crate::open::{check_step, later, Open};
use crate::raw::{bytes_of, text_of};
use crate::time::{time_of, to_duration};
use crate::Error;
use htw_sys::*;
use std::fmt;
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

/// A job that is handed out, and the right to say what becomes of it, once. A lease that is dropped gives its job
/// back, as [`release`](Lease::release) does; so a panic does.
///
/// The methods that end it return whether the job was as the lease says: `false` if the lease had ended before, by
/// its time or because another one has ended the job. If they fail otherwise, the job is given back.
///
/// It has a copy of the job, and keeps the journal open.
#[must_use = "a lease that is dropped gives its job back"]
pub struct Lease {
    journal: Option<(Arc<Open>, *mut htw_journal)>, // None: it was ended
    id: u64,
    attempt: u32,
    priority: u32,
    payload: Vec<u8>,
    key: Option<Vec<u8>>,
    queue: String,
    deadline_ns: i64,
    late_ns: i64,
    end_ns: i64,
}

// SAFETY: any thread may call any function of a journal, which exists while `Open` does.
unsafe impl Send for Lease {}
unsafe impl Sync for Lease {}

impl Lease {
    /// # Safety
    ///
    /// `raw` is what a hook of the journal was given.
    pub(crate) unsafe fn of(journal: Arc<Open>, raw: &htw_delivery) -> Lease {
        unsafe {
            Lease {
                journal: Some((journal, raw.journal)),
                id: raw.id,
                attempt: raw.attempt,
                priority: raw.priority,
                payload: bytes_of(raw.payload, raw.payload_size).unwrap_or_default(),
                key: bytes_of(raw.key, raw.key_size),
                queue: text_of(raw.queue),
                deadline_ns: raw.deadline_ns,
                late_ns: raw.late_ns,
                end_ns: raw.lease_end_ns,
            }
        }
    }

    /// The id of the job, the same at each attempt.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Which attempt this is: 1, 2, ...
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The priority of the job.
    pub fn priority(&self) -> u32 {
        self.priority
    }

    /// The payload of the job.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The key of the job, if it has one.
    pub fn key(&self) -> Option<&[u8]> {
        self.key.as_deref()
    }

    /// The queue of the job; "": the default one.
    pub fn queue(&self) -> &str {
        &self.queue
    }

    /// When the job was to be handed out.
    pub fn deadline(&self) -> SystemTime {
        time_of(self.deadline_ns)
    }

    /// How long after that it was.
    pub fn late(&self) -> Duration {
        to_duration(self.late_ns)
    }

    /// When the lease ends by itself; `None`: the job was delivered, and it does not.
    pub fn end(&self) -> Option<SystemTime> {
        (self.end_ns != HTW_NEVER_NS).then(|| time_of(self.end_ns))
    }

    /// Ends the job, and waits until that is durable.
    pub fn done(self) -> Result<bool, Error> {
        let step = Step::done(self.id);
        self.finish(step)
    }

    /// Ends the job, without waiting.
    pub fn done_later(mut self) -> Result<(), Error> {
        Error::check(self.update_later(Step::done(self.id), None, ptr::null_mut()))?;
        self.journal = None;
        Ok(())
    }

    /// Gives the job back, and waits until that is durable: as the policy of its queue says, and without one at
    /// once.
    pub fn release(self) -> Result<bool, Error> {
        let step = Step::release(self.id);
        self.finish(step)
    }

    /// Gives the job back until that time.
    pub fn release_at(self, time: SystemTime) -> Result<bool, Error> {
        let step = Step::release_at(self.id, time);
        self.finish(step)
    }

    /// Puts the job aside until it is kicked.
    pub fn bury(self) -> Result<bool, Error> {
        let step = Step::bury(self.id);
        self.finish(step)
    }

    /// Lets the lease end at that time. `false`: it has ended, or cannot end, as the job was delivered.
    pub fn extend(&mut self, end: SystemTime) -> Result<bool, Error> {
        let step = Step::extend(self.id, end);
        let extended = check_step(self.update(step))?;
        if extended {
            self.end_ns = crate::time::instant_ns(end);
        }
        Ok(extended)
    }

    /// Leaves the job to itself, and returns its id: the lease ends by its time, or by a step with its id.
    pub fn detach(mut self) -> u64 {
        self.journal = None;
        self.id
    }

    fn update(&self, step: Step<'_>) -> c_int {
        let step = step.of_attempt(self.attempt);
        let raw = self.journal.as_ref().expect("a lease is ended once").1;
        // SAFETY: the journal is open while `Open` exists.
        unsafe { htw_journal_update(raw, step.raw()) }
    }

    /// Makes a step without waiting; without a notice, `arg` is null.
    fn update_later(&self, step: Step<'_>, durable: htw_durable, arg: *mut c_void) -> c_int {
        let step = step.of_attempt(self.attempt);
        let raw = self.journal.as_ref().expect("a lease is ended once").1;
        // SAFETY: the journal is open while `Open` exists; the notice, if there is one, takes `arg`.
        unsafe { htw_journal_update_later(raw, step.raw(), durable, arg) }
    }

    fn finish(mut self, step: Step<'_>) -> Result<bool, Error> {
        let made = check_step(self.update(step))?;
        self.journal = None;
        Ok(made)
    }

    /// As [`done_later`](Lease::done_later). The closure is called in the thread that writes, when the end is
    /// durable or has failed.
    pub fn done_later_then<F>(mut self, then: F) -> Result<(), Error>
    where
        F: FnOnce(Result<(), Error>) + Send + 'static,
    {
        let inner = &self.journal.as_ref().expect("a lease is ended once").0;
        let notice = move |result: Result<c_int, Error>| then(result.map(drop));
        later(inner, notice, |durable, arg| self.update_later(Step::done(self.id), durable, arg))?;
        self.journal = None;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.journal.is_some() {
            // Where this fails the lease ends by its time.
            let _ = self.update_later(Step::release(self.id), None, ptr::null_mut());
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("id", &self.id)
            .field("queue", &self.queue)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// What Journal::lease() waits for.
pub(crate) struct Receiver {
    pub journal: Arc<Open>,
    pub lease: Option<Lease>,
}

impl Receiver {
    pub unsafe extern "C" fn receive(arg: *mut c_void, result: c_int, raw: *const htw_delivery) {
        // SAFETY: the caller waits, and `raw` is valid if the result is 0.
        let receiver = unsafe { &mut *(arg as *mut Receiver) };
        if result == 0 {
            receiver.lease = Some(unsafe { Lease::of(receiver.journal.clone(), &*raw) });
        }
    }
}

/// A closure that Journal::lease_later() has taken.
pub(crate) struct LeaseNotice<F> {
    pub journal: Weak<Open>,
    pub on_panic: Arc<PanicHandler>,
    pub function: F,
}

impl<F: FnOnce(Result<Lease, Error>)> LeaseNotice<F> {
    pub unsafe extern "C" fn receive(arg: *mut c_void, result: c_int, raw: *const htw_delivery) {
        // SAFETY: this is called once, and `raw` is valid if the result is 0.
        let LeaseNotice { journal, on_panic, function } =
            *unsafe { Box::from_raw(arg as *mut LeaseNotice<F>) };
        let lease = match (Error::check(result), journal.upgrade()) {
            (Err(error), _) => Err(error),
            (Ok(_), None) => Err(Error::Stopped), // it is being closed, which ends the lease
            (Ok(_), Some(journal)) => Ok(unsafe { Lease::of(journal, &*raw) }),
        };
        guard(&*on_panic, || function(lease));
    }
}
