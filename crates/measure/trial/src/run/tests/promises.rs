//! A disk fails during a run: everything acknowledged before exists after recovery.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use device::Purpose;
use ese::page::PageSize;
use ese::reader::{FileImage, Reader};
use faults::{Call, Effect, Fault, Matching, Occurrence};

use super::{PLAN, group_of, prepared, suffer};
use crate::commits::{Messages, Promises};
use crate::coordinator::Coordinator;
use crate::messages::{Decoder, TABLE};
use crate::run::{Group, RunSummary, run};
use crate::testing::World;

fn messages(world: &World) -> Messages {
    let bytes = world.volumes[1].image().files["Plimsoll002.edb"].to_vec();
    let page_size = PageSize::KIB_32;
    let mut reader = Reader::open(FileImage::new(&bytes, page_size)).unwrap();
    let table = reader.table(TABLE).unwrap().clone();
    let (decoder, mut messages) = (Decoder::new(page_size), Messages::new());
    let mut cursor = reader.rows(&table).unwrap();
    while let Some(entry) = cursor.next(reader.source()).unwrap() {
        let message = decoder.decode(entry.data).unwrap().message;
        messages.insert(message.message_id, message.version);
    }
    messages
}

/// A run that records the promises of the second database.
fn run_told(world: &World) -> (RunSummary, Promises) {
    let promises = Rc::new(RefCell::new(Promises::default()));
    let twin = Rc::clone(&promises);
    let coordinator = Arc::new(Coordinator::new(1));
    let group = Group {
        commits: Some(Rc::new(move |step| {
            if step.database == 1 {
                twin.borrow_mut().observe(step);
            }
        })),
        ..group_of(world, &coordinator, Rc::new(|_| ()))
    };
    let summary = world.executor.block_on(run(group));
    let promises = promises.borrow().clone();
    (summary, promises)
}

/// The requests that a fault counts.
fn requests(call: Call, purpose: Option<Purpose>) -> Matching {
    Matching { call: Some(call), purpose, file: None }
}

/// Runs until `fault` ends the run, recovers with sound storage, and checks the database against
/// its promises.
fn fails_and_keeps_its_promises(fault: &Fault) {
    let recovered = fails_and_is_recovered(fault);
    recovered.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
}

/// The same, except that recovery may refuse the database.
fn fails_and_is_recovered(fault: &Fault) -> Result<(), engine::OpenError> {
    let mut world = prepared(PLAN);
    let sound = world.locations.clone();
    let before = messages(&world);
    suffer(&mut world, 1, fault.clone());
    let (summary, promises) = run_told(&world);
    let failure = summary.failure;
    let failure = failure.unwrap_or_else(|| panic!("{fault:?} does not end the run"));
    assert!(!failure.at_open, "{fault:?}: {failure:?}");
    assert!(failure.text.contains("Plimsoll002.edb"), "{failure:?}");
    world.locations = sound;
    let files = engine::DatabaseFiles {
        database: Rc::clone(&world.locations[1].database),
        file: "Plimsoll002.edb".to_owned(),
        log: Rc::clone(&world.locations[1].log),
        log_base: world.locations[1].plan.log_base.clone(),
    };
    let settings = crate::settings::engine_settings(&world.plan);
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let seed = units::Seed(1);
        let opened = engine::Database::recover(&runtime, files, settings, seed, &|_| ()).await;
        opened?.0.shut_down().await.unwrap();
        Ok::<(), engine::OpenError>(())
    })?;
    let breaches = promises.breaches(&before, &messages(&world));
    assert!(breaches.is_empty(), "{fault:?}: {breaches:?}");
    assert!(promises.durable() > 0, "{fault:?}");
    Ok(())
}

/// Btrfs may have written part of a page, or of a run of adjacent pages, before it runs out of
/// space. The log has changes to such a page but no full image of it, so recovery cannot repair it;
/// it must report the page and never accept it as intact.
#[test]
fn a_page_that_is_half_written_on_a_full_volume_is_named_by_recovery() {
    let mut refused = 0;
    for from in [1, 2, 5, 20] {
        let recovered = fails_and_is_recovered(&Fault {
            matching: requests(Call::Write, Some(Purpose::Database)),
            occurrence: Occurrence::From(from),
            effect: Effect::FullMidway,
        });
        if let Err(error) = recovered {
            let text = error.to_string();
            assert!(text.contains("Plimsoll002.edb") && text.contains("page"), "{text}");
            refused += 1;
        }
    }
    assert!(refused > 0, "no page was half written");
}

#[test]
fn what_was_acknowledged_before_a_fault_is_there_after_recovery() {
    let failures = [false, true].map(|done| Effect::Fail { done });
    let any = || requests(Call::Write, None);
    let page = || requests(Call::Write, Some(Purpose::Database));
    let record = || requests(Call::Write, Some(Purpose::Log));
    let flush = || requests(Call::Flush, None);
    // A log file is being created when the volume is full.
    let format = || requests(Call::Write, Some(Purpose::LogFormat));
    let create = || requests(Call::Create, None);
    let mut faults = vec![
        (any(), 150, Effect::Full),
        (page(), 1, Effect::Full),
        (record(), 20, Effect::Full),
        (format(), 6, Effect::Full),
        (create(), 4, Effect::Full),
    ];
    faults.push((record(), 20, Effect::FullMidway));
    for effect in failures {
        let moments = [(any(), 150), (page(), 20), (record(), 40), (flush(), 3)];
        faults.extend(moments.map(|(matching, from)| (matching, from, effect)));
    }
    for (matching, from, effect) in faults {
        fails_and_keeps_its_promises(&Fault {
            matching,
            occurrence: Occurrence::From(from),
            effect,
        });
    }
}
