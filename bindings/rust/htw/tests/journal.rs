// SPDX-License-Identifier: MIT
#![cfg(feature = "journal")]
use htw::{
    Change, Clock, Error, Job, JobState, Journal, JournalOptions, JournalStats, Lease,
    LeaseOptions, ListPlace, QueuePolicy, Scheduler, SchedulerOptions, Step,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// A folder of its own, with a scheduler in manual time. Made first, so that it goes last.
struct Place {
    folder: PathBuf,
    scheduler: Scheduler,
}

impl Place {
    fn new() -> Place {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, SeqCst);
        let name = format!("htw-journal-{}-{}", std::process::id(), number);
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let scheduler = SchedulerOptions::new().clock(Clock::Manual).workers(0).create().unwrap();
        Place { folder, scheduler }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("jobs")
    }

    fn open(&self) -> Journal {
        self.open_with(JournalOptions::new())
    }

    fn open_with(&self, options: JournalOptions) -> Journal {
        options.open(&self.scheduler, self.path()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

fn mail(payload: &[u8]) -> Job<'_> {
    Job::new(payload).queue("mail")
}

fn lease(journal: &Journal) -> Lease {
    journal.lease(&["mail"], LeaseOptions::new()).unwrap().expect("a job is ready")
}

fn has_none(journal: &Journal) -> bool {
    journal.lease(&["mail"], LeaseOptions::new()).unwrap().is_none()
}

/// Jobs that are delayed, ready, leased and buried.
fn states(journal: &Journal) -> (u64, u64, u64, u64) {
    let stats = journal.queue("mail").unwrap().unwrap();
    (stats.delayed, stats.ready, stats.leased, stats.buried)
}

#[test]
fn types_go_where_threads_need_them() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Journal>();
    is_send_and_sync::<Lease>();
    is_send_and_sync::<JournalStats>();
}

#[test]
fn job_is_delivered_at_its_time_and_ended_by_its_lease() {
    let place = Place::new();
    let (to, from) = channel();
    let to = std::sync::Mutex::new(to);
    let journal = place.open_with(JournalOptions::new().deliver(move |mut lease| {
        assert_eq!((lease.end(), lease.attempt(), lease.queue()), (None, 1, ""));
        assert_eq!(lease.extend(UNIX_EPOCH + MINUTE), Ok(false));
        to.lock().unwrap().send((lease.payload().to_vec(), lease.key().is_some())).unwrap();
        lease.done_later().unwrap();
    }));
    journal.put(Job::new(b"later").key(b"key").at(journal.now() + SECOND)).unwrap();
    place.scheduler.advance(SECOND - SECOND / 1000).unwrap();
    assert_eq!(from.try_iter().count(), 0);
    place.scheduler.advance(SECOND / 1000).unwrap();
    journal.sync().unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [(b"later".to_vec(), true)]);
    assert_eq!(journal.stats().unwrap().jobs, 0);
    journal.close().unwrap();
}

