// SPDX-License-Identifier: MIT
use htw::{Error, Wheel, WheelOptions, NEVER};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn values<T>(wheel: &mut Wheel<T>, now: u64) -> Vec<T> {
    wheel.expire(now).map(|expired| expired.value).collect()
}

#[test]
fn loop_that_is_left_early_leaves_the_rest_due() {
    let mut wheel = Wheel::new();
    for value in 0..10 {
        wheel.insert(1, value);
    }
    let taken = wheel.expire(1).take(3).count();
    assert_eq!((taken, wheel.len()), (3, 7));
    std::mem::forget(wheel.drain());
    assert_eq!(values(&mut wheel, 1).len(), 7);
}

#[test]
fn empty_range_panics_and_leaves_no_timer() {
    let mut wheel = Wheel::new();
    let key = wheel.insert_within(1000..=1100, ());
    assert!(wheel.reschedule_within(key, 5000..=5500));
    assert!((5000..=5500).contains(&wheel.deadline(key).unwrap()));
    #[allow(clippy::reversed_empty_ranges)]
    let empty = catch_unwind(AssertUnwindSafe(|| wheel.insert_within(2..=1, ())));
    assert!(empty.is_err());
    assert_eq!((wheel.len(), wheel.check()), (1, 0));
}

#[test]
fn options_are_checked_and_used() {
    let create = |change: fn(&mut WheelOptions)| {
        let mut options = WheelOptions::new();
        change(&mut options);
        Wheel::<usize>::with_options(&options)
    };
    assert_eq!(create(|options| options.size = 3).err(), Some(Error::InvalidArgument));
    assert_eq!(create(|options| options.start = 77).unwrap().now(), 77);
}

/// Counts those that exist; panics when it is dropped, if it is told to.
struct Counted<'a>(&'a AtomicUsize, bool);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, SeqCst);
        Counted(count, false)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
        assert!(!self.1, "told to panic");
    }
}

#[test]
fn each_value_is_dropped_once_however_it_ends() {
    let count = AtomicUsize::new(0);
    let mut wheel = Wheel::new();
    let keys: Vec<_> = (0..1000).map(|i| wheel.insert(i * 100, Counted::new(&count))).collect();
    drop(wheel.remove(keys[0]));
    assert_eq!(count.load(SeqCst), 999);
    drop(wheel.poll(100));
    assert_eq!(count.load(SeqCst), 998);
    wheel.expire(19_999).for_each(drop);
    assert_eq!(count.load(SeqCst), 800);
    drop(wheel.drain().nth(99));
    assert_eq!((count.load(SeqCst), wheel.len()), (0, 0));
    wheel.insert(1, Counted::new(&count));
    wheel.clear();
    assert_eq!(count.load(SeqCst), 0);
    for i in 0..300 {
        wheel.insert(NEVER - i, Counted::new(&count));
    }
    drop(wheel);
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn value_that_panics_when_it_is_dropped_leaves_no_other_behind() {
    let count = AtomicUsize::new(0);
    let mut wheel = Wheel::new();
    for i in 0..500 {
        wheel.insert(i, Counted::new(&count));
    }
    wheel.insert(7, Counted(&count, true));
    count.fetch_add(1, SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(wheel))).is_err());
    assert_eq!(count.load(SeqCst), 0);

    let mut wheel = Wheel::new();
    wheel.insert(1, Counted(&count, true));
    wheel.insert(2, Counted::new(&count));
    count.fetch_add(1, SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| wheel.clear())).is_err());
    assert_eq!(wheel.check(), 0);
    wheel.clear();
    assert_eq!((count.load(SeqCst), wheel.len()), (0, 0));
}

#[test]
fn values_of_any_size_and_alignment_are_kept() {
    #[derive(Debug, PartialEq, Clone, Copy)]
    #[repr(align(128))]
    struct Aligned(u8);
    let mut wheel = Wheel::new();
    for i in 0..300 {
        wheel.insert(i, Aligned(i as u8));
    }
    for (i, expired) in wheel.expire(300).enumerate() {
        assert_eq!(expired.value, Aligned(i as u8));
        assert_eq!(&expired.value as *const _ as usize % 128, 0);
    }
    let mut nothing = Wheel::new();
    let key = nothing.insert(1, ());
    assert_eq!(nothing.remove(key), Some(()));
    let mut big = Wheel::new();
    big.insert(1, [7u8; 20_000]);
    assert_eq!(big.poll(1).unwrap().value[19_999], 7);
}
