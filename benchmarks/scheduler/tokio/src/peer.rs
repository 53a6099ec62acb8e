// SPDX-License-Identifier: MIT
//! The two ways of a timer in tokio, in a runtime of several threads with its defaults.
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::task::AbortHandle;
use tokio::time::{sleep, Sleep};

/// A timer that is armed and cancelled, and never fires.
pub trait Peer: Send + Sync + 'static {
    type Timer: Send;
    /// A thread that arms timers keeps what this returns.
    fn enter(&self) -> EnterGuard<'_>;
    fn arm(&self, delay_ns: i64) -> Self::Timer;
    fn cancel(&self, timer: Self::Timer);
    /// How many timers the runtime has; None if it does not count them.
    fn pending(&self) -> Option<u64>;
}

/// How many timers have fired that were to be cancelled.
pub static STRAYS: AtomicU64 = AtomicU64::new(0);

/// With `--cfg tokio_unstable` the timers are tokio's alternative ones: a wheel for each worker.
fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.enable_time();
    #[cfg(tokio_unstable)]
    builder.enable_alt_timer();
    builder.build().expect("a runtime")
}

/// A task that sleeps and then runs a callback; it is aborted.
pub struct Tasks {
    runtime: Runtime,
}

impl Tasks {
    pub fn start() -> Tasks {
        Tasks { runtime: runtime() }
    }

    /// Runs the callback when the delay is over. The thread has entered the runtime.
    pub fn schedule(&self, delay_ns: i64, callback: impl FnOnce() + Send + 'static) -> AbortHandle {
        let delay = Duration::from_nanos(delay_ns.max(0) as u64);
        let elapsing = sleep(delay); // its delay counts from here, not from when the task runs first
        let task = async move {
            elapsing.await;
            callback();
        };
        self.runtime.spawn(task).abort_handle()
    }
}

impl Peer for Tasks {
    type Timer = AbortHandle;

    fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    fn arm(&self, delay_ns: i64) -> AbortHandle {
        self.schedule(delay_ns, || {
            STRAYS.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn cancel(&self, timer: AbortHandle) {
        timer.abort();
    }

    fn pending(&self) -> Option<u64> {
        Some(self.runtime.metrics().num_alive_tasks() as u64)
    }
}

/// A sleep without a task, as inside of tokio::time::timeout(): its first poll arms it, and dropping it cancels.
pub struct Sleeps {
    runtime: Runtime,
}

impl Sleeps {
    pub fn start() -> Sleeps {
        Sleeps { runtime: runtime() }
    }
}

impl Peer for Sleeps {
    type Timer = Pin<Box<Sleep>>;

    fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    fn arm(&self, delay_ns: i64) -> Self::Timer {
        let mut timer = Box::pin(sleep(Duration::from_nanos(delay_ns as u64)));
        if timer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            STRAYS.fetch_add(1, Ordering::Relaxed);
        }
        timer
    }

    fn cancel(&self, timer: Self::Timer) {
        if timer.is_elapsed() {
            STRAYS.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn pending(&self) -> Option<u64> {
        None
    }
}
