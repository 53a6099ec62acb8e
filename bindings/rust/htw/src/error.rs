// SPDX-License-Identifier: MIT
//! error.rs - what a call of the library can fail with.
use std::os::raw::c_int;
use std::{ffi::CStr, fmt, io};

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $errno:ident,)*) => {
        /// Why a call has failed. Nothing has changed then, unless the function says otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* $name,)*
            /// Another error of the system.
            Other(i32),
        }

        impl Error {
            fn from_errno(errno: c_int) -> Error {
                match errno {
                    $(libc::$errno => Error::$name,)*
                    other => Error::Other(other),
                }
            }

            /// The error as the system numbers it.
            pub fn raw_os_error(self) -> i32 {
                match self {
                    $(Error::$name => libc::$errno,)*
                    Error::Other(errno) => errno,
                }
            }
        }
    };
}

errors! {
    /// An argument is out of its range, or contradicts another one.
    InvalidArgument = EINVAL,
    /// No memory, or no thread could be started.
    OutOfMemory = ENOMEM,
    /// As many timers are pending, or jobs in a journal, as there may be.
    LimitReached = EAGAIN,
    /// A timer or job has the key, and is to be kept.
    KeyExists = EEXIST,
    /// The call would wait for itself.
    Deadlock = EDEADLK,
    /// The scheduler was stopped, or the journal is being closed.
    Stopped = ESHUTDOWN,
    /// Another thread is in the same function; the file of a journal is in use.
    Busy = EBUSY,
    /// This scheduler cannot do that.
    Unsupported = ENOTSUP,
    /// There is no such time zone, job or file.
    NotFound = ENOENT,
    /// The scheduler belongs to the parent of this process, which has forked.
    Forked = EOWNERDEAD,
    /// The lease of a job has ended.
    LeaseEnded = ESTALE,
    /// The job is leased, or its state is another one than the step begins with.
    InUse = EALREADY,
    /// No job was ready in time.
    TimedOut = ETIMEDOUT,
    /// The request was cancelled.
    Cancelled = ECANCELED,
    /// The disk is full.
    NoSpace = ENOSPC,
    /// A job or a change is too large.
    TooLarge = EMSGSIZE,
    /// The disk has failed: the journal may have stopped.
    Io = EIO,
    /// The file is no journal, or is damaged.
    NoJournal = EBADMSG,
}

impl Error {
    /// The result of a function of C, which is a negative number on failure.
    pub(crate) fn check(result: c_int) -> Result<c_int, Error> {
        if result < 0 {
            Err(Error::from_errno(-result))
        } else {
            Ok(result)
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the library has a static string for each number.
        let text = unsafe { CStr::from_ptr(htw_sys::htw_strerror(-self.raw_os_error())) };
        f.write_str(&text.to_string_lossy())
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::from_raw_os_error(error.raw_os_error())
    }
}
