//! One host: its clock, its flash, its program, and what happens to them.

use std::collections::VecDeque;

use mirror::{FlashImage, FlashOp, MirrorHost, MirrorNode, MirrorSettings, NodeEvent};
use units::{Nanos, Prng};

/// A host's clock: an offset, and a rate within the stated bound.
#[derive(Clone, Copy, Debug)]
struct Clock {
    offset: Nanos,
    drift_ppm: i64,
}

impl Clock {
    fn local(self, now: Nanos) -> Nanos {
        let elapsed = i128::from(now.0) * (1_000_000 + i128::from(self.drift_ppm)) / 1_000_000;
        self.offset + Nanos(u64::try_from(elapsed).expect("a positive span"))
    }
}

/// See the module.
pub(crate) struct Machine {
    pub(crate) host: MirrorHost,
    settings: MirrorSettings,
    clock: Clock,
    pub(crate) node: Option<MirrorNode>,
    pub(crate) boot: u64,
    /// What a power failure leaves.
    durable: FlashImage,
    writing: VecDeque<FlashOp>,
    flash_fails: bool,
    pub(crate) paused_until: Nanos,
    /// The next step's effects happen only after this pause, and so does all that follows.
    pub(crate) pause_within_step: Option<Nanos>,
}

impl Machine {
    pub(crate) fn new(
        host: MirrorHost,
        settings: MirrorSettings,
        drift: i64,
        prng: &mut Prng,
    ) -> Self {
        let image = FlashImage::empty(settings.backed, settings.retained);
        let offset = Nanos::from_secs(prng.below(1_000));
        Self {
            host,
            settings,
            clock: Clock { offset, drift_ppm: drift },
            node: None,
            boot: 0,
            durable: image,
            writing: VecDeque::new(),
            flash_fails: false,
            paused_until: Nanos::ZERO,
            pause_within_step: None,
        }
    }

    pub(crate) fn start(&mut self) {
        self.boot += 1;
        self.flash_fails = false;
        self.paused_until = Nanos::ZERO;
        self.pause_within_step = None;
        let boot = 2 * self.boot + u64::from(self.host == MirrorHost::B);
        self.node = Some(MirrorNode::start(self.host, boot, self.settings, self.durable.clone()));
    }

    pub(crate) fn local(&self, now: Nanos) -> Nanos {
        self.clock.local(now)
    }

    pub(crate) fn handle(&mut self, now: Nanos, event: NodeEvent) -> Vec<mirror::NodeEffect> {
        let local = self.local(now);
        self.node.as_mut().map_or(Vec::new(), |node| node.handle(local, event))
    }

    pub(crate) fn is_serving(&self, now: Nanos) -> bool {
        let local = self.local(now);
        self.node.as_ref().is_some_and(|node| node.status(local).is_serving)
    }

    pub(crate) fn owns(&self, now: Nanos) -> bool {
        let local = self.local(now);
        self.node.as_ref().is_some_and(|node| node.status(local).owns.is_some())
    }

    /// An operation reaches the flash.
    pub(crate) fn write_flash(&mut self, op: FlashOp) {
        self.writing.push_back(op);
    }

    /// The oldest operation completes; none if it was lost with the power.
    pub(crate) fn complete_flash(&mut self) -> Option<NodeEvent> {
        let op = self.writing.pop_front()?;
        if self.flash_fails {
            self.writing.clear();
            return Some(NodeEvent::Flash(Err(())));
        }
        self.durable.apply(&op);
        Some(NodeEvent::Flash(Ok(())))
    }

    /// From now on writes to flash fail, until the program is started again.
    pub(crate) fn break_flash(&mut self) {
        self.flash_fails = true;
    }

    pub(crate) fn durable(&self) -> &FlashImage {
        &self.durable
    }

    pub(crate) fn flash_is_broken(&self) -> bool {
        self.flash_fails
    }

    /// Power fails: of the operations under way the first few survive, the next one in part.
    pub(crate) fn lose_power(&mut self, prng: &mut Prng) {
        self.node = None;
        let writing = std::mem::take(&mut self.writing);
        let survivors = if self.flash_fails { 0 } else { prng.below(writing.len() as u64 + 1) };
        for (at, op) in (0..).zip(writing) {
            if at < survivors {
                self.durable.apply(&op);
            } else if at == survivors && !self.flash_fails {
                self.durable.apply_torn(&op, usize::try_from(prng.below(3)).expect("below 3"));
            }
        }
    }
}
