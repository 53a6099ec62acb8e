// SPDX-License-Identifier: MIT
//! The declarations agree with the library that the program is linked with. That they agree with
//! the headers, `./dev rust` shows: generate.sh makes them again.
use htw_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::{collections::BTreeSet, ffi::CStr, fs, path::Path, ptr};

/// The library fills in its own size, and writes no byte behind it.
macro_rules! assert_same_size {
    ($($init:ident($type:ty)),* $(,)?) => {$(
        let mut twice = [MaybeUninit::<$type>::zeroed(), MaybeUninit::zeroed()];
        let behind = twice[1].as_ptr() as *const u8;
        unsafe {
            $init(twice[0].as_mut_ptr());
            assert_eq!(twice[0].assume_init_ref().struct_size, size_of::<$type>(), stringify!($type));
            assert!((0..size_of::<$type>()).all(|i| *behind.add(i) == 0), stringify!($type));
        }
    )*};
}

#[test]
fn structs_with_a_size_have_that_of_the_library() {
    assert_same_size!(
        htw_backoff_options_init(htw_backoff_options),
        htw_wheel_options_init(htw_wheel_options),
        htw_wheel_stats_init(htw_wheel_stats),
        htw_scheduler_options_init(htw_scheduler_options),
        htw_spec_init(htw_spec),
        htw_scheduler_stats_init(htw_scheduler_stats),
        htw_purgatory_options_init(htw_purgatory_options),
        htw_purgatory_stats_init(htw_purgatory_stats),
    );
}

#[test]
fn embedded_structs_have_the_size_of_the_library() {
    unsafe {
        assert_eq!(htw_timer_size(), size_of::<htw_timer>());
        assert_eq!(htw_request_size(), size_of::<htw_request>());
        assert_eq!(htw_backoff_size(), size_of::<htw_backoff>());
    }
}

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

#[test]
#[cfg(feature = "calendar")]
fn calendar_struct_has_the_size_of_the_library() {
    assert_same_size!(htw_calendar_spec_init(htw_calendar_spec));
}

#[test]
#[cfg(feature = "journal")]
fn journal_structs_have_the_size_of_the_library() {
    assert_same_size!(
        htw_journal_options_init(htw_journal_options),
        htw_job_init(htw_job),
        htw_job_update_init(htw_job_update),
        htw_journal_change_init(htw_journal_change),
        htw_lease_init(htw_lease),
        htw_queue_policy_init(htw_queue_policy),
        htw_queue_stats_init(htw_queue_stats),
        htw_journal_stats_init(htw_journal_stats),
        htw_recurring_init(htw_recurring),
    );
}

/// In a package there is no list to compare with.
#[test]
fn functions_are_those_that_the_libraries_export() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../src");
    let maps = ["libhtw.map", "libhtw-calendar.map", "libhtw-journal.map"];
    let maps: Vec<_> = maps.iter().flat_map(|map| fs::read_to_string(root.join(map))).collect();
    if maps.is_empty() {
        return;
    }
    let exported: BTreeSet<&str> = maps
        .iter()
        .flat_map(|map| map.lines())
        .filter_map(|line| line.trim().strip_suffix(';'))
        .filter(|name| name.starts_with("htw_") && !name.starts_with("htw__"))
        .collect();
    let declared: BTreeSet<&str> = include_str!("../src/bindings.rs")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub fn ")?.split('(').next())
        .collect();
    assert!(exported.len() >= 140);
    assert_eq!(declared, exported);
}
