// SPDX-License-Identifier: MIT
//! The clock, and what the kernel counts for this process.
use std::fs;
use std::thread::sleep;
use std::time::Duration;

fn read_clock(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the struct only.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

pub fn now_ns() -> i64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Of all threads.
pub fn cpu_ns() -> i64 {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

pub fn sleep_until(instant_ns: i64) {
    let left = instant_ns - now_ns();
    if left > 0 {
        sleep(Duration::from_nanos(left as u64));
    }
}

/// The first number after a word in a file of /proc.
fn number_after(path: &str, word: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let number = text.split_once(word).and_then(|(_, after)| after.split_whitespace().next());
    number.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("no {word} in {path}"))
}

pub fn resident_bytes() -> u64 {
    number_after("/proc/self/status", "VmRSS:") * 1024
}

/// If the process has more resident memory than this, the machine would soon swap.
pub fn enough_bytes() -> u64 {
    resident_bytes() + number_after("/proc/meminfo", "MemAvailable:") * 1024 / 4 * 3
}

#[derive(Default)]
pub struct ThreadCounts {
    pub switches: u64,
    pub cpu_ns: u64,
}

/// Of the main thread, and of all the others together.
pub fn threads() -> (ThreadCounts, ThreadCounts) {
    let mut counts = (ThreadCounts::default(), ThreadCounts::default());
    for entry in fs::read_dir("/proc/self/task").expect("/proc/self/task").flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let is_main = name == std::process::id().to_string();
        let sum = if is_main { &mut counts.0 } else { &mut counts.1 };
        let status = format!("/proc/self/task/{name}/status");
        sum.switches += number_after(&status, "\nvoluntary_ctxt_switches:");
        sum.switches += number_after(&status, "nonvoluntary_ctxt_switches:");
        sum.cpu_ns += number_after(&format!("/proc/self/task/{name}/schedstat"), "");
    }
    counts
}
