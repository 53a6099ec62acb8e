// SPDX-License-Identifier: MIT
//! scope.rs - scopes, whose deadlines propagate from an operation to all that it starts.
use crate::callback::guard;
use crate::shared::Shared;
use crate::time::{to_duration, to_ns};
use crate::Error;
use htw_sys::*;
use std::os::raw::c_int;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Whether, and why, a [`Scope`] has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeEnd {
    /// It has not ended.
    Open,
    /// Its own deadline, earlier than that of its parent, has passed.
    Deadline,
    /// It was cancelled, or dropped before its end.
    Cancelled,
    /// Its parent has ended; [`Scope::cause`] says why.
    Parent,
}

impl ScopeEnd {
    fn from_raw(raw: htw_scope_end) -> ScopeEnd {
        match raw {
            HTW_SCOPE_DEADLINE => ScopeEnd::Deadline,
            HTW_SCOPE_CANCELLED => ScopeEnd::Cancelled,
            HTW_SCOPE_PARENT => ScopeEnd::Parent,
            _ => ScopeEnd::Open,
        }
    }

    fn check(result: c_int) -> Result<ScopeEnd, Error> {
        Error::check(result).map(|end| ScopeEnd::from_raw(end as htw_scope_end))
    }
}

/// An operation that ends, with all that it starts, by one deadline or one cancel; see
/// [`Scheduler::scope`](crate::Scheduler::scope).
///
/// Its deadline is its own or that of its parent, whichever is earlier. It ends once, and then all
/// scopes in it, after their parent and the newest first. To drop it ends what is in it, and waits
/// for its closure if that is running in another thread.
///
/// Any thread may use it, also in a closure.
pub struct Scope {
    node: NonNull<Node>,
    scheduler: Arc<Shared>, // exists longer than the scope
}

/// What C is given, in a box, which is freed when the scope was exited.
#[repr(C)]
struct Node {
    raw: htw_scope, // the first, so that its address is that of the node
    ended: Option<Box<dyn FnOnce(ScopeEnd) + Send>>,
    scheduler: *const Shared,
}

// SAFETY: any thread may call any function of a scope. Only the thread that ends it takes `ended`.
unsafe impl Send for Scope {}
unsafe impl Sync for Scope {}

unsafe extern "C" fn run(scope: *mut htw_scope, why: htw_scope_end) {
    let node = scope as *mut Node;
    // SAFETY: the library calls this once, and the node exists until it returns or exits the scope. The closure may do
    // that, so it is called after it was taken.
    let (ended, scheduler) = unsafe { ((&mut (*node).ended).take(), (*node).scheduler) };
    if let Some(ended) = ended {
        // SAFETY: the scope refers to the scheduler until here.
        let on_panic = unsafe { (*scheduler).on_panic.clone() };
        guard(&*on_panic, || ended(ScopeEnd::from_raw(why)));
    }
}

impl Scope {
    pub(crate) fn enter(
        scheduler: &Arc<Shared>,
        parent: *mut htw_scope,
        delay: Duration,
        ended: impl FnOnce(ScopeEnd) + Send + 'static,
    ) -> Result<Scope, Error> {
        // SAFETY: a scope that is zeroed was not entered.
        let raw = unsafe { std::mem::zeroed() };
        let node = Node { raw, ended: Some(Box::new(ended)), scheduler: &**scheduler };
        // SAFETY: the box is not null.
        let node = unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(node))) };
        let scope = Scope { node, scheduler: scheduler.clone() };
        // SAFETY: the node stays where it is until drop() has exited the scope; the parent exists.
        Error::check(unsafe {
            htw_scope_enter(scope.raw(), scheduler.raw(), parent, to_ns(delay), Some(run))
        })?;
        Ok(scope)
    }

    fn raw(&self) -> *mut htw_scope {
        self.node.as_ptr() as *mut htw_scope
    }

    /// Enters a scope in this one; see [`Scheduler::scope`](crate::Scheduler::scope). It has the earlier of both deadlines.
    pub fn child<F>(&self, delay: Duration, ended: F) -> Result<Scope, Error>
    where
        F: FnOnce(ScopeEnd) + Send + 'static,
    {
        Scope::enter(&self.scheduler, self.raw(), delay, ended)
    }

    /// Ends the scope and all scopes in it. Returns [`ScopeEnd::Open`] if this call has ended it, otherwise why it had
    /// ended.
    pub fn cancel(&self) -> ScopeEnd {
        // SAFETY: the node exists, here and below.
        ScopeEnd::check(unsafe { htw_scope_cancel(self.raw()) }).unwrap_or(ScopeEnd::Open)
    }

    /// Gives the scope, and all in it, a deadline that is not later than `delay` from now. Returns
    /// [`ScopeEnd::Open`], or why it has ended.
    pub fn shorten(&self, delay: Duration) -> Result<ScopeEnd, Error> {
        ScopeEnd::check(unsafe { htw_scope_shorten(self.raw(), to_ns(delay)) })
    }

    /// How much time is left, to pass on to a peer: 0 if it has ended, [`Duration::MAX`] if it has no deadline.
    pub fn left(&self) -> Duration {
        match unsafe { htw_scope_left_ns(self.raw()) } {
            HTW_NEVER_NS => Duration::MAX,
            left_ns => to_duration(left_ns),
        }
    }

    /// Whether, and why, the scope has ended.
    pub fn why(&self) -> ScopeEnd {
        ScopeEnd::from_raw(unsafe { htw_scope_why(self.raw()) })
    }

    /// Why the first scope has ended of those that have ended this one.
    pub fn cause(&self) -> ScopeEnd {
        ScopeEnd::from_raw(unsafe { htw_scope_cause(self.raw()) })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // Where two closures drop the scopes of each other, one of these stays in memory; and in a child after fork. A
        // scope that was not entered is no valid argument.
        let result = unsafe { htw_scope_exit(self.raw()) };
        if result >= 0 || Error::check(result) == Err(Error::InvalidArgument) {
            // SAFETY: the library does not use it any more.
            drop(unsafe { Box::from_raw(self.node.as_ptr()) });
        } else {
            std::mem::forget(self.scheduler.clone());
        }
    }
}
