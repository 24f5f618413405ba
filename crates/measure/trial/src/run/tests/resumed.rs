//! Resuming a run after a crash on storage that lost confirmed data.

use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Durability, OpenMode, Purpose, Request, Volume};
use ese::log_file::LOG_FILE_BYTES;
use record::{Event, IssueKind};

use super::{PLAN, group_of, issues, killed, prepared};
use crate::coordinator::Coordinator;
use crate::run::{Group, ResumedRun, RunSummary, run};
use crate::testing::{World, collector};

/// Length that remains of the first database's current log file.
const KEPT_BYTES: u64 = 64 << 10;

/// Overwrites the stored end of the log with zeros.
fn lose_the_end_of_the_log(world: &World) {
    let volume = world.volumes[0].clone();
    world.executor.block_on(async move {
        let device = volume.open("E00.plg", OpenMode::ReadWrite).await.unwrap();
        let lost = usize::try_from(LOG_FILE_BYTES - KEPT_BYTES).unwrap();
        let zeros = Buffer::copy_of(&vec![0; lost]);
        let request = Request::write(Purpose::Log, KEPT_BYTES, zeros, Durability::Durable);
        device.submit(request).await.into_buffer().unwrap();
    });
}

/// Continues the run as described by `resumed`.
fn go_on(world: &World, resumed: Option<ResumedRun>) -> (RunSummary, Vec<Event>) {
    let (events, kept) = collector();
    let coordinator = Arc::new(Coordinator::new(1));
    let group = Group { resumed, ..group_of(world, &coordinator, events) };
    let summary = world.executor.block_on(run(group));
    let events = Rc::clone(&kept).borrow().clone();
    (summary, events)
}

#[test]
fn pages_that_need_the_log_that_was_lost_are_the_fault_of_the_storage() {
    let world = prepared(PLAN);
    killed(&world);
    lose_the_end_of_the_log(&world);
    let (summary, events) = go_on(&world, Some(ResumedRun::default()));
    let issues = issues(&events);
    let (kind, text) = &issues[0];
    assert_eq!(*kind, IssueKind::LostFlush, "{text}");
    assert!(text.contains("its end is lost"), "{text}");
    assert!(text.ends_with("the storage has lost writes that it had confirmed"), "{text}");
    assert!(summary.failure.is_some_and(|failure| !failure.at_open));
}

/// A new run cannot distinguish lost data from moved files.
#[test]
fn a_new_run_does_not_say_whose_fault_the_lost_log_is() {
    let world = prepared(PLAN);
    killed(&world);
    lose_the_end_of_the_log(&world);
    let (summary, events) = go_on(&world, None);
    let issues = issues(&events);
    assert_eq!(issues[0].0, IssueKind::Other, "{issues:?}");
    assert!(summary.failure.is_some_and(|failure| failure.at_open));
}
