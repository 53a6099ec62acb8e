// SPDX-License-Identifier: MIT
//! raw.rs - values and texts as C has them.
use crate::Error;
#[cfg(feature = "journal")]
use std::ffi::CStr;
use std::ffi::CString;
#[cfg(feature = "journal")]
use std::mem::MaybeUninit;
#[cfg(feature = "journal")]
use std::os::raw::{c_char, c_void};

/// A struct of C with all members 0 but its size, as the macros HTW_..._INIT make it.
macro_rules! sized {
    ($name:ident) => {{
        // SAFETY: these structs have integers, and pointers that may be NULL.
        let mut value: $name = unsafe { std::mem::zeroed() };
        value.struct_size = std::mem::size_of::<$name>();
        value
    }};
}
pub(crate) use sized;

/// The value that an `_init` function of the journal has filled in.
///
/// # Safety
///
/// The function fills in all members.
#[cfg(feature = "journal")]
pub(crate) unsafe fn initial<T>(init: unsafe extern "C" fn(*mut T)) -> T {
    let mut value = MaybeUninit::uninit();
    unsafe {
        init(value.as_mut_ptr());
        value.assume_init()
    }
}

/// A text for C, which has no NUL in it.
pub(crate) fn c_text(text: impl Into<Vec<u8>>) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::InvalidArgument)
}

/// # Safety
///
/// `data` is NULL or has `size` bytes.
#[cfg(feature = "journal")]
pub(crate) unsafe fn bytes_of(data: *const c_void, size: usize) -> Option<Vec<u8>> {
    let bytes = data as *const u8;
    (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(bytes, size) }.to_vec())
}

/// # Safety
///
/// `text` is NULL or a string.
#[cfg(feature = "journal")]
pub(crate) unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Methods of options and builders: each sets something, and returns what it is called on.
macro_rules! setters {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $type:ty),*) $self:ident => $set:expr;)*) => {$(
        $(#[$about])*
        pub fn $name(mut $self $(, $argument: $type)*) -> Self {
            $set;
            $self
        }
    )*};
}
pub(crate) use setters;

/// Types whose Debug shows their name alone.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
pub(crate) use opaque;

/// Types whose default is what new() makes.
macro_rules! by_default_new {
    ($($name:ident),*) => {$(
        impl Default for $name {
            fn default() -> $name {
                $name::new()
            }
        }
    )*};
}
pub(crate) use by_default_new;
