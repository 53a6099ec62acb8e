// SPDX-License-Identifier: MIT
//! nodes.rs - where a wheel keeps its timers: in pages that never move, because the library points
//! into them.
//!
//! While a timer is pending, only raw pointers to it exist: a reference to a whole node would claim
//! the timer, to which the library writes, for Rust.
use htw_sys::htw_timer;
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::ptr::{addr_of, addr_of_mut, NonNull};

/// The name of a timer in the [`Wheel`](crate::Wheel) that returned it.
///
/// A key whose timer has ended names no timer, however long the wheel is used. A key is only good
/// for its own wheel: another wheel may have a timer of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    index: u32,
    generation: NonZeroU32,
}

#[repr(C)]
pub(crate) struct Node<T> {
    timer: htw_timer, // first: the address of one is that of the other
    /// Odd while there is a value. A key holds it, so that the key of an earlier value does not
    /// fit.
    generation: u32,
    /// The number of this node; while it is vacant, that of the next vacant one.
    index: u32,
    value: Option<T>,
}

const PAGE: usize = 128;
const NO_NODE: u32 = u32::MAX;

/// `PAGE` nodes from a `Box<[Node<T>]>`.
struct Page<T>(NonNull<Node<T>>);

impl<T> Page<T> {
    fn new(first: u32) -> Page<T> {
        let mut nodes: Vec<Node<T>> = Vec::with_capacity(PAGE);
        for index in first..first + PAGE as u32 {
            nodes.push(Node {
                // SAFETY: a timer is initialised by zeroing.
                timer: unsafe { MaybeUninit::zeroed().assume_init() },
                generation: 0,
                index: if index + 1 < first + PAGE as u32 { index + 1 } else { NO_NODE },
                value: None,
            });
        }
        let nodes = Box::into_raw(nodes.into_boxed_slice());
        Page(NonNull::new(nodes as *mut Node<T>).unwrap())
    }
}

impl<T> Drop for Page<T> {
    fn drop(&mut self) {
        let nodes = std::ptr::slice_from_raw_parts_mut(self.0.as_ptr(), PAGE);
        // SAFETY: they come from a box. The wheel is destroyed, and points here no more.
        drop(unsafe { Box::from_raw(nodes) });
    }
}

/// All nodes of a wheel. They are freed with it; until then those that are vacant are used again.
pub(crate) struct Nodes<T> {
    pages: Vec<Page<T>>,
    vacant: u32,
}

impl<T> Nodes<T> {
    pub const fn new() -> Nodes<T> {
        Nodes { pages: Vec::new(), vacant: NO_NODE }
    }

    /// The node of a number that is in one of the pages.
    fn at(&self, index: u32) -> *mut Node<T> {
        let page = self.pages[index as usize / PAGE].0.as_ptr();
        // SAFETY: a page has so many nodes.
        unsafe { page.add(index as usize % PAGE) }
    }

    /// Stores a value in a node whose timer is not pending.
    pub fn insert(&mut self, value: T) -> (Key, *mut Node<T>) {
        if self.vacant == NO_NODE {
            let first = self.pages.len() * PAGE;
            assert!(first < NO_NODE as usize - PAGE, "a wheel holds fewer than 2^32 timers");
            self.pages.push(Page::new(first as u32));
            self.vacant = first as u32;
        }
        let index = self.vacant;
        let node = self.at(index);
        // SAFETY: the node is vacant, so the library does not use its timer. No reference to it
        // exists.
        unsafe {
            self.vacant = (*node).index;
            (*node).index = index;
            (*node).generation += 1;
            *addr_of_mut!((*node).value) = Some(value);
        }
        (self.key(node), node)
    }

