// SPDX-License-Identifier: MIT
// A life cycle through beanstalkc of crates.io: life PORT
use beanstalkc::{Beanstalkc, BeanstalkcResult};
use std::time::Duration;

fn main() -> BeanstalkcResult<()> {
    let port = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut client = Beanstalkc::new().host("127.0.0.1").port(port).connect()?;
    println!("use {}, watch {}, ignore {}", client.use_tube("life")?, client.watch("life")?, client.ignore("default")?);
    let put = client.put(b"body", 5, Duration::ZERO, Duration::from_secs(60))?;
    let mut job = client.reserve_with_timeout(Duration::from_secs(1))?;
    println!("reserved {} {}", String::from_utf8_lossy(job.body()), job.id() == put);
    job.touch()?;
    job.release(7, Duration::ZERO)?;
    let mut job = client.reserve()?;
    job.bury(3)?;
    let stats = client.stats_job(put)?;
    println!("{} {} {}", stats["state"], stats["pri"], stats["buries"]);
    println!("peeked {}, kicked {}", client.peek_buried()?.id() == put, client.kick(10)?);
    client.pause_tube("life", Duration::from_secs(1))?;
    let mut job = client.reserve_with_timeout(Duration::from_secs(10))?;
    println!("after the pause {}", String::from_utf8_lossy(job.body()));
    job.delete()?;
    for wrong in [client.reserve_with_timeout(Duration::ZERO).err(), client.delete(put).err(), client.ignore("life").err()] {
        println!("{}", wrong.unwrap());
    }
    let later = client.put(b"later", 1, Duration::from_secs(1000), Duration::from_secs(60))?;
    println!("delayed {}", client.peek_delayed()?.id() == later);
    client.kick_job(later)?;
    println!("{:?} {} {}", client.watching()?, client.using()?, client.stats_tube("life")?["total-jobs"]);
    Ok(())
}
