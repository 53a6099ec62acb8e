// SPDX-License-Identifier: MIT
//! open.rs - the journal of C, which leases keep open; its hooks, and closures as notices (feature `journal`).
use crate::callback::{guard, PanicHandler};
use crate::shared::Shared;
use crate::Error;
use htw_sys::*;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Weak};

/// Receives a delivery of the library, which is valid in the call.
pub(crate) type Deliver = dyn Fn(Arc<Open>, &htw_delivery) + Send + Sync;
pub(crate) type Stopped = dyn Fn(&str) + Send + Sync;

/// What the hooks of the library use.
struct Hooks {
    journal: Weak<Open>,
    on_panic: Arc<PanicHandler>,
    deliver: Option<Box<Deliver>>,
    stopped: Option<Box<Stopped>>,
}

/// The journal of C, which leases keep open.
pub(crate) struct Open {
    raw: AtomicPtr<htw_journal>, // NULL until it was opened
    hooks: AtomicPtr<Hooks>,
    pub scheduler: Option<Arc<Shared>>, // whose memory it uses
    pub on_panic: Arc<PanicHandler>,
}

impl Open {
    pub fn create(
        mut options: htw_journal_options,
        deliver: Option<Box<Deliver>>,
        stopped: Option<Box<Stopped>>,
        scheduler: Option<Arc<Shared>>,
        on_panic: Arc<PanicHandler>,
        path: &CStr,
    ) -> Result<Arc<Open>, Error> {
        let raw_scheduler = scheduler.as_ref().map_or(ptr::null_mut(), |shared| shared.raw());
        let mut open = Open {
            raw: AtomicPtr::default(),
            hooks: AtomicPtr::default(),
            scheduler,
            on_panic: on_panic.clone(),
        };
        options.deliver = deliver.as_ref().map(|_| deliver_hook as _);
        options.stopped = stopped.as_ref().map(|_| stopped_hook as _);
        let open = Arc::new_cyclic(|journal| {
            let journal = journal.clone();
            let hooks = Box::new(Hooks { journal, on_panic, deliver, stopped });
            *open.hooks.get_mut() = Box::into_raw(hooks);
            open
        });
        let hooks = open.hooks.load(Ordering::Relaxed);
        options.context = hooks as *mut c_void;
        let mut raw = ptr::null_mut();
        // SAFETY: scheduler and hooks live until the journal is closed; the library keeps no pointer to the rest.
        let result = unsafe { htw_journal_open(&mut raw, raw_scheduler, path.as_ptr(), &options) };
        if let Err(error) = Error::check(result) {
            // SAFETY: no hook will be called.
            drop(unsafe { Box::from_raw(hooks) });
            return Err(error);
        }
        open.raw.store(raw, Ordering::Release);
        Ok(open)
    }

    pub fn raw(&self) -> *mut htw_journal {
        self.raw.load(Ordering::Acquire)
    }

    /// Closes the journal. No other code uses it, now or later.
    pub fn close(&mut self) -> Result<(), Error> {
        let closing = Closing {
            raw: *self.raw.get_mut(),
            hooks: *self.hooks.get_mut(),
            _scheduler: self.scheduler.take(),
        };
        *self.raw.get_mut() = ptr::null_mut();
        *self.hooks.get_mut() = ptr::null_mut();
        match closing.close() {
            // The last lease went in a closure of the journal, which this would wait for.
            Err(Error::Deadlock) => {
                // Without a thread the journal stays open, as if it had been leaked.
                let closer = std::thread::Builder::new().name("htw-close".into());
                closer.spawn(move || closing.close()).map_or(Err(Error::OutOfMemory), |_| Ok(()))
            }
            result => result,
        }
    }
}

struct Closing {
    raw: *mut htw_journal,
    hooks: *mut Hooks,
    _scheduler: Option<Arc<Shared>>,
}

// SAFETY: any thread may close a journal that no other thread uses.
unsafe impl Send for Closing {}

impl Closing {
    fn close(&self) -> Result<(), Error> {
        // SAFETY: only its hooks use the journal, for which this waits.
        let result = Error::check(unsafe { htw_journal_close(self.raw) }).map(drop);
        // A child after fork may be in a hook.
        if !matches!(result, Err(Error::Deadlock | Error::Forked)) && !self.hooks.is_null() {
            // SAFETY: no hook is called any more, and this is called once then.
            drop(unsafe { Box::from_raw(self.hooks) });
        }
        result
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.raw.get_mut().is_null() {
            let _ = self.close();
        }
    }
}

unsafe extern "C" fn deliver_hook(context: *mut c_void, raw: *const htw_delivery) {
    // SAFETY: the hooks live until the journal is closed; `raw` is valid here.
    let (hooks, raw) = unsafe { (&*(context as *const Hooks), &*raw) };
    // If it is being closed, the job comes when it is opened again.
    if let (Some(journal), Some(deliver)) = (hooks.journal.upgrade(), &hooks.deliver) {
        guard(&*hooks.on_panic, || deliver(journal, raw));
    }
}

unsafe extern "C" fn stopped_hook(context: *mut c_void, why: *const c_char) {
    // SAFETY: as above; `why` is a string.
    let (hooks, why) = unsafe { (&*(context as *const Hooks), CStr::from_ptr(why)) };
    if let Some(stopped) = &hooks.stopped {
        guard(&*hooks.on_panic, || stopped(&why.to_string_lossy()));
    }
}

/// A closure that is the notice of a change.
struct Notice<F> {
    on_panic: Arc<PanicHandler>,
    function: F,
}

impl<F: FnOnce(Result<c_int, Error>)> Notice<F> {
    unsafe extern "C" fn call(arg: *mut c_void, result: c_int) {
        // SAFETY: this is called once.
        let Notice { on_panic, function } = *unsafe { Box::from_raw(arg as *mut Notice<F>) };
        guard(&*on_panic, || function(Error::check(result)));
    }
}

/// Calls a function of C that takes a notice, and returns a negative number if it will not call it.
pub(crate) fn later<F: FnOnce(Result<c_int, Error>) + Send + 'static>(
    inner: &Open,
    function: F,
    call: impl FnOnce(htw_durable, *mut c_void) -> c_int,
) -> Result<(), Error> {
    let notice = Box::new(Notice { on_panic: inner.on_panic.clone(), function });
    let arg = Box::into_raw(notice);
    let result = Error::check(call(Some(Notice::<F>::call), arg as *mut c_void));
    if result.is_err() {
        // SAFETY: the library has not taken it.
        drop(unsafe { Box::from_raw(arg) });
    }
    result.map(drop)
}

/// Whether a step was made. `false`: it does not apply to the job as it is, or there is none.
pub(crate) fn check_step(result: c_int) -> Result<bool, Error> {
    match Error::check(result) {
        Ok(_) => Ok(true),
        Err(Error::NotFound | Error::InUse | Error::LeaseEnded) => Ok(false),
        Err(error) => Err(error),
    }
}
