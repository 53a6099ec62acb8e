// SPDX-License-Identifier: MIT
//! job_queue.rs - a queue of mails that survives a crash: workers lease them by priority, one that fails is tried again
//! after a delay, and after three attempts it is put aside until someone looks at it.
use htw::{
    Change, Job, JobState, Journal, JournalOptions, Lease, LeaseOptions, ListPlace, QueuePolicy,
    Scheduler,
};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static SENT: AtomicUsize = AtomicUsize::new(0);
static SERVER_IS_UP: AtomicBool = AtomicBool::new(false);

/// May be called twice for a mail if the process crashes: the id is the same then.
fn send(lease: &Lease) -> Result<(), &'static str> {
    if lease.payload() == b"to eve" && !SERVER_IS_UP.load(SeqCst) {
        return Err("no such server");
    }
    SENT.fetch_add(1, SeqCst);
    Ok(())
}

/// Until no mail has come for a second.
fn work(journal: &Journal) -> Result<(), htw::Error> {
    let wait = || LeaseOptions::new().wait_until(journal.now() + Duration::from_secs(1));
    while let Some(lease) = journal.lease(&["mail"], wait())? {
        match send(&lease) {
            Ok(()) => {
                lease.done()?;
            }
            Err(error) => {
                let mail = String::from_utf8_lossy(lease.payload());
                println!("{}, attempt {}: {}", mail, lease.attempt(), error);
            } // a lease that is dropped gives its job back
        }
    }
    Ok(())
}

fn work_in_threads(journal: &Journal) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(journal).unwrap());
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("job_queue-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let scheduler = Scheduler::new()?;
    let journal = JournalOptions::new().open(&scheduler, folder.join("queue"))?;
    let policy = QueuePolicy {
        attempts_max: 3,
        initial: Duration::from_millis(20),
        cap: Duration::from_secs(1),
        ..QueuePolicy::default()
    };
    journal.set_policy("mail", &policy)?;

    let mails: [&[u8]; 3] = [b"to ada", b"to eve", b"to bob"];
    let put = |change: Change<'static>, mail| change.put(Job::new(mail).queue("mail"));
    journal.apply(mails.into_iter().fold(Change::new(), put))?; // all or none
    work_in_threads(&journal);

    for job in journal.list("mail", JobState::Buried, &mut ListPlace::default(), 10)? {
        let mail = String::from_utf8_lossy(&job.payload);
        println!("{} was put aside after {} attempts", mail, job.attempts);
    }
    SERVER_IS_UP.store(true, SeqCst);
    journal.kick("mail", 10)?;
    work_in_threads(&journal);
    println!("{} of 3 mails were sent", SENT.load(SeqCst));
    assert_eq!((SENT.load(SeqCst), journal.stats()?.jobs), (3, 0));
    journal.close()?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
