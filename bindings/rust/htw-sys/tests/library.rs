// SPDX-License-Identifier: MIT
//! The library that the program is linked with is that of the declarations. That these agree with the
//! headers, `./dev rust` shows: generate.sh makes them again, with the layout of each struct.
use htw_sys::*;
use std::{ffi::CStr, ptr};

#[test]
fn never_is_the_tick_that_an_empty_wheel_names() {
    let mut wheel = ptr::null_mut();
    unsafe {
        assert_eq!(htw_wheel_create(&mut wheel, ptr::null()), 0);
        assert_eq!(htw_wheel_next(wheel), HTW_NEVER_TICK);
        htw_wheel_destroy(wheel);
    }
}

#[test]
fn library_is_of_the_version_of_the_crate() {
    let version = unsafe { CStr::from_ptr(htw_version()) }.to_str().unwrap();
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let ours = if major == "0" { format!("0.{}.", minor) } else { format!("{}.", major) };
    assert!(version.starts_with(&ours), "{} is not {}x", version, ours);
}
