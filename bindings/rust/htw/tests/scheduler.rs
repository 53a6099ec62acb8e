// SPDX-License-Identifier: MIT
use htw::{
    Clock, Error, Group, Observe, Outcome, Progress, Repeat, Scheduler, SchedulerOptions, Timer,
};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex, Once};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(3600);

fn manual() -> Scheduler {
    SchedulerOptions::new().clock(Clock::Manual).workers(0).create().unwrap()
}

/// Closures that panic on purpose print nothing.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Purpose>() {
                hook(info);
            }
        }));
    });
}

struct Purpose;

/// Something that a closure captures, and that counts those that exist.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, SeqCst);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A closure that sends what it is called, and holds something counted.
fn send<T: Send + 'static>(
    to: &Sender<T>,
    what: T,
    count: &Arc<AtomicUsize>,
) -> impl FnOnce(htw::Expiration) + Send {
    let (to, held) = (to.clone(), Counted::new(count));
    move |_| {
        let _held = held;
        to.send(what).unwrap();
    }
}

#[test]
fn types_go_where_threads_need_them() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Scheduler>();
    is_send_and_sync::<Timer>();
    is_send_and_sync::<Group>();
    is_send_and_sync::<Error>();
}

#[test]
fn closure_learns_about_its_run() {
    let scheduler = manual();
    let (to, from) = channel();
    let send = |to: &Sender<_>| {
        let to = to.clone();
        move |expiration| to.send(expiration).unwrap()
    };
    scheduler.schedule_at(SECOND, send(&to)).unwrap().detach();
    let builder = scheduler.timer().after(SECOND).repeat(Repeat::Skip);
    let _skips = builder.every(SECOND, send(&to)).unwrap();
    scheduler.set_clock(Clock::Manual, 3 * SECOND).unwrap();
    let runs: Vec<_> =
        from.try_iter().map(|run: htw::Expiration| (run.deadline, run.late)).collect();
    assert_eq!(runs, [(SECOND, 2 * SECOND), (SECOND, 2 * SECOND)]);
    scheduler.advance(SECOND).unwrap();
    assert_eq!(from.try_iter().map(|run| run.missed).collect::<Vec<_>>(), [2]);
}

#[test]
fn timer_is_cancelled_when_it_is_dropped_unless_it_is_detached() {
    let scheduler = manual();
    let (to, from) = channel();
    let count = Arc::default();
    drop(scheduler.schedule(SECOND, send(&to, "dropped", &count)).unwrap());
    assert_eq!(count.load(SeqCst), 0);
    scheduler.schedule(SECOND, send(&to, "detached", &count)).unwrap().detach();
    let kept = scheduler.schedule(SECOND, send(&to, "kept", &count)).unwrap();
    assert!(kept.is_pending());
    scheduler.advance(SECOND).unwrap();
    let mut ran: Vec<_> = from.try_iter().collect();
    ran.sort_unstable();
    assert_eq!((ran, kept.is_pending()), (vec!["detached", "kept"], false));
    assert_eq!((kept.cancel(), kept.deadline()), (Outcome::Gone, None));
}

#[test]
fn outcomes_say_what_has_become_of_a_timer() {
    let scheduler = manual();
    let timer = scheduler.schedule(SECOND, |_| ()).unwrap();
    assert_eq!(timer.deadline(), Some(SECOND));
    assert_eq!(timer.reschedule(5 * SECOND), Ok(Outcome::Moved));
    assert_eq!(timer.reschedule_at(7 * SECOND), Ok(Outcome::Moved));
    assert_eq!(timer.deadline(), Some(7 * SECOND));
    assert_eq!(timer.set_period(SECOND), Err(Error::InvalidArgument));
    assert_eq!(timer.cancel(), Outcome::Cancelled);
    assert_eq!(timer.cancel(), Outcome::Gone);
    assert_eq!(timer.cancel_wait(), Ok(Outcome::Gone));
    assert_eq!(timer.reschedule(SECOND), Ok(Outcome::Gone));
}

