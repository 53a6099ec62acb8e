// SPDX-License-Identifier: MIT
//! Prints one JSON object a line, each with one metric and its unit in the name, as report.h does.
use crate::histogram::Histogram;
use crate::Options;
use std::process::exit;

pub struct Report {
    run: String, // the members with which every line begins
}

impl Report {
    pub fn new(given: &Options) -> Report {
        Report {
            run: format!(
                r#""workload":"{}","peer":"{}","producers":{}"#,
                given.workload, given.peer, given.producers
            ),
        }
    }

    pub fn count(&self, metric: &str, value: u64) {
        println!(r#"{{{},"metric":"{metric}","value":{value}}}"#, self.run);
    }

    pub fn number(&self, metric: &str, value: f64) {
        println!(r#"{{{},"metric":"{metric}","value":{value:.6}}}"#, self.run);
    }

    /// Of a histogram of nanoseconds, in microseconds.
    pub fn percentiles(&self, what: &str, histogram: &Histogram) {
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            self.number(&format!("{what}_{name}_us"), histogram.quantile_ns(quantile) as f64 / 1e3);
        }
        self.number(&format!("{what}_max_us"), histogram.max_ns as f64 / 1e3);
    }

    /// Ends a run that needs more memory than there is. That is a result.
    pub fn out_of_memory(&self) -> ! {
        self.count("out_of_memory", 1);
        exit(0)
    }

    /// Ends the process: a timer did something wrong.
    pub fn fail(&self, why: &str) -> ! {
        eprintln!("htw-bench-tokio: {{{}}} {why}", self.run);
        exit(1)
    }
}
