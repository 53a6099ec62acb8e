// SPDX-License-Identifier: MIT
//! memory_tests.rs - a wheel whose allocations are refused. Here, because it sets a private option.
use crate::{Error, Wheel, WheelOptions};
use htw_sys::htw_allocator;
use std::alloc::{alloc, dealloc, Layout};
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// An allocator that refuses when it has allocated so often.
#[derive(Clone, Debug)]
pub struct Allocator(Arc<AtomicUsize>);

impl Allocator {
    pub fn raw(&self) -> htw_allocator {
        unsafe extern "C" fn allocate(
            context: *mut c_void,
            size: usize,
            alignment: usize,
        ) -> *mut c_void {
            let left = unsafe { &*(context as *const AtomicUsize) };
            if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_err()
            {
                return ptr::null_mut();
            }
            unsafe { alloc(Layout::from_size_align(size, alignment).unwrap()) as *mut c_void }
        }
        unsafe extern "C" fn release(
            _: *mut c_void,
            memory: *mut c_void,
            size: usize,
            alignment: usize,
        ) {
            unsafe {
                dealloc(memory as *mut u8, Layout::from_size_align(size, alignment).unwrap())
            };
        }
        htw_allocator {
            allocate: Some(allocate),
            release: Some(release),
            context: Arc::as_ptr(&self.0) as *mut c_void,
        }
    }
}

/// Each allocation of a short history is refused once.
#[test]
fn refused_memory_changes_nothing() {
    let mut refused = 0;
    for allowed in 0.. {
        let allocator = Allocator(Arc::new(AtomicUsize::new(allowed)));
        let options = WheelOptions { allocator: Some(allocator.clone()), ..WheelOptions::new() };
        let mut wheel = match Wheel::with_options(&options) {
            Ok(wheel) => wheel,
            Err(error) => {
                assert_eq!(error, Error::OutOfMemory);
                refused += 1;
                continue;
            }
        };
        let value = Arc::new(());
        let key = wheel.insert(100, value.clone());
        let inserted = catch_unwind(AssertUnwindSafe(|| wheel.insert(1 << 40, value.clone())));
        if inserted.is_err() {
            refused += 1;
            assert_eq!((wheel.len(), Arc::strong_count(&value)), (1, 2));
            assert!(catch_unwind(AssertUnwindSafe(|| wheel.reschedule(key, 1 << 40))).is_err());
            assert_eq!(wheel.reserve(1 << 40), Err(Error::OutOfMemory));
        }
        assert_eq!(wheel.check(), 0);
        assert_eq!(wheel.deadline(key), Some(100));
        allocator.0.store(usize::MAX, Ordering::SeqCst);
        assert!(wheel.reschedule(key, 1 << 40));
        if inserted.is_ok() {
            break;
        }
    }
    assert!(refused > 3, "{} refusals", refused);
}
