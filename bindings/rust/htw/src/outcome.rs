// SPDX-License-Identifier: MIT
//! outcome.rs - what became of a timer.
use crate::Error;
use htw_sys::*;
use std::os::raw::c_int;

/// What has become of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It has ended before.
    Gone,
    /// It was pending; its closure does not run (again), and was dropped.
    Cancelled,
    /// Its closure is running. After a cancel, this is its last run.
    Running,
    /// It has its new deadline or period.
    Moved,
}

impl Outcome {
    pub(crate) fn check(result: c_int) -> Result<Outcome, Error> {
        Ok(match Error::check(result)? as htw_outcome {
            HTW_CANCELLED => Outcome::Cancelled,
            HTW_RUNNING => Outcome::Running,
            HTW_MOVED => Outcome::Moved,
            _ => Outcome::Gone,
        })
    }
}
