//! Events from other threads for the executor's thread, which runs the state machine.

use std::sync::mpsc::Sender;

use mirror::{NodeEvent, RegistryAnswer};

use crate::cache::serve::mailbox::Slot;

/// An event.
pub(super) enum MirrorEvent {
    /// An event for the state machine.
    Node(NodeEvent),
    /// `count` operations on flash are durable; the file has `bytes` bytes.
    FlashDone { count: usize, bytes: u64 },
    /// A compaction has ended; the file has `bytes` bytes.
    Compacted { bytes: u64 },
    /// The flash has failed.
    FlashFailed(String),
    /// Something that an operator may want to know.
    Remark(String),
    /// An operator's order from elsewhere, and the channel for its answer.
    Order(Vec<u8>, Sender<String>),
}

/// Handle for posting events.
#[derive(Clone)]
pub(super) struct EventSlot(pub(super) Slot<MirrorEvent>);

impl EventSlot {
    pub(super) fn node(&self, event: NodeEvent) {
        self.0.post(MirrorEvent::Node(event));
    }

    pub(super) fn registry(&self, id: u64, answer: RegistryAnswer) {
        self.node(NodeEvent::Registry(id, answer));
    }

    pub(super) fn flash_done(&self, count: usize, bytes: u64) {
        self.0.post(MirrorEvent::FlashDone { count, bytes });
    }

    pub(super) fn compacted(&self, bytes: u64) {
        self.0.post(MirrorEvent::Compacted { bytes });
    }

    pub(super) fn flash_failed(&self, why: String) {
        self.0.post(MirrorEvent::FlashFailed(why));
    }

    pub(super) fn remark(&self, text: String) {
        self.0.post(MirrorEvent::Remark(text));
    }
}
