// SPDX-License-Identifier: MIT
//! iter.rs - the iterators of a wheel.
use crate::nodes::Key;
use crate::wheel::{Expired, Wheel};
use htw_sys::htw_wheel_drain;

impl<T> Wheel<T> {
    /// Hands out the timers that are due at `now`, one after the other. What the loop does not take
    /// stays due.
    pub fn expire(&mut self, now: u64) -> Expire<'_, T> {
        Expire { wheel: self, now }
    }

    /// Removes all timers and hands out deadlines and values, in no particular order. The clock
    /// stays. Timers that the iterator has not handed out when it is dropped are removed, too.
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain { wheel: self }
    }

    /// Removes all timers.
    pub fn clear(&mut self) {
        self.drain();
    }

    /// Visits all timers, in no particular order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { wheel: self, index: 0 }
    }
}

/// Hands out what is due; see [`Wheel::expire`].
#[derive(Debug)]
pub struct Expire<'a, T> {
    wheel: &'a mut Wheel<T>,
    now: u64,
}

impl<T> Iterator for Expire<'_, T> {
    type Item = Expired<T>;

    fn next(&mut self) -> Option<Expired<T>> {
        self.wheel.poll(self.now)
    }
}

/// Removes all timers; see [`Wheel::drain`].
#[derive(Debug)]
pub struct Drain<'a, T> {
    wheel: &'a mut Wheel<T>,
}

impl<T> Iterator for Drain<'_, T> {
    type Item = (u64, T);

    fn next(&mut self) -> Option<(u64, T)> {
        // SAFETY: as in Wheel::poll().
        let timer = unsafe { htw_wheel_drain(self.wheel.raw.as_ptr()) };
        self.wheel.handed_out(timer).map(|expired| (expired.deadline, expired.value))
    }
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// Visits all timers; see [`Wheel::iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    wheel: &'a Wheel<T>,
    index: usize,
}

impl<'a, T> Iterator for Iter<'a, T> {
    /// The key, the deadline, and the value.
    type Item = (Key, u64, &'a T);

    fn next(&mut self) -> Option<Self::Item> {
        let nodes = &self.wheel.nodes;
        let (index, node) = nodes.next_in_use(self.index)?;
        self.index = index + 1;
        // SAFETY: only reads.
        let deadline = unsafe { (*nodes.timer(node))._deadline };
        Some((nodes.key(node), deadline, nodes.value(node)))
    }
}

impl<'a, T> IntoIterator for &'a Wheel<T> {
    type Item = (Key, u64, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
