// SPDX-License-Identifier: MIT
//! keep_alive.rs - timeouts of connections in an event loop: each line of input is the name of a
//! connection and keeps it alive for two seconds.
//!
//! Try: `(echo a; echo b; sleep 1; echo a; sleep 3) | cargo run --example keep_alive`
use htw::{Key, Wheel};
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};

const TIMEOUT_MS: u64 = 2000;

fn main() {
    let start = Instant::now();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if sender.send(line.expect("input is text")).is_err() {
                return;
            }
        }
    });

    let mut timeouts: Wheel<String> = Wheel::new();
    let mut connections: HashMap<String, Key> = HashMap::new();
    loop {
        let now = start.elapsed().as_millis() as u64;
        for expired in timeouts.expire(now) {
            connections.remove(&expired.value);
            println!("{} ms: {} has timed out", now, expired.value);
        }
        let sleep = match timeouts.next_deadline() {
            Some(deadline) => Duration::from_millis(deadline.saturating_sub(now)),
            None => Duration::from_secs(3600),
        };
        match lines.recv_timeout(sleep) {
            Ok(name) => {
                let deadline = start.elapsed().as_millis() as u64 + TIMEOUT_MS;
                match connections.get(&name) {
                    Some(key) => assert!(timeouts.reschedule(*key, deadline)),
                    None => {
                        let key = timeouts.insert(deadline, name.clone());
                        connections.insert(name, key);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) if timeouts.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(sleep),
        }
    }
}
