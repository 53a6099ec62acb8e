// SPDX-License-Identifier: MIT
//! shared.rs - the scheduler of C, which timers and groups keep alive.
use crate::callback::PanicHandler;
use crate::time::{Clock, Deadline};
use crate::Error;
use htw_sys::*;
use std::os::raw::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) struct Shared {
    pub raw: NonNull<htw_scheduler>,
    pub clock: Clock,
    pub on_panic: Arc<PanicHandler>,
}

// SAFETY: any thread may call any function of a scheduler at any time.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Shared {
    pub fn raw(&self) -> *mut htw_scheduler {
        self.raw.as_ptr()
    }

    /// A deadline in nanoseconds of a timer's clock: `own`, or the scheduler's if that is none.
    /// Fails if it is of another clock, or an instant in manual time.
    pub fn deadline_ns(&self, deadline: Deadline, own: Option<Clock>) -> Result<i64, Error> {
        let clock = own.unwrap_or(self.clock);
        match deadline.clock() {
            Some(other) if other != clock => Err(Error::InvalidArgument),
            Some(Clock::Monotonic) if self.clock == Clock::Manual => Err(Error::InvalidArgument),
            _ => Ok(deadline.to_ns(|| self.now_ns(Clock::Monotonic))),
        }
    }

    pub fn now_ns(&self, clock: Clock) -> i64 {
        // SAFETY: only reads the clock.
        unsafe { htw_scheduler_now_by(self.raw(), clock.raw()) }
    }

    pub fn stop(&self) -> Result<u64, Error> {
        unsafe extern "C" fn count(context: *mut c_void, _: *const htw_unexpired) {
            unsafe { *(context as *mut u64) += 1 };
        }
        let mut left = 0u64;
        // SAFETY: the visitor is called inside the call, in this thread.
        let result = unsafe {
            htw_scheduler_stop(self.raw(), Some(count), &mut left as *mut u64 as *mut c_void)
        };
        Error::check(result).map(|_| left)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // It was stopped, so that no closure is running or will. Where this fails all stays as it
        // is: in a child after fork. SAFETY: no timer, group or call refers to it any more.
        let _ = unsafe { htw_scheduler_destroy(self.raw()) };
    }
}
