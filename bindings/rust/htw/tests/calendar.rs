// SPDX-License-Identifier: MIT
#![cfg(feature = "calendar")]
use htw::{
    Calendar, Clock, CronError, Error, Outcome, Scheduler, SchedulerOptions, Weekdays, Zone,
};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86400);

/// 2024-03-28, a Thursday. On the Sunday after it Berlin's clocks are put forward.
const START: Duration = Duration::from_secs(1711584000);

fn start() -> SystemTime {
    UNIX_EPOCH + START
}

fn manual() -> Scheduler {
    let scheduler = SchedulerOptions::new().clock(Clock::Manual).workers(0).create().unwrap();
    scheduler.set_clock(Clock::Realtime, START).unwrap();
    scheduler
}

fn hourly() -> Calendar {
    "@hourly".parse().unwrap()
}

#[test]
fn types_go_where_threads_need_them() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Zone>();
    is_send_and_sync::<Calendar>();
    is_send_and_sync::<CronError>();
}

#[test]
fn instants_are_those_of_the_zone() {
    let berlin = Zone::new("Europe/Berlin").unwrap();
    let nightly = Calendar::daily(2, 30, 0).unwrap();
    assert_eq!(nightly.next(start(), None), Some(start() + HOUR * 5 / 2));
    assert_eq!(nightly.next(start(), Some(&berlin)), Some(start() + HOUR * 3 / 2));
    assert_eq!(nightly.previous(start(), Some(&berlin)), Some(start() - DAY + HOUR * 3 / 2));
    assert_eq!((berlin.offset(start()), berlin.offset(start() + 5 * DAY)), (3600, 7200));
    assert!(nightly.next(SystemTime::now(), Some(&Zone::local().unwrap())) > Some(start()));
}

#[test]
fn instants_before_1970_are_instants() {
    let daily = Calendar::daily(3, 0, 0).unwrap();
    let time = UNIX_EPOCH - 10 * DAY;
    assert_eq!(daily.next(time, None), Some(time + 3 * HOUR));
    assert_eq!(daily.previous(time, None), Some(time - 21 * HOUR));
    assert_eq!(daily.next(UNIX_EPOCH + 300 * 366 * DAY, None), None);
    assert_eq!(daily.previous(UNIX_EPOCH - 300 * 366 * DAY, None), None);
    let never: Calendar = "0 0 30 2 *".parse().unwrap();
    assert_eq!((never.next(start(), None), never.previous(start(), None)), (None, None));
}

#[test]
fn calendar_is_read_from_its_text() {
    let texts = [
        (Calendar::daily(3, 0, 0), "0 3 * * *"),
        (Calendar::weekly(Weekdays::MONDAY_TO_FRIDAY, 3, 4, 5), "5 4 3 * * 1-5"),
        (Calendar::weekly(Weekdays::SUNDAY | Weekdays::TUESDAY, 3, 4, 0), "4 3 * * 0,2"),
        (Calendar::monthly(-1, 3, 0, 0), "0 3 L * *"),
    ];
    for (calendar, text) in texts {
        let calendar = calendar.unwrap();
        assert_eq!((calendar.to_string(), text.parse()), (text.to_string(), Ok(calendar)));
    }
    assert_ne!(hourly(), Calendar::daily(3, 0, 0).unwrap());
    assert_eq!(format!("{:?}", hourly()), "Calendar(\"0 * * * *\")");
}

#[test]
fn wrong_arguments_are_refused() {
    let at = |text: &str| text.parse::<Calendar>().map_err(|error| error.position).err();
    assert_eq!((at("0 24 * * *"), at("0 3 * foo *"), at("")), (Some(2), Some(6), Some(0)));
    assert_eq!(at("0 3 * * *\0"), Some(9));
    assert_eq!(CronError { position: 7 }.to_string(), "no cron expression: error at position 7");
    let invalid = Some(Error::InvalidArgument);
    assert_eq!(Calendar::daily(24, 0, 0).err(), invalid);
    assert_eq!(Calendar::weekly(Weekdays::EVERY_DAY, 0, 60, 0).err(), invalid);
    assert_eq!(Calendar::monthly(0, 0, 0, 0).err(), invalid);
    assert_eq!(Zone::new("Europe/Nowhere").err(), Some(Error::NotFound));
    assert_eq!(Zone::new("../UTC").err(), invalid);
    assert_eq!(Zone::new("UTC\0x").err(), invalid);
}

