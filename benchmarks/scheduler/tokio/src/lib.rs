// SPDX-License-Identifier: MIT
//! The two ways of a timer in tokio, as peers of htw-bench-scheduler (../peer.h): a plugin of that program.
//! The runtime has several threads, and its defaults.
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::future::Future;
use std::mem::{forget, transmute};
use std::pin::Pin;
use std::ptr::{self, null_mut};
use std::sync::OnceLock;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio::time::{sleep, Sleep};

type Callback = extern "C" fn(*mut c_void, *const c_void);

/// struct peer.
#[repr(C)]
struct Peer {
    name: *const c_char,
    about: *const c_char,
    has_workers: bool,
    arms_later: bool,
    start: extern "C" fn(c_int),
    schedule: extern "C" fn(i64, i64, Callback, *mut c_void, *mut u64) -> c_int,
    cancel: extern "C" fn(u64) -> bool,
    pending: Option<extern "C" fn() -> u64>,
}

// SAFETY: its texts do not change.
unsafe impl Sync for Peer {}

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

fn runtime() -> &'static Runtime {
    RUNTIME.get().expect("start() was called")
}

extern "C" fn start(_workers: c_int) {
    let _ = RUNTIME.set(Builder::new_multi_thread().enable_time().build().expect("a runtime"));
}

/// A sleep whose delay counts from here. Its thread enters the runtime once, until it ends.
fn sleep_ns(delay_ns: i64) -> Sleep {
    thread_local!(static HAS_ENTERED: Cell<bool> = const { Cell::new(false) });
    if !HAS_ENTERED.replace(true) {
        forget(runtime().enter());
    }
    sleep(Duration::from_nanos(delay_ns.max(0) as u64))
}

/// What the benchmark gives a callback; the task runs it in a thread of the runtime.
struct Argument(*mut c_void);

// SAFETY: the benchmark expects its callbacks in any thread.
unsafe impl Send for Argument {}

/// A task that sleeps and then runs the callback; it is aborted.
extern "C" fn schedule_task(
    _now: i64,
    delay_ns: i64,
    callback: Callback,
    argument: *mut c_void,
    handle: *mut u64,
) -> c_int {
    let elapsing = sleep_ns(delay_ns); // not from when the task runs first
    let argument = Argument(argument);
    let task = runtime().spawn(async move {
        elapsing.await;
        let Argument(argument) = { argument };
        callback(argument, ptr::null());
    });
    if !handle.is_null() {
        // SAFETY: a handle is one pointer, which cancel_task() gets once.
        unsafe { *handle = transmute::<AbortHandle, usize>(task.abort_handle()) as u64 };
    }
    0
}

/// Whether it came in time is not known: the benchmark counts callbacks that run nevertheless.
extern "C" fn cancel_task(handle: u64) -> bool {
    // SAFETY: made by schedule_task().
    unsafe { transmute::<usize, AbortHandle>(handle as usize) }.abort();
    true
}

extern "C" fn count_tasks() -> u64 {
    runtime().metrics().num_alive_tasks() as u64
}

/// A sleep without a task, as inside of tokio::time::timeout(): its first poll arms it, and dropping it cancels. Nothing
/// runs when it elapses.
extern "C" fn schedule_sleep(
    _now: i64,
    delay_ns: i64,
    _callback: Callback,
    _argument: *mut c_void,
    handle: *mut u64,
) -> c_int {
    let mut timer = Box::pin(sleep_ns(delay_ns));
    let _ = timer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    // SAFETY: it stays where it is; each such timer is cancelled, and so has a handle.
    unsafe { *handle = Box::into_raw(Pin::into_inner_unchecked(timer)) as u64 };
    0
}

extern "C" fn cancel_sleep(handle: u64) -> bool {
    // SAFETY: made by schedule_sleep().
    let timer = unsafe { Box::from_raw(handle as *mut Sleep) };
    !timer.is_elapsed()
}

const fn text(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}

static TASKS: Peer = Peer {
    name: text(c"tokio"),
    about: text(c"a task that sleeps"),
    has_workers: false,
    arms_later: true,
    start,
    schedule: schedule_task,
    cancel: cancel_task,
    pending: Some(count_tasks),
};

static SLEEPS: Peer = Peer {
    name: text(c"tokio-sleep"),
    about: text(c"a sleep without a task"),
    has_workers: false,
    arms_later: false,
    start,
    schedule: schedule_sleep,
    cancel: cancel_sleep,
    pending: None,
};

#[repr(transparent)]
pub struct Plugin(*mut c_void);

// SAFETY: it refers to what does not change.
unsafe impl Sync for Plugin {}

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static bench_plugins: [Plugin; 3] = [
    Plugin(ptr::addr_of!(TASKS) as *mut c_void),
    Plugin(ptr::addr_of!(SLEEPS) as *mut c_void),
    Plugin(null_mut()),
];