#[test]
fn closure_is_dropped_once_in_whichever_way_its_timer_ends() {
    let scheduler =
        SchedulerOptions::new().clock(Clock::Manual).workers(0).max_pending(4).create().unwrap();
    let (to, _from) = channel();
    let count = Arc::default();
    let closure = || send(&to, (), &count);

    scheduler.schedule(SECOND, closure()).unwrap().detach();
    scheduler.advance(SECOND).unwrap();
    assert_eq!(count.load(SeqCst), 0, "run");

    let timer = scheduler.timer().after(SECOND).key(b"k").once(closure()).unwrap();
    let refused = scheduler.timer().after(SECOND).key(b"k").keep_existing().once(closure());
    assert_eq!(refused.err(), Some(Error::KeyExists));
    assert_eq!(count.load(SeqCst), 1, "refused");
    scheduler.timer().after(SECOND).key(b"k").once(closure()).unwrap().detach();
    assert_eq!((count.load(SeqCst), timer.cancel()), (1, Outcome::Gone), "replaced");
    assert_eq!(scheduler.cancel_key(b"k"), Ok(Outcome::Cancelled));
    assert_eq!(
        (count.load(SeqCst), scheduler.cancel_key(b"k")),
        (0, Ok(Outcome::Gone)),
        "cancelled by key"
    );

    let refused = scheduler.schedule_at(Instant::now(), closure());
    assert_eq!(refused.err(), Some(Error::InvalidArgument)); // in manual time
    assert_eq!(scheduler.timer().every(Duration::ZERO, |_| ()).err(), Some(Error::InvalidArgument));
    assert_eq!(count.load(SeqCst), 0, "another clock");

    let timers: Vec<_> = (0..4).map(|_| scheduler.schedule(SECOND, closure()).unwrap()).collect();
    assert_eq!(scheduler.schedule(SECOND, closure()).err(), Some(Error::LimitReached));
    assert_eq!(count.load(SeqCst), 4, "at the limit");
    assert_eq!(scheduler.stop(), Ok(4));
    assert_eq!(count.load(SeqCst), 0, "stopped");
    assert_eq!(scheduler.schedule(SECOND, closure()).err(), Some(Error::Stopped));
    assert_eq!(
        (count.load(SeqCst), scheduler.stop()),
        (0, Ok(0)),
        "refused by a stopped scheduler"
    );
    drop(scheduler);
    assert_eq!(timers[0].cancel(), Outcome::Gone); // it outlives its scheduler
    assert!(!timers[0].is_pending());
}

#[test]
fn repeating_timer_keeps_its_state_and_its_rate() {
    let scheduler = manual();
    let (to, from) = channel();
    let mut runs = 0;
    let timer = scheduler
        .schedule_every(SECOND, move |expiration| {
            runs += 1;
            to.send((runs, expiration.deadline.as_secs())).unwrap();
        })
        .unwrap();
    scheduler.advance(3 * SECOND).unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(timer.set_period(10 * SECOND), Ok(Outcome::Moved));
    scheduler.advance(11 * SECOND).unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [(4, 4), (5, 14)]);
    drop(timer);
    assert!(from.recv().is_err()); // the closure is dropped, too
}

#[test]
fn panic_goes_to_the_handler_and_ends_a_repeating_timer() {
    silence_panics();
    let (to, from) = channel();
    let to = Mutex::new(to);
    let scheduler = SchedulerOptions::new()
        .clock(Clock::Manual)
        .on_panic(move |panic| to.lock().unwrap().send(panic.is::<Purpose>()).unwrap())
        .create()
        .unwrap();
    let count = Arc::default();
    let held = Counted::new(&count);
    let once = scheduler.schedule(SECOND, move |_| {
        let _held = held;
        panic_any(Purpose)
    });
    let held = Counted::new(&count);
    let mut runs = 0;
    let every = scheduler.schedule_every(SECOND, move |_| {
        let _held = &held;
        runs += 1;
        if runs == 2 {
            panic_any(Purpose)
        }
    });
    scheduler.advance(10 * SECOND).unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [true, true]);
    assert_eq!((count.load(SeqCst), scheduler.pending()), (0, 0));
    drop((once, every));
}

#[test]
fn value_that_panics_when_a_closure_is_dropped_goes_to_the_handler() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any(Purpose)
        }
    }
    silence_panics();
    let panics = Arc::new(AtomicUsize::new(0));
    let counter = panics.clone();
    let scheduler = SchedulerOptions::new()
        .on_panic(move |_| {
            counter.fetch_add(1, SeqCst);
        })
        .create()
        .unwrap();
    let bomb = Bomb;
    let timer = scheduler.schedule(LONG, move |_| drop(bomb)).unwrap();
    assert_eq!(timer.cancel(), Outcome::Cancelled);
    assert_eq!(panics.load(SeqCst), 1);
    let bomb = Bomb;
    scheduler.schedule(LONG, move |_| drop(bomb)).unwrap().detach();
    drop(scheduler);
    assert_eq!(panics.load(SeqCst), 2);
}