    /// Takes the value out of a node that has one and whose timer is not pending. Keys that name it
    /// are stale.
    pub fn take(&mut self, node: *mut Node<T>) -> T {
        // SAFETY: as in insert().
        unsafe {
            let value = (*addr_of_mut!((*node).value)).take();
            let index = (*node).index;
            (*node).generation = (*node).generation.wrapping_add(1);
            // A node whose generations are used up stays empty for ever, so that no key fits twice.
            if (*node).generation != 0 {
                (*node).index = self.vacant;
                self.vacant = index;
            }
            value.expect("a node in use has a value")
        }
    }

    /// The node of a key, unless the key is stale.
    pub fn find(&self, key: Key) -> Option<*mut Node<T>> {
        if key.index as usize >= self.pages.len() * PAGE {
            return None;
        }
        let node = self.at(key.index);
        // SAFETY: generations are written with the wheel borrowed mutably only.
        (unsafe { (*node).generation } == key.generation.get()).then_some(node)
    }

    /// The key of a node that has a value.
    pub fn key(&self, node: *mut Node<T>) -> Key {
        // SAFETY: as in find().
        let (index, generation) = unsafe { ((*node).index, (*node).generation) };
        Key {
            index,
            generation: NonZeroU32::new(generation).expect("a node in use has a generation"),
        }
    }

    /// The node of a timer that the library has handed out.
    pub fn of_timer(&self, timer: *mut htw_timer) -> *mut Node<T> {
        timer as *mut Node<T>
    }

    pub fn timer(&self, node: *mut Node<T>) -> *mut htw_timer {
        node as *mut htw_timer
    }

    pub fn value(&self, node: *mut Node<T>) -> &T {
        // SAFETY: the reference is to the value alone, and borrows all nodes.
        unsafe { (*addr_of!((*node).value)).as_ref() }.expect("a node in use has a value")
    }

    pub fn value_mut(&mut self, node: *mut Node<T>) -> &mut T {
        // SAFETY: as in value().
        unsafe { (*addr_of_mut!((*node).value)).as_mut() }.expect("a node in use has a value")
    }

    /// The nodes that have a value, from a number on.
    pub fn next_in_use(&self, from: usize) -> Option<(usize, *mut Node<T>)> {
        (from..self.pages.len() * PAGE)
            .map(|index| (index, self.at(index as u32)))
            // SAFETY: as in find().
            .find(|&(_, node)| unsafe { (*node).generation } % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_key_names_nothing_when_its_node_is_used_again() {
        let mut nodes = Nodes::new();
        let (first, node) = nodes.insert("first");
        assert_eq!(nodes.take(node), "first");
        let (second, again) = nodes.insert("second");
        assert_eq!(again, node);
        assert_ne!(first, second);
        assert!(nodes.find(first).is_none());
        assert_eq!(nodes.find(second), Some(node));
    }

    #[test]
    fn node_without_a_generation_left_is_used_no_more() {
        let mut nodes = Nodes::new();
        let (first, node) = nodes.insert(1);
        nodes.take(node);
        unsafe { (*node).generation = u32::MAX - 1 };
        let (last, again) = nodes.insert(2);
        assert_eq!((last.generation.get(), again), (u32::MAX, node));
        nodes.take(node);
        for value in 3..1000 {
            assert_ne!(nodes.insert(value).1, node);
        }
        assert!(nodes.find(first).is_none() && nodes.find(last).is_none());
    }

    #[test]
    fn forged_key_names_nothing() {
        let mut nodes = Nodes::<u8>::new();
        let forged = |index| Key { index, generation: NonZeroU32::new(1).unwrap() };
        assert!(nodes.find(forged(0)).is_none());
        nodes.insert(7);
        assert!(nodes.find(forged(1)).is_none());
        assert!(nodes.find(forged(PAGE as u32)).is_none());
        assert!(nodes.find(forged(NO_NODE)).is_none());
    }

    #[test]
    fn node_is_as_small_as_timer_value_and_key() {
        assert_eq!(
            std::mem::size_of::<Node<Box<u8>>>(),
            std::mem::size_of::<htw_timer>() + 8 + std::mem::size_of::<usize>()
        );
        assert_eq!(std::mem::size_of::<Option<Key>>(), 8);
    }
}