#[test]
fn timer_repeats_by_a_calendar_and_outlives_its_zone() {
    let scheduler = manual();
    let (to, from) = channel();
    let zone = Zone::new("Europe/Berlin").unwrap();
    let daily = Calendar::daily(3, 0, 0).unwrap();
    let run = move |expiration: htw::Expiration| {
        assert_eq!(expiration.clock, Clock::Realtime);
        to.send(expiration.deadline - START).unwrap();
    };
    let late = scheduler.calendar_timer(&daily).jitter(2 * DAY, b"x").schedule(|_| ());
    assert_eq!(late.err(), Some(Error::InvalidArgument));
    let timer = scheduler.calendar_timer(&daily).zone(&zone).schedule(run).unwrap();
    drop(zone);
    assert_eq!(timer.clock(), Some(Clock::Realtime));
    scheduler.advance(5 * DAY).unwrap();
    let ran: Vec<_> = from.try_iter().map(|after| after.as_secs() / 3600).collect();
    assert_eq!(ran, [2, 26, 50, 73, 97]);
    assert_eq!(timer.cancel(), Outcome::Cancelled);
    scheduler.advance(2 * DAY).unwrap();
    assert_eq!(from.try_iter().count(), 0);
}

#[test]
fn timer_makes_good_what_the_program_has_missed() {
    let scheduler = manual();
    let (to, from) = channel();
    let timer = |name: &'static str, catch_up, after| {
        let to = to.clone();
        let timer = scheduler.calendar_timer(&hourly()).catch_up(catch_up).after(after);
        timer.schedule(move |_| to.send(name).unwrap()).unwrap()
    };
    let _timers = [
        timer("report", 2, start() - 3 * HOUR),
        timer("old", 1, UNIX_EPOCH), // 0 means now in C
    ];
    scheduler.advance(Duration::ZERO).unwrap();
    let mut runs: Vec<_> = from.try_iter().collect();
    runs.sort_unstable();
    assert_eq!(runs, ["old", "report", "report"]);
}

#[test]
fn closure_is_dropped_once_in_whichever_way_its_timer_ends() {
    let scheduler = manual();
    let group = scheduler.group().unwrap();
    let held = Arc::new(());
    let timer = |group| {
        let held = held.clone();
        let run = move |_| assert!(Arc::strong_count(&held) > 1);
        scheduler.calendar_timer(&hourly()).group(group).key(b"k").keep_existing().schedule(run)
    };
    let count = || Arc::strong_count(&held) - 1;

    let cancelled = timer(&group).unwrap();
    scheduler.advance(2 * HOUR).unwrap();
    assert_eq!((timer(&group).err(), count()), (Some(Error::KeyExists), 1));
    assert_eq!((cancelled.cancel_wait(), count()), (Ok(Outcome::Cancelled), 0));
    drop(timer(&group).unwrap());
    assert_eq!(count(), 0);
    timer(&group).unwrap().detach();
    assert_eq!((group.cancel_key(b"k"), count()), (Ok(Outcome::Cancelled), 0));
    timer(&group).unwrap().detach();
    assert_eq!((group.cancel(), count()), (Ok(1), 0));
    timer(&group).unwrap().detach();
    assert_eq!((scheduler.stop(), count()), (Ok(1), 0));
    assert_eq!((timer(&group).err(), count()), (Some(Error::Stopped), 0));
}

#[test]
fn timer_of_a_calendar_runs_by_the_wall_clock() {
    let scheduler = Scheduler::new().unwrap();
    let (to, from) = channel();
    let each_second: Calendar = "* * * * * *".parse().unwrap();
    let run = move |_| to.send(SystemTime::now()).unwrap_or(()); // the test may be over
    let _timer = scheduler.calendar_timer(&each_second).schedule(run).unwrap();
    assert!(from.recv().unwrap() >= start());
}

#[test]
fn calendar_timers_know_where_they_were_armed() {
    let scheduler = Scheduler::new().unwrap();
    let _timer = scheduler.calendar_timer(&hourly()).name("backup").schedule(|_| ()).unwrap();
    let text = scheduler.dump().unwrap();
    assert!(text.contains(&format!(" backup {}:{}\n", file!(), line!() - 2)), "{text}");
}
