// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![warn(unsafe_op_in_unsafe_fn)]

#[cfg(feature = "calendar")]
mod calendar;
mod callback;
#[cfg(feature = "journal")]
mod change;
mod error;
mod group;
mod iter;
#[cfg(feature = "journal")]
mod job;
#[cfg(feature = "journal")]
mod journal;
#[cfg(feature = "journal")]
mod lease;
#[cfg(test)]
mod memory_tests;
mod nodes;
mod observe;
#[cfg(feature = "journal")]
mod open;
mod outcome;
mod raw;
mod scheduler;
mod scope;
mod shared;
mod site;
mod time;
mod timer;
mod wheel;

#[cfg(feature = "calendar")]
pub use calendar::{Calendar, CalendarTimer, CronError, Weekdays, Zone};
pub use callback::Expiration;
#[cfg(feature = "journal")]
pub use change::Change;
pub use error::Error;
pub use group::Group;
pub use iter::{Drain, Expire, Iter};
#[cfg(feature = "journal")]
pub use job::{Job, JobInfo, JobState, QueuePolicy, QueueStats, Step};
#[cfg(feature = "journal")]
pub use journal::{journal_error, Journal, JournalOptions, LeaseOptions, ListPlace};
#[cfg(feature = "journal")]
pub use lease::Lease;
pub use nodes::Key;
pub use observe::Observe;
pub use outcome::Outcome;
pub use scheduler::{Scheduler, SchedulerOptions};
pub use scope::{Scope, ScopeEnd};
pub use time::{Clock, Deadline};
pub use timer::{Builder, Repeat, Timer};
pub use wheel::{Expired, Progress, Wheel, WheelOptions, NEVER};

/// How often a duration was measured, and how long it was, in nanoseconds: `htw/base.h` explains each number.
pub use htw_sys::htw_distribution as Distribution;
/// What a [`Journal`] has done since it was opened: `htw/journal_inspect.h` explains each number.
#[cfg(feature = "journal")]
pub use htw_sys::htw_journal_stats as JournalStats;
/// What a [`Scheduler`] has done since it was created: `htw/observe.h` explains each number.
pub use htw_sys::htw_scheduler_stats as SchedulerStats;
/// What a [`Wheel`] has done since it was created: `htw/wheel_inspect.h` explains each number.
pub use htw_sys::htw_wheel_stats as WheelStats;
