// SPDX-License-Identifier: MIT
//! Random histories of a wheel beside a BTreeMap. HTW_SEED repeats the one that a
//! failure names; HTW_HISTORIES is how many there are.
use htw::{Key, Progress, Wheel, WheelOptions, NEVER};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Deadlines near and far, before the clock, and the last ones that there are.
    fn deadline(&mut self, now: u64) -> u64 {
        match self.below(20) {
            0 => NEVER,
            1 => NEVER - self.below(3),
            2 => now.saturating_sub(self.below(1000)),
            _ => {
                let bits = self.below(40);
                now.saturating_add(self.below(2 << bits))
            }
        }
    }
}

/// What is pending, by deadline, and what each value is known by.
#[derive(Default)]
struct Model {
    pending: BTreeMap<u64, BTreeSet<u64>>,
    keys: BTreeMap<u64, (Key, u64)>,
    /// When it is due: at the deadline, or when it was armed, if that was later.
    due: BTreeMap<u64, u64>,
}

impl Model {
    fn insert(&mut self, value: u64, key: Key, deadline: u64, clock: u64) {
        self.pending.entry(deadline).or_default().insert(value);
        self.keys.insert(value, (key, deadline));
        self.due.insert(value, deadline.max(clock));
    }

    fn remove(&mut self, value: u64) -> (Key, u64) {
        let (key, deadline) = self.keys.remove(&value).expect("pending in the model");
        let bucket = self.pending.get_mut(&deadline).unwrap();
        bucket.remove(&value);
        if bucket.is_empty() {
            self.pending.remove(&deadline);
        }
        (key, deadline)
    }

    fn any(&self, random: &mut Random) -> Option<u64> {
        let start = random.below(self.keys.keys().last()? + 1);
        self.keys.range(start..).next().map(|(value, _)| *value)
    }

    fn earliest(&self) -> Option<u64> {
        self.pending.keys().next().copied().filter(|deadline| *deadline != NEVER)
    }
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut options = WheelOptions::new();
    options.size = 2 << random.below(9);
    options.strict_fifo = random.below(2) == 0;
    options.start = if random.below(4) == 0 {
        NEVER - 1 - random.below(1 << 20)
    } else {
        random.below(1 << 40)
    };
    let mut wheel = Wheel::with_options(&options).unwrap();
    let mut model = Model::default();
    let mut stale = Vec::new();
    let mut now = options.start;
    for value in 0..600 {
        match random.below(10) {
            0..=3 => {
                let deadline = random.deadline(now);
                let key = wheel.insert(deadline, value);
                model.insert(value, key, deadline, wheel.now());
            }
            4 => {
                let deadline = random.deadline(now);
                let latest = deadline.saturating_add(random.below(1000));
                let key = wheel.insert_within(deadline..=latest, value);
                let chosen = wheel.deadline(key).unwrap();
                assert!((deadline..=latest).contains(&chosen));
                model.insert(value, key, chosen, wheel.now());
            }
            5 => {
                if let Some(value) = model.any(&mut random) {
                    let (key, _) = model.remove(value);
                    assert_eq!(wheel.remove(key), Some(value));
                    stale.push(key);
                }
            }
            6 => {
                if let Some(value) = model.any(&mut random) {
                    let (key, _) = model.remove(value);
                    let deadline = random.deadline(now);
                    assert!(wheel.reschedule(key, deadline));
                    model.insert(value, key, deadline, wheel.now());
                }
            }
            7 => {
                if let Some(key) = stale.get(random.below(stale.len().max(1) as u64) as usize) {
                    assert_eq!(wheel.get(*key), None);
                    assert_eq!(wheel.remove(*key), None);
                    assert!(!wheel.reschedule(*key, now));
                }
            }
            _ => {
                let bits = random.below(40);
                now = now.saturating_add(random.below(2 << bits)).min(NEVER - 1);
                let mut last = 0;
                let mut expired = Vec::new();
                if random.below(2) == 0 {
                    expired.extend(wheel.expire(now));
                } else {
                    let (max, budget) = (1 + random.below(80) as usize, random.below(20) as usize);
                    while wheel.poll_batch(now, max, budget, &mut expired) == Progress::More {}
                }
                for timer in expired {
                    let (key, deadline) = model.remove(timer.value);
                    assert_eq!((timer.key, timer.deadline), (key, deadline));
                    let due = model.due[&timer.value];
                    assert!(due <= now, "early");
                    assert!(due >= last, "out of order");
                    last = due;
                    stale.push(key);
                }
                assert!(model.earliest().map_or(true, |deadline| deadline > now), "late");
                assert_eq!(wheel.now(), now);
            }
        }
        assert_eq!(wheel.check(), 0);
        assert_eq!(wheel.len(), model.keys.len());
        match (wheel.next_deadline(), model.earliest()) {
            (Some(next), Some(earliest)) => assert!(next <= earliest.max(wheel.now())),
            (next, earliest) => assert_eq!(next, earliest),
        }
        for (value, (key, deadline)) in &model.keys {
            assert_eq!((wheel.get(*key), wheel.deadline(*key)), (Some(value), Some(*deadline)));
        }
    }
    let mut rest: Vec<u64> = wheel.drain().map(|(_, value)| value).collect();
    rest.sort_unstable();
    assert_eq!(rest, model.keys.keys().copied().collect::<Vec<_>>());
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn random_histories_agree_with_a_map() {
    let (first, count) = match number_of("HTW_SEED") {
        Some(seed) => (seed, 1),
        None => {
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            (time.as_nanos() as u64 | 1, number_of("HTW_HISTORIES").unwrap_or(30))
        }
    };
    for seed in first..first + count {
        if let Err(panic) = catch_unwind(|| run(seed)) {
            eprintln!("HTW_SEED={} repeats this", seed);
            resume_unwind(panic);
        }
    }
}
