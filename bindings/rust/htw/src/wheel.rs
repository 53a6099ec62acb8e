// SPDX-License-Identifier: MIT
//! wheel.rs - the wheel as a collection of values that have deadlines.
use crate::nodes::{Key, Nodes};
use crate::raw::sized;
use crate::Error;
use htw_sys::*;
use std::fmt;
use std::ops::RangeInclusive;
use std::os::raw::c_int;
use std::ptr::{self, NonNull};

/// A hierarchical timing wheel: values with deadlines, most of which are removed or moved before
/// they expire.
///
/// Time is a number of ticks that you pass in, and you decide how long a tick is. The wheel has no
/// clock and no thread. Inserting, moving and removing take constant time in nearly all calls,
/// whatever the number of timers.
///
/// ```
/// use htw::Wheel;
///
/// let mut timeouts = Wheel::new();
/// let first = timeouts.insert(30_000, "connection 1"); // a deadline, in ticks
/// let second = timeouts.insert(30_500, "connection 2");
/// timeouts.reschedule(first, 45_000); // it was used
///
/// let now = 31_000;
/// for expired in timeouts.expire(now) {
///     assert_eq!(expired.value, "connection 2");
/// }
/// assert_eq!(timeouts.remove(second), None); // its key is stale
/// assert_eq!(timeouts.next_deadline(), Some(45_000));
/// assert_eq!(timeouts.remove(first), Some("connection 1"));
/// ```
///
/// Timers expire once, in order of deadline, and not before the clock has reached it. Within one
/// tick the order is unspecified, but the same calls give the same order.
///
/// # Rounds
///
/// A round is a sequence of polls with the same `now`, until [`poll`](Wheel::poll) returns `None`.
/// During a round the clock goes from deadline to deadline. What is inserted then for the tick of
/// the clock, or for an earlier one, expires in the next round, so that a loop ends:
///
/// ```
/// # let mut wheel = htw::Wheel::new();
/// # wheel.insert(1, 7);
/// # let now = 10;
/// while let Some(expired) = wheel.poll(now) {
///     wheel.insert(now + 100, expired.value); // repeats
/// }
/// ```
///
/// # Memory
///
/// A timer takes 40 bytes, and its value as an `Option<T>`. A wheel begins with about 24 KiB. What
/// timers have used serves later ones, and is freed with the wheel.
///
/// # Panics
///
/// Functions that insert or move panic if memory is refused; nothing has changed then.
/// [`reserve`](Wheel::reserve) reports it in advance.
///
/// # Threads
///
/// A wheel can move to another thread if its values can, but two threads cannot share it:
///
/// ```compile_fail
/// fn share(wheel: &'static htw::Wheel<u8>) {
///     std::thread::spawn(move || wheel.len()); // `*mut htw_wheel` cannot be shared
/// }
/// ```
pub struct Wheel<T> {
    pub(crate) raw: NonNull<htw_wheel>,
    pub(crate) nodes: Nodes<T>,
}

// SAFETY: one thread at a time uses a wheel, and which one does not matter.
unsafe impl<T: Send> Send for Wheel<T> {}

/// A deadline that the clock never reaches. Its timer can be moved and removed, but does not
/// expire.
pub const NEVER: u64 = HTW_NEVER_TICK;

/// The options of a [`Wheel`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WheelOptions {
    /// The number of buckets in each level: a power of two from 2 to 4096; 0 means 256.
    pub size: u32,
    /// Whether timers of one tick expire in the order in which they were inserted or moved.
    pub strict_fifo: bool,
    /// The first value of the clock; less than [`NEVER`].
    pub start: u64,
    #[cfg(test)]
    pub(crate) allocator: Option<crate::memory_tests::Allocator>,
}

impl WheelOptions {
    /// 256 buckets, any order within a tick, and a clock that starts at 0.
    pub fn new() -> WheelOptions {
        WheelOptions::default()
    }
}

/// A timer that has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired<T> {
    /// The key that it had; stale.
    pub key: Key,
    /// Its deadline.
    pub deadline: u64,
    /// Its value.
    pub value: T,
}

/// Whether a call has left work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is due any more.
    Done,
    /// The batch is full, or the budget is used up: call again.
    More,
}

