// SPDX-License-Identifier: MIT
//! observe.rs - what is observed of a scheduler.
use htw_sys::*;
use std::ops::BitOr;

/// What is observed of a scheduler: a set. See [`Scheduler::observe`](crate::Scheduler::observe).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Observe(pub(crate) u32);

impl Observe {
    /// Nothing: it costs nothing.
    pub const NOTHING: Observe = Observe(0);
    /// Counts by the place of the call that has armed a timer:
    /// [`Scheduler::dump`](crate::Scheduler::dump).
    pub const SITES: Observe = Observe(HTW_OBSERVE_SITES);
    /// The last events of the timers, for `htw replay`.
    pub const EVENTS: Observe = Observe(HTW_OBSERVE_EVENTS);
    /// The stack of each call that schedules: for [`Scheduler::dump`](crate::Scheduler::dump) and, when the
    /// scheduler is dropped, for timers that are left. With another C library than glibc:
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub const STACKS: Observe = Observe(HTW_OBSERVE_STACKS);
}

impl BitOr for Observe {
    type Output = Observe;

    fn bitor(self, other: Observe) -> Observe {
        Observe(self.0 | other.0)
    }
}