#[test]
fn closure_moves_and_ends_its_own_timer() {
    let scheduler = manual();
    let runs = Arc::new(AtomicUsize::new(0));
    let timers: [Arc<Mutex<Option<Timer>>>; 2] = Default::default();
    let (own, counter) = (timers[0].clone(), runs.clone());
    let once = move |_| {
        counter.fetch_add(1, SeqCst); // once: the second time there is no closure
        let own = own.lock().unwrap();
        assert_eq!(own.as_ref().unwrap().reschedule(SECOND), Ok(Outcome::Moved));
    };
    *timers[0].lock().unwrap() = scheduler.schedule(SECOND, once).ok();
    let (own, counter) = (timers[1].clone(), runs.clone());
    let every = move |_| {
        if counter.fetch_add(1, SeqCst) == 3 {
            let own = own.lock().unwrap();
            assert_eq!(own.as_ref().unwrap().cancel(), Outcome::Running);
            assert_eq!(own.as_ref().unwrap().cancel_wait(), Err(Error::Deadlock));
        }
    };
    *timers[1].lock().unwrap() = scheduler.schedule_every(SECOND, every).ok();
    scheduler.advance(10 * SECOND).unwrap();
    assert_eq!((runs.load(SeqCst), scheduler.pending()), (4, 0));
    timers.iter().for_each(|timer| drop(timer.lock().unwrap().take()));
}

#[test]
fn group_is_cancelled_paused_and_resumed() {
    let scheduler = manual();
    let (to, from) = channel();
    let count = Arc::default();
    let group = scheduler.group().unwrap();
    let add = |key: &'static [u8]| {
        let timer = scheduler.timer().after(SECOND).key(key).group(&group);
        timer.once(send(&to, key, &count)).unwrap().detach()
    };
    add(b"a");
    group.pause().unwrap();
    scheduler.advance(10 * SECOND).unwrap();
    group.resume().unwrap();
    assert_eq!((from.try_iter().count(), group.len(), group.is_empty()), (0, 1, false));
    scheduler.advance(SECOND).unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [b"a"]);
    add(b"b");
    add(b"c");
    assert_eq!(group.cancel_key(b"b"), Ok(Outcome::Cancelled));
    assert_eq!((group.cancel(), count.load(SeqCst)), (Ok(1), 0));
    add(b"d");
    drop(group); // its timer continues
    scheduler.advance(SECOND).unwrap();
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [b"d"]);
}

#[test]
fn group_has_a_name() {
    let scheduler = manual();
    let group = scheduler.group().unwrap();
    let _timer = scheduler.timer().after(10 * SECOND).group(&group).once(|_| ()).unwrap();
    group.set_name("tenant").unwrap();
    assert!(scheduler.dump().unwrap().ends_with("  of 1 group\n         1  tenant\n"));
    assert_eq!(group.set_name("a\0b").unwrap_err(), Error::InvalidArgument);
}

#[test]
fn group_of_another_scheduler_is_refused() {
    let (one, other) = (manual(), manual());
    let group = other.group().unwrap();
    let refused = one.timer().after(SECOND).group(&group).once(|_| ());
    assert_eq!(refused.err(), Some(Error::InvalidArgument));
    drop(other);
    assert_eq!((group.len(), group.cancel()), (0, Ok(0))); // it outlives its scheduler
}

#[test]
fn options_out_of_range_are_refused() {
    let error = |options: SchedulerOptions| options.create().err();
    assert_eq!(error(SchedulerOptions::new().tick(Duration::ZERO)), Some(Error::InvalidArgument));
    assert_eq!(error(SchedulerOptions::new().workers(1000)), Some(Error::InvalidArgument));
    let named = SchedulerOptions::new().thread_name("a\0b").timer_slack(SECOND).shards(1);
    assert_eq!(error(named), None);
    let scheduler = Scheduler::new().unwrap();
    assert_eq!(scheduler.advance(SECOND), Err(Error::Unsupported));
    assert_eq!(scheduler.fd(), Err(Error::Unsupported));
    assert_eq!(scheduler.process(0), Err(Error::Unsupported));
}

