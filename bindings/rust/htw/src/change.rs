// SPDX-License-Identifier: MIT
//! change.rs - changes of a journal that are made together (feature `journal`).
use crate::job::{Job, QueueName, Step};
use crate::lease::Lease;
use crate::raw::initial;
use crate::Error;
use htw_sys::*;

/// Changes that are made together or not at all, by [`Journal::apply`](crate::Journal::apply): first jobs end and
/// steps are made, then jobs are put.
#[derive(Default)]
#[must_use = "a change is made by Journal::apply()"]
pub struct Change<'a> {
    jobs: Vec<Job<'a>>,
    steps: Vec<Step<'a>>,
    leases: Vec<Lease>,
}

impl<'a> Change<'a> {
    /// A change of nothing.
    pub fn new() -> Change<'a> {
        Change::default()
    }

    /// Puts a job.
    pub fn put(mut self, job: Job<'a>) -> Change<'a> {
        self.jobs.push(job);
        self
    }

    /// Ends the job of a lease. If the change fails, it is given back.
    pub fn done(mut self, lease: Lease) -> Change<'a> {
        self.steps.push(Step::done(lease.id()).of_attempt(lease.attempt()));
        self.leases.push(lease);
        self
    }

    /// Makes a step.
    pub fn step(mut self, step: Step<'a>) -> Change<'a> {
        self.steps.push(step);
        self
    }

    /// Calls a function of the library for the change, and returns the ids of the jobs that were put.
    pub(crate) fn submit(
        self,
        call: impl FnOnce(*const htw_journal_change) -> Result<(), Error>,
    ) -> Result<Vec<u64>, Error> {
        let names: Result<Vec<_>, _> =
            self.jobs.iter().map(|job| QueueName::new(job.queue)).collect();
        let names = names?;
        let mut jobs: Vec<_> =
            self.jobs.iter().zip(&names).map(|(job, name)| job.raw(name)).collect();
        let updates: Vec<_> = self.steps.iter().map(|step| *step.raw()).collect();
        // SAFETY: the library fills in all members.
        let mut raw = unsafe { initial(htw_journal_change_init) };
        raw.jobs = jobs.as_mut_ptr();
        raw.job_count = jobs.len();
        raw.updates = updates.as_ptr();
        raw.update_count = updates.len();
        call(&raw)?;
        for lease in self.leases {
            lease.detach();
        }
        Ok(jobs.iter().map(|job| job.id).collect())
    }
}