#[test]
fn job_whose_closure_panics_is_delivered_again() {
    let (panics, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, count_panics) = (calls.clone(), panics.clone());
    let mut place = Place::new();
    let options = SchedulerOptions::new().clock(Clock::Manual).workers(0);
    place.scheduler = options
        .on_panic(move |_| {
            count_panics.fetch_add(1, SeqCst);
        })
        .create()
        .unwrap();
    let journal = place.open_with(JournalOptions::new().deliver(move |lease| {
        if count.fetch_add(1, SeqCst) == 0 {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        lease.done_later().unwrap();
    }));
    journal.put(Job::new(b"mail")).unwrap();
    for _ in 0..2 {
        place.scheduler.advance(SECOND).unwrap();
        journal.sync().unwrap();
    }
    assert_eq!((calls.load(SeqCst), panics.load(SeqCst)), (2, 1));
    assert_eq!(journal.stats().unwrap().jobs, 0);
}

#[test]
fn lease_ends_once() {
    let place = Place::new();
    let journal = place.open();
    journal.put(mail(b"slow").priority(7)).unwrap();
    let id = journal.put(mail(b"first")).unwrap();
    let first = journal.lease(&["none", "mail"], LeaseOptions::new()).unwrap().unwrap();
    assert_eq!((first.id(), first.payload(), first.queue()), (id, &b"first"[..], "mail"));
    assert_eq!(first.done(), Ok(true));
    let mut second = lease(&journal);
    assert_eq!((second.payload(), second.priority(), second.key()), (&b"slow"[..], 7, None));
    let end = journal.now() + 60 * MINUTE;
    assert_eq!((second.extend(end), second.end()), (Ok(true), Some(end)));
    place.scheduler.advance(61 * MINUTE).unwrap();
    journal.sync().unwrap();
    assert_eq!((second.extend(end), second.done()), (Ok(false), Ok(false)));
    let third = lease(&journal);
    assert_eq!((third.attempt(), journal.done(third.id()), third.bury()), (2, Ok(true), Ok(false)));
    assert!(has_none(&journal));
}

#[test]
fn lease_that_is_dropped_or_released_is_leased_again() {
    let place = Place::new();
    let journal = place.open();
    let id = journal.put(mail(b"mail")).unwrap();
    drop(lease(&journal));
    journal.sync().unwrap();
    let again = lease(&journal);
    assert_eq!((again.attempt(), again.release_at(journal.now() + MINUTE)), (2, Ok(true)));
    assert!(has_none(&journal));
    place.scheduler.advance(MINUTE).unwrap();
    assert_eq!(lease(&journal).bury(), Ok(true));
    assert_eq!((states(&journal), journal.kick("mail", 5)), ((0, 0, 0, 1), Ok(1)));
    let info = journal.peek(id).unwrap().unwrap();
    assert_eq!((info.attempts, info.releases, info.buries, info.kicks), (3, 2, 1, 1));
    assert_eq!((info.state, info.payload), (JobState::Ready, b"mail".to_vec()));
    let by_id = |id| journal.lease_id(id, LeaseOptions::new()).unwrap();
    let held = by_id(id).unwrap();
    assert!(by_id(id).is_none() && by_id(12345).is_none());
    assert_eq!(held.detach(), id);
    assert_eq!(journal.update(Step::release(id).of_attempt(3)), Ok(false));
    assert_eq!(journal.update(Step::release(id).of_attempt(4).priority(5)), Ok(true));
    assert_eq!(journal.peek(id).unwrap().unwrap().priority, 5);
}

#[test]
fn change_is_made_wholly_or_not_at_all_and_ends_its_leases() {
    let place = Place::new();
    let journal = place.open_with(JournalOptions::new());
    journal.put(mail(b"first")).unwrap();
    let change = Change::new().done(lease(&journal)).put(mail(b"next").key(b"k"));
    let ids = journal.apply(change.put(Job::new(b"never").never())).unwrap();
    assert_eq!(ids.len(), 2);
    assert_eq!(journal.peek(ids[1]).unwrap().unwrap().deadline, None);
    let impossible = Change::new().done(lease(&journal)).step(Step::cancel(12345));
    assert_eq!(journal.apply(impossible), Err(Error::NotFound));
    assert_eq!(journal.put(Job::new(b"x").key(b"k").if_absent()), Err(Error::KeyExists));
    journal.sync().unwrap();
    assert_eq!((states(&journal), journal.stats().unwrap().jobs), ((0, 1, 0, 0), 2));
    assert_eq!(journal.update(Step::cancel_key(b"k")), Ok(true));
    assert_eq!((journal.cancel(ids[0]), journal.done(ids[0])), (Ok(false), Ok(false)));
    assert_eq!(journal.apply(Change::new()), Ok(vec![]));
}

#[test]
fn notices_come_once_with_the_result() {
    let place = Place::new();
    let journal = Arc::new(place.open());
    let held = Arc::new(());
    let (to, from) = channel();
    let (token, own, send) = (held.clone(), journal.clone(), to.clone());
    let put = journal.put_later(mail(b"mail"), move |result| {
        assert_eq!((result, Arc::strong_count(&token) > 1), (Ok(()), true));
        send.send(own.sync().map(|_| 0)).unwrap();
    });
    let id = put.unwrap();
    journal.update_later(Step::bury(id), |result| assert_eq!(result, Ok(()))).unwrap();
    let send = to.clone();
    journal.kick_later("mail", 5, move |result| send.send(result).unwrap()).unwrap();
    let send = to;
    let missing = move |result: Result<(), Error>| send.send(result.map(|_| 1)).unwrap();
    journal.update_later(Step::cancel(12345), missing).unwrap();
    journal.sync().unwrap();
    let results: Vec<_> = from.iter().take(3).collect();
    assert_eq!(results, [Err(Error::Deadlock), Ok(1), Err(Error::NotFound)]);
    let (token, send) = (held.clone(), channel().0);
    let notice = move |_| send.send(token).unwrap_or(());
    assert_eq!(
        journal.put_later(Job::new(b"x").queue("a\0b"), notice),
        Err(Error::InvalidArgument)
    );
    assert_eq!(Arc::strong_count(&held), 1);
    lease(&journal).done_later_then(|result| assert_eq!(result, Ok(()))).unwrap();
    journal.sync().unwrap();
    assert_eq!(journal.stats().unwrap().jobs, 0);
}

#[test]
fn request_receives_a_lease_or_why_there_is_none() {
    let place = Place::new();
    let journal = place.open();
    let (to, from) = channel();
    let request = |options| {
        let to = to.clone();
        journal.lease_later(&["mail"], options, move |lease| to.send(lease).unwrap()).unwrap()
    };
    let wait = LeaseOptions::new().wait_until(journal.now() + MINUTE);
    request(wait);
    journal.put(mail(b"mail")).unwrap();
    let received = from.recv().unwrap().unwrap();
    assert_eq!(received.payload(), b"mail");
    assert_eq!(received.done(), Ok(true));
    let waiting = request(LeaseOptions::new().wait());
    assert_eq!(journal.queue("mail").unwrap().unwrap().waiting, 1);
    assert!(journal.cancel_lease(waiting) && !journal.cancel_lease(waiting));
    assert_eq!(from.recv().unwrap().err(), Some(Error::Cancelled));
    request(wait);
    place.scheduler.advance(MINUTE).unwrap();
    assert_eq!(from.recv().unwrap().err(), Some(Error::TimedOut));
    request(LeaseOptions::new().wait());
    drop(journal);
    assert_eq!(from.recv().unwrap().err(), Some(Error::Stopped));
}

#[test]
fn jobs_and_queues_are_shown_and_obey_policy_and_pause() {
    let place = Place::new();
    let journal = place.open();
    let policy =
        QueuePolicy { attempts_max: 1, initial: MINUTE, cap: MINUTE, ..QueuePolicy::default() };
    journal.set_policy("mail", &policy).unwrap();
    let ids = journal.apply(Change::new().put(mail(b"one")).put(mail(b"two"))).unwrap();
    assert_eq!((lease(&journal).release(), states(&journal)), (Ok(true), (0, 1, 0, 1)));
    let mut at = ListPlace::default();
    let mut list = |state| journal.list("mail", state, &mut at, 10).unwrap();
    assert_eq!(list(JobState::Buried).iter().map(|job| job.id).collect::<Vec<_>>(), [ids[0]]);
    assert!(list(JobState::Buried).is_empty());
    let until = journal.now() + MINUTE;
    journal.pause("mail", until).unwrap();
    assert_eq!(journal.queue("mail").unwrap().unwrap().paused_until, Some(until));
    assert!(has_none(&journal));
    journal.resume("mail").unwrap();
    place.scheduler.advance(Duration::ZERO).unwrap();
    assert_eq!(lease(&journal).done(), Ok(true));
    let queues = journal.queues().unwrap();
    let names: Vec<_> = queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!((names, queues[1].policy), (vec!["", "mail"], policy));
    assert_eq!(journal.queue("none"), Ok(None));
    assert!(journal.stats().unwrap().commit.count > 0);
}

#[test]
fn journal_that_cannot_be_opened_says_why() {
    let place = Place::new();
    let journal = place.open();
    let again = JournalOptions::new().open_alone(place.path());
    assert_eq!(again.err(), Some(Error::Busy));
    assert!(htw::journal_error().contains(place.path().to_str().unwrap()));
    let open = |options: JournalOptions, path: &str| options.open(&place.scheduler, path).err();
    assert_eq!(open(JournalOptions::new(), "/nowhere/jobs"), Some(Error::NotFound));
    assert_eq!(open(JournalOptions::new(), "a\0b"), Some(Error::InvalidArgument));
    let far = JournalOptions::new().near(Duration::MAX).deliver(|_| ());
    assert_eq!(open(far, "other"), Some(Error::InvalidArgument));
    journal.put(mail(b"mail")).unwrap();
    let held = lease(&journal);
    assert_eq!(journal.close(), Err(Error::Busy)); // the lease keeps it open
    assert_eq!(held.done(), Ok(true));
    let alone = JournalOptions::new().open_alone(place.path()).unwrap();
    assert_eq!(alone.stats().unwrap().found, 0);
    let refused = alone.lease(&["mail"], LeaseOptions::new());
    assert_eq!(refused.err(), Some(Error::InvalidArgument));
}

#[test]
fn journal_and_scheduler_may_be_dropped_in_any_order_and_anywhere() {
    let mut place = Place::new();
    let journal = Arc::new(place.open());
    journal.put(mail(b"mail")).unwrap();
    let held = lease(&journal);
    place.scheduler = Scheduler::new().unwrap();
    assert_eq!(held.done(), Ok(true));
    let journal = Arc::try_unwrap(journal).expect("the last reference");
    assert_eq!(journal.close(), Ok(()));
    // In a closure of the journal another thread closes it.
    let journal = Arc::new(place.open());
    let (own, (to, from)) = (journal.clone(), channel());
    let notice = move |_| {
        from.recv().unwrap_or(());
        drop(own);
    };
    journal.put_later(mail(b"mail"), notice).unwrap();
    drop(journal);
    to.send(()).unwrap();
    let opened = || JournalOptions::new().open_alone(place.path());
    let journal = std::iter::repeat_with(opened).find_map(|journal: Result<Journal, _>| {
        thread::sleep(Duration::from_millis(1));
        journal.ok()
    });
    assert_eq!(journal.unwrap().stats().unwrap().found, 1);
}
