// SPDX-License-Identifier: MIT
//! Draws delays evenly between two bounds; the generator is that of random.h.
pub const MILLISECOND: i64 = 1_000_000;
pub const SECOND: i64 = 1_000_000_000;

pub struct Delays {
    state: u128,
    shortest_ns: i64,
    span: u64,
}

impl Delays {
    pub fn new(seed: u64, shortest_ns: i64, longest_ns: i64) -> Delays {
        let state = u128::from(seed.wrapping_add(0x9e3779b97f4a7c15)) << 64 | 1;
        let mut delays = Delays { state, shortest_ns, span: (longest_ns - shortest_ns) as u64 + 1 };
        for _ in 0..8 {
            delays.draw(); // until the seed has reached every bit
        }
        delays
    }

    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(0xda942042e4dd58b5);
        (self.state >> 64) as u64
    }

    pub fn next_ns(&mut self) -> i64 {
        let scaled = u128::from(self.draw()) * u128::from(self.span);
        self.shortest_ns + (scaled >> 64) as i64
    }
}
