// SPDX-License-Identifier: MIT
//! The workloads of htw-bench-scheduler for tokio's timers. One workload with one peer a process, so that no
//! run inherits the memory or the threads of another one.
mod delays;
mod expirations;
mod fired;
mod histogram;
mod machine;
mod pairs;
mod peer;
mod report;
mod waiting;

use peer::{Sleeps, Tasks};
use report::Report;
use std::process::exit;

pub struct Options {
    workload: String,
    peer: String,
    producers: u64,
    seconds: f64,
    warmup: f64,
    timers: u64,
}

fn wrong(what: &str) -> ! {
    eprintln!("htw-bench-tokio: wrong options: {what}");
    exit(2)
}

fn number(name: &str, value: Option<String>) -> f64 {
    match value.and_then(|text| text.parse::<f64>().ok()) {
        Some(number) if number > 0.0 => number,
        _ => wrong(name),
    }
}

fn read_options() -> Options {
    let mut given = Options {
        workload: String::new(),
        peer: "tokio".into(),
        producers: 1,
        seconds: 0.0,
        warmup: 0.0,
        timers: 0,
    };
    let mut quick = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--quick" => quick = true,
            "--workload" => given.workload = arguments.next().unwrap_or_default(),
            "--peer" => given.peer = arguments.next().unwrap_or_default(),
            "--producers" => given.producers = number(&name, arguments.next()) as u64,
            "--seconds" => given.seconds = number(&name, arguments.next()),
            "--warmup" => given.warmup = number(&name, arguments.next()),
            "--timers" => given.timers = number(&name, arguments.next()) as u64,
            _ => wrong(&name),
        }
    }
    let usual = match given.workload.as_str() {
        "idle" => 20.0,
        "headline" | "lateness" => 10.0,
        "threads" | "foreign" | "stall" | "memory" => 5.0,
        other => wrong(other),
    };
    if given.seconds == 0.0 {
        given.seconds = if quick { usual / 5.0 } else { usual };
    }
    if given.warmup == 0.0 {
        given.warmup = if quick { 1.0 } else { 2.0 };
    }
    if given.timers == 0 {
        let is_less = quick && given.workload == "memory";
        given.timers = if is_less { 200_000 } else { 1_000_000 };
    }
    given
}

fn main() {
    let given = read_options();
    let report = Report::new(&given);
    let (peer, is_alternative) = match given.peer.strip_suffix("-alt") {
        Some(peer) => (peer, true),
        None => (given.peer.as_str(), false),
    };
    if is_alternative != cfg!(tokio_unstable) {
        wrong("this program was built for other timers");
    }
    match (given.workload.as_str(), peer) {
        ("threads", "tokio") => pairs::threads(&given, &report, Tasks::start()),
        ("foreign", "tokio") => pairs::foreign(&given, &report, Tasks::start()),
        ("threads", "tokio-sleep") => pairs::threads(&given, &report, Sleeps::start()),
        ("foreign", "tokio-sleep") => pairs::foreign(&given, &report, Sleeps::start()),
        ("headline", "tokio") => fired::headline(&given, &report, Tasks::start()),
        ("lateness", "tokio") => fired::lateness(&given, &report, Tasks::start()),
        ("stall", "tokio") => fired::stall(&given, &report, Tasks::start()),
        ("idle", "tokio") => waiting::idle(&given, &report, Tasks::start()),
        ("memory", "tokio") => waiting::memory(&given, &report),
        (_, other) => wrong(other),
    }
    exit(0) // without waiting for tasks
}
