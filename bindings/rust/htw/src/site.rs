// SPDX-License-Identifier: MIT
//! site.rs - where a timer is armed: a site for each place and type of closure. It stays until the
//! program ends, since a timer refers to it and a dump may read it.
use htw_sys::*;
use std::ffi::CString;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

struct Known {
    site: htw_site,
    place: &'static Location<'static>,
    name: Option<&'static str>,
    next: *mut Known,
}

const CHAINS: usize = 256;
#[allow(clippy::declare_interior_mutable_const)] // each element is a copy of it
const EMPTY: AtomicPtr<Known> = AtomicPtr::new(ptr::null_mut());
static SITES: [AtomicPtr<Known>; CHAINS] = [EMPTY; CHAINS];
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn into_raw(text: &str) -> *const std::os::raw::c_char {
    CString::new(text).map_or(ptr::null(), |text| text.into_raw())
}

fn address(callback: htw_callback) -> usize {
    callback.map_or(0, |callback| callback as usize)
}

fn find(mut known: *mut Known, is_it: impl Fn(&Known) -> bool) -> Option<*const htw_site> {
    // SAFETY: what is in a chain is neither changed nor freed.
    while let Some(one) = unsafe { known.as_ref() } {
        if is_it(one) {
            return Some(&one.site);
        }
        known = one.next;
    }
    None
}

/// The site of a place; null: there are too many, and the timer has none.
pub(crate) fn site_of(
    callback: htw_callback,
    place: &'static Location<'static>,
    name: Option<&'static str>,
) -> *const htw_site {
    let is_it = |known: &Known| {
        ptr::eq(known.place, place)
            && address(known.site.callback) == address(callback)
            && known.name.map(str::as_ptr) == name.map(str::as_ptr)
    };
    let hash = (place as *const Location as usize >> 3).wrapping_add(address(callback) >> 4);
    let chain = &SITES[hash % CHAINS];
    let mut first = chain.load(Ordering::Acquire);
    if let Some(site) = find(first, is_it) {
        return site;
    }
    if COUNT.fetch_add(1, Ordering::Relaxed) >= HTW_SITES_MAX as usize {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        return ptr::null();
    }
    let site = htw_site {
        callback,
        name: name.map_or(ptr::null(), into_raw),
        file: into_raw(place.file()),
        function: ptr::null(),
        line: place.line(),
    };
    // If another thread adds the same at this moment there are two: a dump tells them apart.
    let made = Box::into_raw(Box::new(Known { site, place, name, next: first }));
    // SAFETY: no other thread has it before it is in the chain; it is not freed.
    unsafe {
        while let Err(now) =
            chain.compare_exchange_weak(first, made, Ordering::AcqRel, Ordering::Acquire)
        {
            first = now;
            (*made).next = first;
        }
        &(*made).site
    }
}