#[test]
fn time_of_another_clock_than_the_timers_is_refused() {
    let scheduler = Scheduler::new().unwrap();
    let start = (Instant::now(), SystemTime::now());
    let period = scheduler.timer().clock(Clock::Realtime).every(LONG, |_| ()).unwrap();
    assert_eq!(period.clock(), Some(Clock::Realtime));
    assert!(period.deadline().unwrap() >= to_1970(start.1 + LONG));
    let refused = |result: Result<Timer, Error>| result.err() == Some(Error::InvalidArgument);
    let timer = || scheduler.timer();
    assert!(refused(timer().at(SystemTime::now()).clock(Clock::Monotonic).once(|_| ())));
    assert!(refused(timer().at(Instant::now()).clock(Clock::Boottime).once(|_| ())));
    assert!(refused(timer().after(SECOND).clock(Clock::Manual).once(|_| ())));
    assert_eq!(period.reschedule_at(start.0 + LONG), Err(Error::InvalidArgument));
    assert_eq!(period.reschedule_at(start.1 + 2 * LONG), Ok(Outcome::Moved));
    assert_eq!(period.deadline(), Some(to_1970(start.1 + 2 * LONG)));
    // What is said last holds.
    let delay = timer().at(Instant::now()).after(LONG).once(|_| ()).unwrap();
    assert!(delay.is_pending());
}

fn to_1970(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

#[test]
fn statistics_are_those_of_the_library() {
    let scheduler =
        SchedulerOptions::new().clock(Clock::Manual).workers(0).max_pending(3).create().unwrap();
    let timers: Vec<_> =
        (0..3).map(|i| scheduler.schedule((i + 2) * SECOND, |_| ()).unwrap()).collect();
    assert_eq!(scheduler.schedule(LONG, |_| ()).err(), Some(Error::LimitReached));
    timers[0].cancel();
    timers[1].reschedule(2 * SECOND).unwrap();
    timers[2].reschedule(LONG).unwrap();
    scheduler.set_clock(Clock::Manual, 5 * SECOND).unwrap();
    let stats = scheduler.stats().unwrap();
    assert_eq!((stats.scheduled, stats.fired, stats.cancelled, stats.pending), (3, 1, 1, 1));
    assert_eq!((stats.runs, stats.late, stats.refused, stats.moved), (1, 1, 1, 2));
    assert_eq!((stats.lateness.count, stats.lateness.max_ns), (1, 3_000_000_000));
    assert_eq!((stats.lateness.sum_ns, stats.callback.count), (3_000_000_000, 1));
    assert!(stats.lateness.p50_ns >= 3_000_000_000 && stats.memory_bytes > 0);
    scheduler.stop().unwrap();
    assert_eq!(scheduler.stats().unwrap().handed_back, 1);
}

#[test]
fn cancel_wait_and_drop_wait_for_the_closure_that_runs() {
    for drops in [false, true] {
        let scheduler = Scheduler::new().unwrap();
        let (started, has_started) = channel();
        let ended = Arc::new(AtomicUsize::new(0));
        let mark = ended.clone();
        let run = move |_| {
            started.send(()).unwrap();
            thread::sleep(Duration::from_millis(20));
            mark.store(1, SeqCst);
        };
        let timer = scheduler.schedule(Duration::ZERO, run).unwrap();
        has_started.recv().unwrap();
        if drops {
            drop(scheduler);
        } else {
            assert_ne!(timer.cancel_wait(), Ok(Outcome::Cancelled));
        }
        assert_eq!(ended.load(SeqCst), 1);
    }
}

#[test]
fn scheduler_that_is_dropped_in_its_own_closure_ends() {
    let scheduler = Arc::new(Mutex::new(Some(Scheduler::new().unwrap())));
    let (to, from) = channel();
    let (own, held) = (scheduler.clone(), to.clone());
    {
        let guard = scheduler.lock().unwrap();
        let scheduler = guard.as_ref().unwrap();
        scheduler.schedule(LONG, move |_| drop(held)).unwrap().detach(); // is dropped by the stop
        scheduler
            .schedule(Duration::ZERO, move |_| {
                let scheduler = own.lock().unwrap().take().unwrap();
                assert_eq!(scheduler.stop(), Err(Error::Deadlock));
                drop(scheduler);
                to.send("dropped").unwrap();
            })
            .unwrap()
            .detach();
    }
    assert_eq!(from.recv(), Ok("dropped"));
    assert!(from.recv().is_err()); // both closures are gone
}

#[test]
fn embedded_scheduler_runs_closures_in_the_thread_of_its_loop() {
    let scheduler = SchedulerOptions::new().embedded().shards(1).create().unwrap();
    let me = thread::current().id();
    let runs = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let counter = runs.clone();
        scheduler
            .schedule(Duration::from_millis(2), move |_| {
                assert_eq!(thread::current().id(), me);
                counter.fetch_add(1, SeqCst);
            })
            .unwrap()
            .detach();
    }
    let mut poll = libc::pollfd { fd: scheduler.fd().unwrap(), events: libc::POLLIN, revents: 0 };
    while runs.load(SeqCst) == 0 {
        assert_eq!(unsafe { libc::poll(&mut poll, 1, 60_000) }, 1);
        let (count, progress) = scheduler.process(2).unwrap();
        assert_eq!(count, runs.load(SeqCst));
        assert!(progress == Progress::Done || count == 2);
    }
    while runs.load(SeqCst) < 3 {
        scheduler.process(0).unwrap();
    }
}

