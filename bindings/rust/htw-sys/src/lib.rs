// SPDX-License-Identifier: MIT
//! Declarations of the C library htw: hierarchical timing wheels, a scheduler with threads, and a
//! purgatory for requests.
//!
//! This crate adds nothing to C: names, types and rules are those of the headers `htw/wheel.h`,
//! `htw/scheduler.h`, `htw/purgatory.h`, `htw/threshold.h` and `htw/backoff.h`, and with the features
//! `calendar` and `journal` also `htw/calendar.h` and `htw/journal.h`, which are the reference. The crate `htw` is the safe interface.
//!
//! What differs from C:
//!
//! - A function that is `static inline` in C is not there: call what it calls.
//! - In place of a macro `HTW_..._INIT`, zero the struct, and set its `struct_size`.
//! - The macro `HTW_CONTAINER_OF` and the numbers of the version are not there. [`htw_version()`]
//!   is that of the library.
//! - An enumeration is an integer type and constants, so that a value that a later version adds is
//!   no undefined behaviour.
//!
//! ```
//! use htw_sys::*;
//! use std::{mem::MaybeUninit, ptr};
//!
//! let mut wheel = ptr::null_mut();
//! let mut timer = MaybeUninit::<htw_timer>::zeroed();
//! unsafe {
//!     assert_eq!(htw_wheel_create(&mut wheel, ptr::null()), 0);
//!     assert_eq!(htw_wheel_schedule(wheel, timer.as_mut_ptr(), 100), 0);
//!     assert!(htw_wheel_poll(wheel, 99).is_null());
//!     assert_eq!(htw_wheel_poll(wheel, 100), timer.as_mut_ptr());
//!     htw_wheel_destroy(wheel);
//! }
//! ```
#![allow(non_camel_case_types)]

mod bindings;
pub use bindings::*;

/// A deadline that the clock never reaches, in ticks.
pub const HTW_NEVER_TICK: u64 = u64::MAX;
