// SPDX-License-Identifier: MIT
//! The declarations agree with the library that the program is linked with. That they agree with
//! the headers, `./dev rust` shows: generate.sh makes them again.
use htw_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::{c_int, c_void};
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
fn defaults_stand_in_the_members_that_the_headers_name() {
    unsafe {
        let mut backoff = MaybeUninit::<htw_backoff_options>::uninit();
        htw_backoff_options_init(backoff.as_mut_ptr());
        let backoff = backoff.assume_init();
        assert_eq!((backoff.initial_ns, backoff.cap_ns), (100 * HTW_MILLISECOND, 30 * HTW_SECOND));
        assert_eq!((backoff.multiplier, backoff.jitter, backoff.seed), (2.0, 0.5, 0));
        let mut options = MaybeUninit::<htw_scheduler_options>::uninit();
        htw_scheduler_options_init(options.as_mut_ptr());
        let options = options.assume_init();
        assert_eq!((options.workers, options.clock), (2, HTW_CLOCK_DEFAULT));
        assert!(options.thread_name.is_null() && options.allocator.is_null());
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
fn scheduler_with_a_manual_clock_runs_a_callback() {
    unsafe extern "C" fn count(arg: *mut c_void, expiration: *const htw_expiration) {
        assert_eq!((*expiration).deadline_ns, HTW_SECOND);
        *(arg as *mut u32) += 1;
    }
    let mut runs = 0u32;
    let (mut scheduler, mut handle) = (ptr::null_mut(), 0);
    unsafe {
        let mut options = MaybeUninit::<htw_scheduler_options>::uninit();
        htw_scheduler_options_init(options.as_mut_ptr());
        let mut options = options.assume_init();
        options.clock = HTW_CLOCK_MANUAL;
        options.workers = 0;
        assert_eq!(htw_scheduler_create(&mut scheduler, &options), 0);
        let arg = &mut runs as *mut u32 as *mut c_void;
        assert_eq!(htw_schedule(scheduler, HTW_SECOND, Some(count), arg, &mut handle), 0);
        assert_eq!(htw_scheduler_advance(scheduler, HTW_SECOND - 1), 0);
        assert!(htw_is_pending(scheduler, handle));
        assert_eq!(htw_scheduler_advance(scheduler, 1), 0);
        assert_eq!(htw_cancel(scheduler, handle), HTW_GONE as c_int);
        assert_eq!(htw_scheduler_destroy(scheduler), 0);
    }
    assert_eq!(runs, 1);
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
    let mut calendar = MaybeUninit::<htw_calendar>::uninit();
    unsafe {
        assert_eq!(htw_calendar_daily(calendar.as_mut_ptr(), 3, 0, 0), 0);
        assert_eq!(htw_calendar_next(calendar.as_ptr(), ptr::null(), 0), 3 * HTW_HOUR);
        assert_eq!(htw_calendar_next(calendar.as_ptr(), ptr::null(), HTW_NEVER_NS), HTW_NEVER_NS);
    }
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
fn assert_declares_what_is_exported(map: &str, bindings: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let map = match fs::read_to_string(root.join("src").join(map)) {
        Ok(map) => map,
        Err(_) => return,
    };
    let exported: BTreeSet<&str> = map
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';'))
        .filter(|name| name.starts_with("htw_"))
        .collect();
    let declared: BTreeSet<&str> = bindings
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub fn ")?.split('(').next())
        .collect();
    assert!(exported.len() >= least);
    assert_eq!(declared, exported);
}

#[test]
fn functions_are_those_that_the_libraries_export() {
    let bindings = include_str!("../src/bindings.rs");
    assert_declares_what_is_exported("libhtw.map", bindings, 90);
    let calendar = include_str!("../src/calendar.rs");
    assert_declares_what_is_exported("libhtw-calendar.map", calendar, 13);
    let journal = include_str!("../src/journal.rs");
    assert_declares_what_is_exported("libhtw-journal.map", journal, 37);
}
