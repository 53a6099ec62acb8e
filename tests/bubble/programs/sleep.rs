// SPDX-License-Identifier: MIT
// sleep.rs - threads of Rust that sleep, wait with a timeout and are joined: prints the seconds that have passed.
use std::sync::{mpsc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let began = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let sleeper = thread::spawn(move || {
        for hour in 1..=720 {
            thread::sleep(Duration::from_secs(3600));
            sender.send(hour).unwrap();
        }
    });
    let mut hours = 0;
    while let Ok(hour) = receiver.recv_timeout(Duration::from_secs(7200)) {
        hours = hour;
    }
    sleeper.join().unwrap();
    let lock = Mutex::new(());
    let (_guard, result) = Condvar::new().wait_timeout(lock.lock().unwrap(), Duration::from_secs(60)).unwrap();
    thread::park_timeout(Duration::from_secs(40));
    println!("{} {} {}", hours, result.timed_out(), began.elapsed().as_secs());
}
