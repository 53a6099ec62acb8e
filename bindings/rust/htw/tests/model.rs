// SPDX-License-Identifier: MIT
//! Random histories of a wheel beside a map: keys, values and deadlines stay together, and stale keys name nothing. How the
//! wheel itself behaves, the models in C show. HTW_SEED repeats the history that a failure names; HTW_HISTORIES is how many
//! there are.
use htw::{Key, Progress, Wheel, WheelOptions, NEVER};
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit
    }

    /// Deadlines near and far, before the clock, and never.
    fn deadline(&mut self, now: u64) -> u64 {
        match self.below(20) {
            0 => NEVER,
            1 => now.saturating_sub(self.below(1000)),
            _ => {
                let bits = self.below(40);
                now.saturating_add(self.below(2 << bits))
            }
        }
    }
}

/// The key and the deadline of each value that is pending.
type Model = BTreeMap<u64, (Key, u64)>;

fn any(model: &Model, random: &mut Random) -> Option<u64> {
    let start = random.below(model.keys().last()? + 1);
    model.range(start..).next().map(|(value, _)| *value)
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut options = WheelOptions::new();
    options.start = random.below(1 << 40);
    let mut wheel = Wheel::with_options(&options).unwrap();
    let mut model = Model::new();
    let mut stale = Vec::new();
    let mut now = options.start;
    for value in 0..600 {
        let deadline = random.deadline(now);
        match random.below(10) {
            0..=3 => {
                model.insert(value, (wheel.insert(deadline, value), deadline));
            }
            4 => {
                let key = wheel.insert_within(deadline..=deadline.saturating_add(1000), value);
                model.insert(value, (key, wheel.deadline(key).unwrap()));
            }
            5 | 6 => {
                if let Some(value) = any(&model, &mut random) {
                    let (key, _) = model.remove(&value).unwrap();
                    if random.below(2) == 0 {
                        assert_eq!(wheel.remove(key), Some(value));
                        stale.push(key);
                    } else {
                        assert!(wheel.reschedule(key, deadline));
                        model.insert(value, (key, deadline));
                    }
                }
            }
            _ => {
                now = now.max(deadline.min(NEVER - 1));
                let mut expired = Vec::new();
                if random.below(2) == 0 {
                    expired.extend(wheel.expire(now));
                } else {
                    let (max, budget) = (1 + random.below(80) as usize, random.below(20) as usize);
                    while wheel.poll_batch(now, max, budget, &mut expired) == Progress::More {}
                }
                for timer in expired {
                    assert_eq!(model.remove(&timer.value), Some((timer.key, timer.deadline)));
                    assert!(timer.deadline <= now, "early");
                    stale.push(timer.key);
                }
                assert!(model.values().all(|(_, deadline)| *deadline > now), "late");
            }
        }
        assert_eq!((wheel.check(), wheel.len()), (0, model.len()));
        for (value, (key, deadline)) in &model {
            assert_eq!((wheel.get(*key), wheel.deadline(*key)), (Some(value), Some(*deadline)));
        }
        assert_eq!(wheel.iter().count(), model.len());
        assert!((&wheel).into_iter().all(|(key, at, value)| model[value] == (key, at)));
        if let Some(key) = stale.get(random.below(stale.len().max(1) as u64) as usize) {
            assert!(!wheel.contains(*key) && !wheel.reschedule(*key, now));
            assert_eq!(wheel.remove(*key), None);
        }
    }
    let wheel = &mut std::thread::spawn(move || wheel).join().unwrap(); // any thread may have it
    let rest: BTreeMap<u64, u64> =
        wheel.drain().map(|(deadline, value)| (value, deadline)).collect();
    assert!(rest
        .iter()
        .map(|(value, at)| (value, *at))
        .eq(model.iter().map(|(value, (_, at))| (value, *at))));
    assert_eq!(wheel.len(), 0);
}

#[test]
fn random_histories_agree_with_a_map() {
    let number = |variable: &str| {
        std::env::var(variable).ok().map(|text| text.parse::<u64>().expect("a number"))
    };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let first = number("HTW_SEED").unwrap_or(time | 1);
    let count = number("HTW_SEED").map_or(number("HTW_HISTORIES").unwrap_or(30), |_| 1);
    for seed in first..first + count {
        if let Err(panic) = catch_unwind(|| run(seed)) {
            eprintln!("HTW_SEED={} repeats this", seed);
            resume_unwind(panic);
        }
    }
}