impl<T> Wheel<T> {
    /// Creates a wheel with the default options.
    pub fn new() -> Wheel<T> {
        Wheel::with_options(&WheelOptions::new()).unwrap_or_else(|error| panic!("{}", error))
    }

    /// Creates a wheel. Fails if an option is out of its range or memory is refused.
    pub fn with_options(options: &WheelOptions) -> Result<Wheel<T>, Error> {
        let mut raw = ptr::null_mut();
        let mut raw_options = sized!(htw_wheel_options);
        // SAFETY: the library fills in the options, and copies them.
        unsafe {
            raw_options.size = options.size;
            raw_options.strict_fifo = options.strict_fifo;
            raw_options.start = options.start;
            #[cfg(test)]
            let allocator = options.allocator.as_ref().map(crate::memory_tests::Allocator::raw);
            #[cfg(test)]
            {
                raw_options.allocator = allocator.as_ref().map_or(ptr::null(), |it| it as *const _);
            }
            Error::check(htw_wheel_create(&mut raw, &raw_options))?;
        }
        Ok(Wheel { raw: NonNull::new(raw).expect("a wheel was created"), nodes: Nodes::new() })
    }

    /// Inserts a value that expires at `deadline`, an absolute tick. At or before the clock: it is
    /// due at once.
    pub fn insert(&mut self, deadline: u64, value: T) -> Key {
        self.insert_within(deadline..=deadline, value)
    }

    /// Inserts a value that may expire at any tick of a range. The wheel chooses one so that timers
    /// whose ranges overlap tend to expire together.
    ///
    /// # Panics
    ///
    /// Panics if the range is empty.
    pub fn insert_within(&mut self, deadlines: RangeInclusive<u64>, value: T) -> Key {
        let (key, node) = self.nodes.insert(value);
        if let Err(error) = self.arm(self.nodes.timer(node), deadlines) {
            drop(self.nodes.take(node));
            panic!("{}", error);
        }
        key
    }

    /// Gives a timer another deadline, and returns whether it is pending. If the key is stale,
    /// nothing happens.
    pub fn reschedule(&mut self, key: Key, deadline: u64) -> bool {
        self.reschedule_within(key, deadline..=deadline)
    }

    /// As [`reschedule`](Wheel::reschedule), with a range as in
    /// [`insert_within`](Wheel::insert_within).
    pub fn reschedule_within(&mut self, key: Key, deadlines: RangeInclusive<u64>) -> bool {
        match self.nodes.find(key) {
            None => false,
            Some(node) => match self.arm(self.nodes.timer(node), deadlines) {
                Ok(()) => true,
                Err(error) => panic!("{}", error),
            },
        }
    }

    fn arm(&self, timer: *mut htw_timer, deadlines: RangeInclusive<u64>) -> Result<(), Error> {
        let (earliest, latest) = deadlines.into_inner();
        // SAFETY: the timer is in a page, which outlives the wheel, and in no other wheel.
        let result = unsafe {
            if earliest == latest {
                htw_wheel_schedule(self.raw.as_ptr(), timer, earliest)
            } else {
                htw_wheel_schedule_within(self.raw.as_ptr(), timer, earliest, latest)
            }
        };
        Error::check(result).map(drop)
    }

