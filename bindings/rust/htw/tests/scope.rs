// SPDX-License-Identifier: MIT
use htw::{Clock, Scheduler, SchedulerOptions, ScopeEnd};
use std::sync::mpsc::channel;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn manual() -> Scheduler {
    SchedulerOptions::new().clock(Clock::Manual).workers(0).create().unwrap()
}

#[test]
fn scopes_end_with_their_parent_for_its_cause() {
    let scheduler = manual();
    let (sender, seen) = channel();
    let rpc = scheduler.scope(20 * MS, |_| ()).unwrap();
    let query = rpc.child(Duration::MAX, move |end| sender.send(end).unwrap()).unwrap();
    assert_eq!((query.left(), scheduler.pending()), (20 * MS, 1));
    assert_eq!(rpc.shorten(10 * MS), Ok(ScopeEnd::Open));
    assert_eq!(query.left(), 10 * MS);
    scheduler.advance(10 * MS).unwrap();
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [ScopeEnd::Parent]);
    assert_eq!((rpc.why(), query.cause()), (ScopeEnd::Deadline, ScopeEnd::Deadline));
    assert_eq!((rpc.cancel(), query.left()), (ScopeEnd::Deadline, Duration::ZERO));
    assert_eq!(rpc.child(MS, |_| ()).unwrap().why(), ScopeEnd::Parent);
    assert_eq!(scheduler.scope(Duration::MAX, |_| ()).unwrap().left(), Duration::MAX);
}

#[test]
fn dropped_scope_ends_what_is_in_it_and_calls_nothing() {
    let scheduler = manual();
    let rpc = scheduler.scope(MS, |_| panic!("it was dropped")).unwrap();
    let query = rpc.child(Duration::MAX, |_| ()).unwrap();
    drop(rpc);
    assert_eq!((query.why(), query.cause()), (ScopeEnd::Parent, ScopeEnd::Cancelled));
    assert_eq!(scheduler.pending(), 0);
    drop(scheduler);
    assert_eq!(query.child(MS, |_| ()).unwrap().why(), ScopeEnd::Parent);
}
