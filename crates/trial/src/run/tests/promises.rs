//! A disk fails amid a run: what was acknowledged before is there after recovery.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ese::page::PageSize;
use ese::reader::{FileImage, Reader};
use faults::{Call, Effect, Fault, Matching, Occurrence};

use super::{PLAN, prepared, suffer};
use crate::commits::{Messages, Promises};
use crate::coordinator::Coordinator;
use crate::messages::{Decoder, TABLE};
use crate::run::{Group, Summary, run};
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

/// A run that keeps what the second database promises.
fn run_told(world: &World) -> (Summary, Promises) {
    let promises = Rc::new(RefCell::new(Promises::default()));
    let twin = Rc::clone(&promises);
    let runtime = world.executor.runtime();
    let group = Group {
        runtime: runtime.clone(),
        plan: world.plan.clone(),
        locations: world.locations.clone(),
        events: Rc::new(|_| ()),
        checked: Rc::new(|_| ()),
        commits: Some(Rc::new(move |step| {
            if step.database == 1 {
                twin.borrow_mut().observe(step);
            }
        })),
        coordinator: Arc::new(Coordinator::new(1)),
        origin: runtime.now(),
        is_leader: true,
        host: None,
    };
    let summary = world.executor.block_on(run(group));
    let promises = promises.borrow().clone();
    (summary, promises)
}

#[test]
fn what_was_acknowledged_before_a_fault_is_there_after_recovery() {
    let effects = [
        Effect::Fail { done: false },
        Effect::Fail { done: true },
        Effect::Full,
    ];
    for effect in effects {
        let mut world = prepared(PLAN);
        let sound = world.locations.clone();
        let before = messages(&world);
        let fault = Fault {
            matching: Matching {
                call: Some(Call::Write),
                ..Matching::default()
            },
            occurrence: Occurrence::From(150),
            effect,
        };
        suffer(&mut world, 1, fault);
        let (summary, promises) = run_told(&world);
        let failure = summary.failure.expect("the fault ends the run");
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
            opened.unwrap().0.shut_down().await.unwrap();
        });
        let breaches = promises.breaches(&before, &messages(&world));
        assert!(breaches.is_empty(), "{effect:?}: {breaches:?}");
        assert!(promises.durable() > 0, "{effect:?}");
    }
}