    /// Removes a timer, and returns its value; `None` if the key is stale.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let node = self.nodes.find(key)?;
        // SAFETY: each node in use has its timer in this wheel.
        let was_pending = unsafe { htw_wheel_cancel(self.raw.as_ptr(), self.nodes.timer(node)) };
        debug_assert!(was_pending);
        Some(self.nodes.take(node))
    }

    /// The value of a timer.
    pub fn get(&self, key: Key) -> Option<&T> {
        self.nodes.find(key).map(|node| self.nodes.value(node))
    }

    /// The value of a timer, to be changed.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.nodes.find(key).map(|node| self.nodes.value_mut(node))
    }

    /// Whether a key names a timer.
    pub fn contains(&self, key: Key) -> bool {
        self.nodes.find(key).is_some()
    }

    /// The deadline of a timer; after [`insert_within`](Wheel::insert_within) the tick that was
    /// chosen.
    pub fn deadline(&self, key: Key) -> Option<u64> {
        // SAFETY: only reads.
        self.nodes.find(key).map(|node| unsafe { (*self.nodes.timer(node))._deadline })
    }

    /// Hands out the next timer that is due at `now`; `None`: nothing is due any more, and the
    /// round has ended.
    ///
    /// A `now` that is earlier than the clock counts as the clock.
    pub fn poll(&mut self, now: u64) -> Option<Expired<T>> {
        // SAFETY: the library writes to its own memory and to timers in pages.
        let timer = unsafe { htw_wheel_poll(self.raw.as_ptr(), now) };
        self.handed_out(timer)
    }

    /// Hands out up to `max` timers (64 at most) with bounded work, and says whether work is left.
    ///
    /// A step of the `budget` hands out one timer, moves one to another bucket, or discards one
    /// empty bucket; 0 means no limit. No timer may have been added to `expired` although work is
    /// left.
    ///
    /// # Panics
    ///
    /// Panics if `max` is 0.
    pub fn poll_batch(
        &mut self,
        now: u64,
        max: usize,
        budget: usize,
        expired: &mut Vec<Expired<T>>,
    ) -> Progress {
        let mut timers = [ptr::null_mut(); 64];
        let mut count = 0;
        assert!(max > 0, "a batch holds at least one timer");
        expired.reserve(max.min(timers.len())); // so that nothing fails when the timers are out
                                                // SAFETY: as in poll(). The array has as much room.
        let result = unsafe {
            htw_wheel_poll_batch(
                self.raw.as_ptr(),
                now,
                timers.as_mut_ptr(),
                max.min(timers.len()),
                budget,
                &mut count,
            )
        };
        for timer in &timers[..count] {
            expired.extend(self.handed_out(*timer));
        }
        if result == HTW_DONE as c_int {
            Progress::Done
        } else {
            Progress::More
        }
    }

    pub(crate) fn handed_out(&mut self, timer: *mut htw_timer) -> Option<Expired<T>> {
        if timer.is_null() {
            return None;
        }
        let node = self.nodes.of_timer(timer);
        let key = self.nodes.key(node);
        // SAFETY: only reads.
        let deadline = unsafe { (*timer)._deadline };
        Some(Expired { key, deadline, value: self.nodes.take(node) })
    }

    /// The tick at which to poll next, at most the earliest deadline; `None`: no timer has a
    /// deadline.
    ///
    /// It is earlier than all deadlines if a timer was removed or moved whose bucket has others. A
    /// poll then hands out nothing, and corrects the value.
    pub fn next_deadline(&mut self) -> Option<u64> {
        // SAFETY: as in poll().
        let next = unsafe { htw_wheel_next(self.raw.as_ptr()) };
        (next != NEVER).then_some(next)
    }

    /// The clock: the tick up to which all timers were handed out.
    pub fn now(&self) -> u64 {
        // SAFETY: only reads.
        unsafe { htw_wheel_now(self.raw.as_ptr()) }
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        // SAFETY: only reads.
        unsafe { htw_wheel_count(self.raw.as_ptr()) }
    }

    /// Whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocates all that the wheel needs for deadlines up to `horizon` ticks after the clock,
    /// whatever the clock is later. Memory for the timers themselves is allocated when they are
    /// inserted.
    pub fn reserve(&mut self, horizon: u64) -> Result<(), Error> {
        // SAFETY: as in poll().
        Error::check(unsafe { htw_wheel_reserve(self.raw.as_ptr(), horizon) }).map(drop)
    }

    /// Exact counters.
    pub fn stats(&self) -> htw_wheel_stats {
        let mut raw = sized!(htw_wheel_stats);
        let result = unsafe { htw_wheel_get_stats(self.raw.as_ptr(), &mut raw) };
        debug_assert_eq!(result, 0);
        raw
    }

    /// Checks all invariants of the wheel in O(pending): 0, or the number of a broken one. For
    /// tests.
    pub fn check(&self) -> u32 {
        // SAFETY: only reads.
        unsafe { htw_wheel_check(self.raw.as_ptr()) }.unsigned_abs()
    }
}

impl<T> Drop for Wheel<T> {
    fn drop(&mut self) {
        // SAFETY: writes to pending timers, whose pages are dropped after this.
        unsafe { htw_wheel_destroy(self.raw.as_ptr()) };
    }
}

impl<T> Default for Wheel<T> {
    fn default() -> Wheel<T> {
        Wheel::new()
    }
}

impl<T> fmt::Debug for Wheel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel").field("now", &self.now()).field("len", &self.len()).finish()
    }
}
