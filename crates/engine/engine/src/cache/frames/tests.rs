//! Compares victim selection with a model that scans all pages each time.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Latency, MemoryVolume, VirtualReactor};
use ese::Lgpos;
use ese::flush_map::FlushMap;
use ese::page::PageSize;
use proptest::prelude::*;
use units::{Generation, Nanos, ObjectId, PageNumber};
use wal::edit::PageEdit;

use super::{Eviction, Frames, WriteReason};
use crate::flush_map_file::LiveMap;

#[derive(Clone, Copy, Debug)]
enum Step {
    Admit(u32),
    Look(u32),
    Pin(u32),
    Unpin(u32),
    Change(u32),
    /// Begins a write of a page, as the checkpoint does.
    Write(u32),
    Written(u32),
    /// Makes the log durable up to this distance before the last change.
    Flush(u16),
    Evict,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let page = 1..16_u32;
    let step = prop_oneof![
        4 => page.clone().prop_map(Step::Admit),
        2 => page.clone().prop_map(Step::Look),
        2 => page.clone().prop_map(Step::Pin),
        2 => page.clone().prop_map(Step::Unpin),
        4 => page.clone().prop_map(Step::Change),
        1 => page.clone().prop_map(Step::Write),
        3 => page.prop_map(Step::Written),
        2 => (0..4_u16).prop_map(Step::Flush),
        6 => Just(Step::Evict),
    ];
    prop::collection::vec(step, 0..200)
}

/// Reasons to keep a page.
#[derive(Clone, Copy, Debug, Default)]
struct TwinPage {
    pins: u32,
    /// The last change carried by a write in flight.
    written: Option<u16>,
    /// The last change not carried by any write.
    changed: Option<u16>,
}

/// Frames and the state of their pages, without a queue.
struct Scene {
    frames: Frames,
    map: LiveMap,
    twin: BTreeMap<u32, TwinPage>,
    clock: u64,
    end: u16,
    durable: u16,
}

const fn place(segment: u16) -> Lgpos {
    Lgpos { generation: Generation(1), segment, byte: 0 }
}

impl Scene {
    fn new() -> Self {
        let reactor = VirtualReactor::new();
        let volume = Rc::new(MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(1))));
        Self {
            frames: Frames::new(PageSize::KIB_4),
            map: LiveMap::new(volume, "file", PageSize::KIB_4, FlushMap::new()),
            twin: BTreeMap::new(),
            clock: 0,
            end: 0,
            durable: 0,
        }
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        self.clock += 1;
        self.frames.set_now(Nanos(self.clock * 100_000_000));
        match step {
            Step::Admit(page) => {
                let image = self.frames.build(&[PageEdit::Format { flags: 0, objid: ObjectId(2) }]);
                self.frames.admit(PageNumber(page), image);
                self.twin.entry(page).or_default();
            }
            Step::Look(page) => {
                let found = super::PageSource::lookup(&mut self.frames, PageNumber(page)).is_some();
                prop_assert_eq!(found, self.twin.contains_key(&page));
            }
            Step::Flush(behind) => self.durable = self.durable.max(self.end.saturating_sub(behind)),
            Step::Evict => return self.evict(),
            Step::Pin(page)
            | Step::Unpin(page)
            | Step::Change(page)
            | Step::Write(page)
            | Step::Written(page) => self.keep(step, page),
        }
        Ok(())
    }

    /// Changes the reasons to keep a page, if it is cached.
    fn keep(&mut self, step: Step, number: u32) {
        let Some(page) = self.twin.get_mut(&number) else {
            return;
        };
        match step {
            Step::Pin(_) => {
                assert!(self.frames.pin(PageNumber(number)));
                page.pins += 1;
            }
            Step::Unpin(_) if page.pins > 0 => {
                self.frames.unpin(PageNumber(number));
                page.pins -= 1;
            }
            Step::Change(_) => {
                let index = self.frames.by_page[&PageNumber(number)];
                self.frames.mark_dirty(index, place(self.end), place(self.end + 1));
                self.end += 1;
                page.changed = Some(self.end);
            }
            Step::Write(_) if page.changed.is_some() && page.written.is_none() => {
                self.write(number);
            }
            Step::Written(_) => {
                // The write has waited for the log, which is therefore durable up to the change.
                let Some(last) = page.written.take() else {
                    return;
                };
                self.durable = self.durable.max(last);
                self.frames.written(PageNumber(number), 1);
            }
            _ => {}
        }
    }

    fn write(&mut self, number: u32) {
        let due = WriteReason::Age(Lgpos::NONE);
        let run = self.frames.collect_run(PageNumber(number), due, (1, Lgpos::NONE), &self.map);
        let page = self.twin.get_mut(&number).unwrap();
        assert_eq!(run.map(|run| run.log_end), page.changed.map(place));
        page.written = page.changed.take();
    }

    fn evict(&mut self) -> Result<(), TestCaseError> {
        let free = |page: &TwinPage| page.pins == 0 && page.written.is_none();
        let unlogged = |page: &TwinPage| page.changed.is_some_and(|last| last > self.durable);
        let rank = |number: u32| {
            let index = self.frames.by_page[&PageNumber(number)];
            (self.frames.frame(index).uses.rank(), index)
        };
        let candidates = self.twin.iter().filter(|(_, page)| free(page) && !unlogged(page));
        let least = candidates.map(|(number, _)| *number).min_by_key(|number| rank(*number));
        let waits = self.twin.values().any(|page| free(page) && unlogged(page));
        match (self.frames.evict(4, place(self.durable)), least) {
            (Eviction::Done, Some(number)) => {
                prop_assert!(!self.frames.contains(PageNumber(number)));
                prop_assert!(self.twin[&number].changed.is_none());
                self.twin.remove(&number);
            }
            (Eviction::Write(page), Some(number)) => {
                prop_assert_eq!(page.0, number);
                self.write(number);
            }
            (Eviction::Log(last), None) => {
                prop_assert!(last > place(self.durable), "the log is durable up to {last:?}");
            }
            (Eviction::Stuck, None) => prop_assert!(!waits, "a write of the log would help"),
            (what, least) => prop_assert!(false, "{what:?} while {least:?} can go"),
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn the_page_that_is_worth_least_of_those_that_may_go_goes(steps in steps()) {
        let mut scene = Scene::new();
        for step in steps {
            scene.take(step)?;
        }
    }
}
