//! One host: its clock, its flash, its program, and what happens to them.

use std::collections::{BTreeMap, VecDeque};

use mirror::{
    BlockContent, BlockData, FlashImage, FlashOp, MirrorHost, MirrorNode, MirrorSettings,
    NodeEvent, SettledBlock,
};
use units::{Nanos, Prng, Seed};

use super::checker::version_of;

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

/// Work for the flash, done in order.
enum Writing {
    Op(FlashOp),
    Homes(HomeWork),
}

/// Folded blocks on their way to their homes, and trimmed blocks, whose homes are freed.
struct HomeWork {
    blocks: Vec<(SettledBlock, BlockData)>,
    trimmed: Vec<u64>,
}

/// See the module.
pub(crate) struct Machine {
    pub(crate) host: MirrorHost,
    settings: MirrorSettings,
    clock: Clock,
    pub(crate) node: Option<MirrorNode>,
    pub(crate) boot: u64,
    /// State that survives a power failure.
    durable: FlashImage,
    homes: BTreeMap<u64, BlockData>,
    /// Draws when blocks settle, independently of all other draws.
    settling: Prng,
    writing: VecDeque<Writing>,
    flash_fails: bool,
    pub(crate) paused_until: Nanos,
    /// Delays the effects of the next step by this pause, and everything after them.
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
            homes: BTreeMap::new(),
            settling: Prng::new(Seed(offset.0).derive(u64::from(host == MirrorHost::B))),
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
        self.writing.push_back(Writing::Op(op));
    }

    /// The oldest operation completes; `None` if it was lost with the power.
    pub(crate) fn complete_flash(&mut self) -> Option<NodeEvent> {
        let Some(Writing::Op(op)) = self.writing.pop_front() else { return None };
        if self.flash_fails {
            self.writing.clear();
            return Some(NodeEvent::Flash(Err(())));
        }
        self.durable.apply(&op);
        self.settle_due();
        Some(NodeEvent::Flash(Ok(())))
    }

    /// In `percent` of calls, begins to write the folded blocks to their homes.
    pub(crate) fn maybe_settle(&mut self, percent: u32) {
        if self.settling.percent(percent)
            && !self.flash_fails
            && let Some(node) = &self.node
        {
            let (image, trimmed) = (node.image(), node.image().trimmed().collect());
            let work = HomeWork { blocks: image.unsettled().collect(), trimmed };
            self.writing.push_back(Writing::Homes(work));
            self.settle_due();
        }
    }

    /// Blocks reach their homes once everything before them is durable.
    fn settle_due(&mut self) {
        while let Some(Writing::Homes(_)) = self.writing.front()
            && let Some(Writing::Homes(work)) = self.writing.pop_front()
        {
            let count = work.blocks.len();
            self.bring_home(work, count);
        }
    }

    /// The first `count` blocks reach their homes. The image records this only once all have.
    fn bring_home(&mut self, HomeWork { blocks, trimmed }: HomeWork, count: usize) {
        for block in trimmed {
            self.homes.remove(&block);
        }
        let settled: Vec<SettledBlock> = blocks.iter().map(|(block, _)| *block).collect();
        let is_complete = count >= settled.len();
        for (block, data) in blocks.into_iter().take(count) {
            self.homes.insert(block.home.block, data);
        }
        if is_complete {
            self.durable.settle(&settled);
            if let Some(node) = &mut self.node {
                node.settle(&settled);
            }
        }
    }

    /// The bytes of `content`; `None` if its home holds others.
    pub(crate) fn fetch(&self, content: &BlockContent) -> Option<BlockData> {
        match content {
            BlockContent::Here(data) => Some(data.clone()),
            BlockContent::Home(home) => {
                self.homes.get(&home.block).filter(|data| home.is(data)).cloned()
            }
        }
    }

    /// `true` if the program still expects `content` at its home.
    pub(crate) fn still_needs(&self, content: &BlockContent) -> bool {
        let (Some(node), BlockContent::Home(home)) = (&self.node, content) else { return false };
        node.image().read(home.block, u64::MAX).is_some_and(|slot| slot.data == *content)
    }

    /// `true` if its flash has write `version` of `block` or a later one.
    pub(crate) fn holds(&self, block: u64, version: u64) -> bool {
        let slot = self.durable.read(block, u64::MAX);
        let data = slot.and_then(|slot| self.fetch(&slot.data));
        // A trim has no number.
        let is_newer =
            |data: &BlockData| version_of(block, Some(data)).is_ok_and(|has| has >= version);
        data.is_some_and(|data| data.is_empty() || is_newer(&data))
    }

    /// From now on writes to flash fail, until the program is started again.
    pub(crate) fn break_flash(&mut self) {
        self.flash_fails = true;
    }

    pub(crate) fn flash_is_broken(&self) -> bool {
        self.flash_fails
    }

    /// Power fails: the first few operations in flight survive, and the next one in part.
    pub(crate) fn lose_power(&mut self, prng: &mut Prng) {
        self.maybe_settle(50);
        self.node = None;
        let writing = std::mem::take(&mut self.writing);
        let ops = writing.iter().filter(|one| matches!(one, Writing::Op(_))).count() as u64;
        let survivors = if self.flash_fails { 0 } else { prng.below(ops + 1) };
        let mut at = 0;
        for one in writing {
            match one {
                Writing::Op(op) if at < survivors => self.durable.apply(&op),
                Writing::Op(op) if at == survivors && !self.flash_fails => {
                    self.durable.apply_torn(&op, usize::try_from(prng.below(3)).expect("below 3"));
                }
                Writing::Homes(work) if at <= survivors && !self.flash_fails => {
                    let count = self.settling.below(work.blocks.len() as u64 + 1);
                    self.bring_home(work, usize::try_from(count).expect("a few"));
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
}
