// SPDX-License-Identifier: MIT
use htw::{Error, Progress, Wheel, WheelOptions, NEVER};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

fn values<T>(wheel: &mut Wheel<T>, now: u64) -> Vec<T> {
    wheel.expire(now).map(|expired| expired.value).collect()
}

#[test]
fn timers_expire_in_order_of_deadline_and_not_before() {
    let mut wheel = Wheel::new();
    for deadline in [70_000, 5, 300, 5_000_000, 6] {
        wheel.insert(deadline, deadline);
    }
    assert_eq!(values(&mut wheel, 4), []);
    assert_eq!(values(&mut wheel, 299), [5, 6]);
    assert_eq!(values(&mut wheel, 70_000), [300, 70_000]);
    assert_eq!(values(&mut wheel, NEVER), [5_000_000]);
    assert!(wheel.is_empty());
}

#[test]
fn expired_timer_says_its_key_and_deadline() {
    let mut wheel = Wheel::new();
    let key = wheel.insert(7, "a");
    let expired = wheel.poll(9).unwrap();
    assert_eq!((expired.key, expired.deadline, expired.value), (key, 7, "a"));
    assert!(wheel.poll(9).is_none());
}

#[test]
fn stale_key_changes_nothing() {
    let mut wheel = Wheel::new();
    let removed = wheel.insert(1, 1);
    assert_eq!(wheel.remove(removed), Some(1));
    let other = wheel.insert(2, 2); // takes the place of the first
    assert_eq!(wheel.remove(removed), None);
    assert!(!wheel.reschedule(removed, 100));
    assert!(!wheel.contains(removed));
    assert_eq!((wheel.get(removed), wheel.deadline(removed)), (None, None));
    assert_eq!(wheel.get_mut(removed), None);
    assert_eq!((wheel.get(other), wheel.deadline(other)), (Some(&2), Some(2)));
    assert_eq!(values(&mut wheel, 2), [2]);
    assert_eq!(wheel.remove(other), None);
}

#[test]
fn due_timer_can_be_removed_between_two_polls() {
    let mut wheel = Wheel::new();
    let keys: Vec<_> = (0..3).map(|value| wheel.insert(10, value)).collect();
    let first = wheel.poll(10).unwrap().value;
    let removed = (first + 1) % 3;
    assert_eq!(wheel.remove(keys[removed]), Some(removed));
    assert_eq!(values(&mut wheel, 10), [3 - first - removed]);
}

#[test]
fn timer_inserted_in_a_round_for_the_past_waits_for_the_next_round() {
    let mut wheel = Wheel::new();
    wheel.insert(1, 0);
    let mut rounds = 0;
    while let Some(expired) = wheel.poll(10) {
        wheel.insert(1, expired.value + 1);
        rounds += 1;
    }
    assert_eq!(rounds, 1);
    assert_eq!(wheel.next_deadline(), Some(10));
    assert_eq!(values(&mut wheel, 10), [1]);
}

#[test]
fn loop_that_is_left_early_leaves_the_rest_due() {
    let mut wheel = Wheel::new();
    for value in 0..10 {
        wheel.insert(1, value);
    }
    let taken = wheel.expire(1).take(3).count();
    assert_eq!((taken, wheel.len()), (3, 7));
    assert_eq!(wheel.expire(1).size_hint(), (0, Some(7)));
    std::mem::forget(wheel.drain());
    assert_eq!(values(&mut wheel, 1).len(), 7);
}

#[test]
fn timer_that_never_expires_can_be_moved() {
    let mut wheel = Wheel::new();
    let key = wheel.insert(NEVER, 'a');
    assert_eq!(wheel.next_deadline(), None);
    assert_eq!(values(&mut wheel, NEVER), []);
    let now = wheel.now();
    assert_eq!(now, NEVER - 1);
    assert!(wheel.reschedule(key, 5));
    assert_eq!(values(&mut wheel, now), ['a']);
}

#[test]
fn range_gives_a_deadline_inside_it_and_an_empty_one_panics() {
    let mut wheel = Wheel::new();
    let key = wheel.insert_within(1000..=1100, ());
    assert!((1000..=1100).contains(&wheel.deadline(key).unwrap()));
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
    assert_eq!(create(|options| options.size = 8192).err(), Some(Error::InvalidArgument));
    assert_eq!(create(|options| options.start = NEVER).err(), Some(Error::InvalidArgument));
    assert_eq!(create(|options| options.start = 77).unwrap().now(), 77);
    let mut wheel = create(|options| options.strict_fifo = true).unwrap();
    for value in 0..100 {
        wheel.insert(50_000, value);
    }
    assert_eq!(values(&mut wheel, 50_000), (0..100).collect::<Vec<_>>());
}

#[test]
fn batch_is_bounded_by_room_and_budget() {
    let mut wheel = Wheel::new();
    for value in 0..200 {
        wheel.insert(100_000, value);
    }
    let mut expired = Vec::new();
    assert_eq!(wheel.poll_batch(100_000, 10, 0, &mut expired), Progress::More);
    assert_eq!(expired.len(), 10);
    assert_eq!(wheel.poll_batch(100_000, 1000, 0, &mut expired), Progress::More);
    assert_eq!(expired.len(), 74);
    let mut calls = 0;
    while wheel.poll_batch(100_000, 64, 7, &mut expired) == Progress::More {
        calls += 1;
    }
    assert!(calls >= (200 - 74) / 7 - 1);
    let mut seen: Vec<_> = expired.iter().map(|timer| timer.value).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..200).collect::<Vec<_>>());
}

#[test]
fn iterators_visit_each_timer_once() {
    let mut wheel = Wheel::new();
    let keys: Vec<_> = (0..1000u64).map(|value| wheel.insert(value * 3, value)).collect();
    for key in keys.iter().step_by(2) {
        wheel.remove(*key);
    }
    assert_eq!(wheel.iter().len(), 500);
    for (key, deadline, value) in &wheel {
        assert_eq!((key, deadline), (keys[*value as usize], value * 3));
    }
    assert_eq!(wheel.iter().map(|(_, _, value)| value).sum::<u64>(), (1..1000).step_by(2).sum());
    let drained: u64 = wheel
        .drain()
        .map(|(deadline, value)| {
            assert_eq!(deadline, value * 3);
            value
        })
        .sum();
    assert_eq!((drained, wheel.len()), ((1..1000).step_by(2).sum(), 0));
    let stats = wheel.stats();
    assert_eq!((stats.inserted, stats.removed, stats.pending), (1000, 1000, 0));
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
fn wheel_moves_to_another_thread_with_its_timers() {
    let mut wheel = Wheel::new();
    let value = Arc::new(5);
    let key = wheel.insert(5, value.clone());
    let mut wheel = std::thread::spawn(move || {
        wheel.reschedule(key, 9);
        wheel
    })
    .join()
    .unwrap();
    assert_eq!(*wheel.poll(9).unwrap().value, 5);
    assert_eq!(Arc::strong_count(&value), 1);
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
