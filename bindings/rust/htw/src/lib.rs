// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![warn(unsafe_op_in_unsafe_fn)]

#[cfg(feature = "calendar")]
mod calendar;
mod callback;
mod error;
mod group;
mod iter;
#[cfg(test)]
mod memory_tests;
mod nodes;
mod outcome;
mod scheduler;
mod shared;
mod stats;
mod time;
mod timer;
mod wheel;

#[cfg(feature = "calendar")]
pub use calendar::{Calendar, CalendarTimer, CronError, Weekdays, Zone};
pub use callback::Expiration;
pub use error::Error;
pub use group::Group;
pub use iter::{Drain, Expire, Iter};
pub use nodes::Key;
pub use outcome::Outcome;
pub use scheduler::{Scheduler, SchedulerOptions};
pub use stats::{Distribution, SchedulerStats};
pub use time::{Clock, Deadline};
pub use timer::{Builder, Repeat, Timer};
pub use wheel::{Expired, Progress, Wheel, WheelOptions, WheelStats, NEVER};
