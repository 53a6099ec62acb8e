// SPDX-License-Identifier: MIT
//! group.rs - timers that are cancelled, paused and resumed together.
use crate::outcome::Outcome;
use crate::raw::c_text;
use crate::shared::Shared;
use crate::Error;
use htw_sys::*;
use std::fmt;
use std::os::raw::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Timers that are cancelled, paused and resumed together, for example those of a connection; see
/// [`Scheduler::group`](crate::Scheduler::group). When it is dropped, its timers continue without a
/// group.
pub struct Group {
    scheduler: Arc<Shared>, // exists longer than the group
    raw: NonNull<htw_group>,
}

// SAFETY: any thread may call any function of a group at any time.
unsafe impl Send for Group {}
unsafe impl Sync for Group {}

impl Group {
    pub(crate) fn new(scheduler: &Arc<Shared>) -> Result<Group, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: the scheduler exists as long as `scheduler`, here and below.
        Error::check(unsafe { htw_group_create(scheduler.raw(), &mut raw) })?;
        let raw = NonNull::new(raw).expect("a group was created");
        Ok(Group { scheduler: scheduler.clone(), raw })
    }

    pub(crate) fn raw(&self) -> *mut htw_group {
        self.raw.as_ptr()
    }

    /// Cancels all timers of the group, and returns how many. Closures that are running do not
    /// count, but do not run again.
    pub fn cancel(&self) -> Result<u64, Error> {
        let count = unsafe { htw_group_cancel(self.raw(), None, ptr::null_mut()) };
        match u64::try_from(count) {
            Ok(count) => Ok(count),
            Err(_) => Err(Error::check(count as c_int).unwrap_err()),
        }
    }

    /// Cancels the timer of the group that has a key.
    pub fn cancel_key(&self, key: &[u8]) -> Result<Outcome, Error> {
        cancel_key(&self.scheduler, self.raw(), key)
    }

    /// Pauses the group: after this no closure of the group starts, and each timer keeps the rest
    /// of its delay.
    pub fn pause(&self) -> Result<(), Error> {
        Error::check(unsafe { htw_group_pause(self.raw()) }).map(drop)
    }

    /// Resumes the group.
    pub fn resume(&self) -> Result<(), Error> {
        Error::check(unsafe { htw_group_resume(self.raw()) }).map(drop)
    }

    /// Gives the group a name, for [`Scheduler::dump`](crate::Scheduler::dump), of which 31 bytes count.
    pub fn set_name(&self, name: &str) -> Result<(), Error> {
        let name = c_text(name)?;
        Error::check(unsafe { htw_group_set_name(self.raw(), name.as_ptr()) }).map(drop)
    }

    /// How many timers of the group are pending, paused or running.
    pub fn len(&self) -> u64 {
        unsafe { htw_group_count(self.raw()) }
    }

    /// Whether the group has no timer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        unsafe { htw_group_destroy(self.raw()) };
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("len", &self.len()).finish()
    }
}

/// Of a group, or with NULL of the timers without one.
pub(crate) fn cancel_key(
    scheduler: &Shared,
    group: *mut htw_group,
    key: &[u8],
) -> Result<Outcome, Error> {
    let bytes = key.as_ptr() as *const c_void;
    Outcome::check(unsafe {
        htw_cancel_key(scheduler.raw(), group, bytes, key.len(), ptr::null_mut())
    })
}
