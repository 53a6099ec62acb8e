// SPDX-License-Identifier: MIT
//! callback.rs - closures as callbacks of the library.
//!
//! A closure is in a box, which is the argument of its timer. The release hook of the timer frees
//! the box: exactly once, in whichever way the timer ends. No panic leaves these functions, because
//! C cannot pass it on.
use crate::time::{to_duration, Clock};
use htw_sys::*;
use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::abort;
use std::sync::Arc;
use std::time::Duration;

/// Receives what a closure panicked with.
pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// What a closure learns about its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expiration {
    /// The deadline of this run, since the epoch of the timer's clock.
    pub deadline: Duration,
    /// The clock of the timer.
    pub clock: Clock,
    /// The time from the deadline to the start of this run.
    pub late: Duration,
    /// The periods that were skipped since the previous run.
    pub missed: u64,
}

pub(crate) struct Callback<F> {
    function: F,
    on_panic: Arc<PanicHandler>,
}

impl<F> Callback<F> {
    pub fn into_arg(function: F, on_panic: Arc<PanicHandler>) -> *mut c_void {
        Box::into_raw(Box::new(Callback { function, on_panic })) as *mut c_void
    }

    /// Frees what into_arg() has made.
    ///
    /// # Safety
    ///
    /// No other code uses `arg`, now or later.
    pub unsafe extern "C" fn release(arg: *mut c_void) {
        let callback = unsafe { Box::from_raw(arg as *mut Callback<F>) };
        let on_panic = callback.on_panic.clone();
        guard(&*on_panic, || drop(callback));
    }
}

impl<F: FnOnce(Expiration)> Callback<Option<F>> {
    pub unsafe extern "C" fn run_once(arg: *mut c_void, expiration: *const htw_expiration) {
        // SAFETY: the library runs a timer in one thread at a time, and releases `arg` after that.
        let (callback, expiration) = unsafe { (&mut *(arg as *mut Self), &*expiration) };
        if let Some(function) = callback.function.take() {
            guard(&*callback.on_panic, || function(Expiration::new(expiration)));
        }
    }
}

impl<F: FnMut(Expiration)> Callback<F> {
    pub unsafe extern "C" fn run(arg: *mut c_void, expiration: *const htw_expiration) {
        // SAFETY: as in run_once().
        let (callback, expiration) = unsafe { (&mut *(arg as *mut Self), &*expiration) };
        let function = &mut callback.function;
        if !guard(&*callback.on_panic, || function(Expiration::new(expiration))) {
            // What the closure has left half done is not to be seen by another run. SAFETY: the
            // scheduler exists while it runs a callback.
            let _ = unsafe { htw_cancel(expiration.scheduler, expiration.handle) };
        }
    }
}

impl Expiration {
    fn new(raw: &htw_expiration) -> Expiration {
        Expiration {
            deadline: to_duration(raw.deadline_ns),
            clock: Clock::from_raw(raw.clock),
            late: to_duration(raw.late_ns),
            missed: raw.missed,
        }
    }
}

/// Calls user code, and returns whether it returned. A handler that panics ends the program.
pub(crate) fn guard(on_panic: &PanicHandler, call: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(()) => true,
        Err(panic) => {
            if let Err(another) = catch_unwind(AssertUnwindSafe(|| on_panic(panic))) {
                std::mem::forget(another); // it may panic when it is dropped
                abort();
            }
            false
        }
    }
}