#[test]
fn child_after_fork_is_told_so() {
    let scheduler = Scheduler::new().unwrap();
    let count = Arc::default();
    let held = Counted::new(&count);
    let timer = scheduler.schedule(LONG, move |_| drop(held)).unwrap();
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = scheduler.schedule(LONG, |_| ()).err();
        let is_right = timer.cancel() == Outcome::Gone && refused == Some(Error::Forked);
        drop(timer);
        drop(scheduler);
        // Not by an exit, at which memcheck would search for what the threads of the parent hold.
        let signal =
            if is_right && count.load(SeqCst) == 1 { libc::SIGKILL } else { libc::SIGABRT };
        unsafe { libc::raise(signal) };
        unreachable!();
    }
    let mut status = -1;
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, libc::SIGKILL);
    assert_eq!(timer.cancel(), Outcome::Cancelled);
}

#[test]
fn threads_that_schedule_and_cancel_leave_no_closure_behind() {
    let scheduler = Arc::new(Scheduler::new().unwrap());
    let count = Arc::<AtomicUsize>::default();
    let ended = Arc::<AtomicUsize>::default();
    let mut threads = Vec::new();
    for thread in 0..4u64 {
        let (scheduler, count, ended) = (scheduler.clone(), count.clone(), ended.clone());
        threads.push(thread::spawn(move || {
            let mut timers: Vec<Timer> = Vec::new();
            let mut cancelled = 0;
            for i in 0..2000 {
                let (held, ended) = (Counted::new(&count), ended.clone());
                let delay = Duration::from_micros((i * 37 + thread * 11) % 3000);
                let timer = scheduler.schedule(delay, move |_| {
                    drop(held);
                    ended.fetch_add(1, SeqCst);
                });
                timers.push(timer.unwrap());
                if i % 3 == 0 {
                    let victim = (i * 7919 % timers.len() as u64) as usize;
                    let timer = timers.swap_remove(victim);
                    cancelled += usize::from(timer.cancel() == Outcome::Cancelled);
                }
            }
            timers.drain(..).for_each(Timer::detach);
            cancelled
        }));
    }
    let cancelled: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    while scheduler.pending() > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    drop(scheduler);
    assert_eq!(ended.load(SeqCst) + cancelled, 8000);
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn what_is_observed_can_be_changed() {
    let scheduler = manual();
    assert_eq!(scheduler.observed(), Observe::NOTHING);
    scheduler.observe(Observe::SITES | Observe::EVENTS).unwrap();
    assert_eq!(scheduler.observed(), Observe::SITES | Observe::EVENTS);
    let options = SchedulerOptions::new().clock(Clock::Manual).observe(Observe::SITES);
    assert_eq!(options.create().unwrap().observed(), Observe::SITES);
}

#[test]
fn timers_know_where_they_were_armed() {
    let scheduler = manual();
    let mut timers = Vec::new();
    for _ in 0..3 {
        timers.push(scheduler.schedule(SECOND, |_| ()).unwrap());
    }
    let line = line!() - 2;
    timers.push(scheduler.timer().after(LONG).name("idle").once(|_| ()).unwrap());
    let text = scheduler.dump().unwrap();
    assert!(text.contains(&format!("         3   1000 ms   - {}:{line}\n", file!())), "{text}");
    assert!(text.contains(&format!("idle {}:{}\n", file!(), line + 3)), "{text}");
}
