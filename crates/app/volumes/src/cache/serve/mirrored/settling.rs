//! Decides when folded blocks move to their homes and the log is rewritten, and reads contents from
//! their homes for effects.

use std::rc::Rc;

use device::DeviceError;
use mirror::{BlockContent, GuestOutcome, HomeBlock, NodeEffect, RequestId, SettledBlock};
use units::Nanos;

use super::driver::MirrorDriver;
use super::flash;
use super::home::{self, HomeRead};

/// Interval between checks of flash operations in progress.
const LOOK: Nanos = Nanos::from_millis(1);

/// How a fetch ended.
enum Fetched {
    All,
    /// A home has been overwritten since it was looked up.
    Changed,
    Failed(String),
}

impl MirrorDriver {
    /// Rewrites the log once it is long enough, with all folded blocks in their homes.
    pub(super) fn compact(self: &Rc<Self>) {
        let remaining = self.node.borrow().image().record_bytes(self.document.block.0);
        if flash::is_worth_compacting(self.flash_bytes.get(), remaining)
            && self.homes.begin_settling()
        {
            drop(self.runtime.spawn(Rc::clone(self).settle()));
        }
    }

    async fn settle(self: Rc<Self>) {
        if let Err(error) = self.bring_home().await {
            self.flash_failed(&format!("{error}; this host's copy is off"));
            return;
        }
        // The image is copied and the task queued in one step, so that every later operation
        // follows it in the queue.
        self.flash.compact(self.node.borrow().image().clone());
    }

    async fn bring_home(self: &Rc<Self>) -> Result<(), DeviceError> {
        let (blocks, gone): (Vec<_>, _) = {
            let node = self.node.borrow();
            (node.image().unsettled().collect(), self.homes.take_vacant(node.image()))
        };
        // The old log is valid until it is replaced, so it must durably contain every block before
        // the block's home is overwritten.
        let asked = self.homes.asked();
        while self.homes.is_behind(asked) && !self.status().flash_failed {
            self.runtime.sleep(LOOK).await;
        }
        if self.status().flash_failed {
            return Ok(()); // Nothing will be written any more.
        }
        self.homes.file.bring(&blocks).await?;
        self.note_written(blocks.len() as u64 * self.document.block.0);
        self.homes.file.forget(&gone).await?;
        let settled: Vec<SettledBlock> = blocks.into_iter().map(|(block, _)| block).collect();
        self.node.borrow_mut().settle(&settled);
        Ok(())
    }

    /// Carries out `effect` with the contents read from their homes.
    pub(super) async fn fetch(self: Rc<Self>, mut effect: NodeEffect) {
        match self.fetched(&mut effect).await {
            Fetched::All => self.carry_out(effect),
            Fetched::Changed => self.give_up(&effect),
            Fetched::Failed(why) => {
                self.give_up(&effect);
                self.flash_failed(&why);
            }
        }
    }

    /// Gives up on `effect`: a read is answered as unknown, which clients retry, and the protocol
    /// repeats the messages that it needs.
    fn give_up(self: &Rc<Self>, effect: &NodeEffect) {
        if let NodeEffect::Reply(id, _) = effect {
            let id: RequestId = *id;
            self.carry_out(NodeEffect::Reply(id, GuestOutcome::Unknown));
        }
    }

    async fn fetched(&self, effect: &mut NodeEffect) -> Fetched {
        for (content, read) in self.begin_reads(effect) {
            match (read.end().await, &*content) {
                (Ok(Some(data)), _) => *content = data.into(),
                (Ok(None), BlockContent::Home(home)) if self.still_needs(*home) => {
                    return Fetched::Failed(self.damage(*home));
                }
                (Ok(None), _) => return Fetched::Changed,
                (Err(error), _) => {
                    return Fetched::Failed(format!("{error}; this host's copy is off"));
                }
            }
        }
        Fetched::All
    }

    /// Begins to read every content of `effect` that is at home.
    fn begin_reads<'a>(&self, effect: &'a mut NodeEffect) -> Vec<(&'a mut BlockContent, HomeRead)> {
        effect
            .contents()
            .into_iter()
            .filter_map(|content| match *content {
                BlockContent::Home(home) => Some((content, self.homes.file.read(home))),
                BlockContent::Here(_) => None,
            })
            .collect()
    }

    /// `true` if the copy still expects the content of its block in `home`.
    fn still_needs(&self, home: HomeBlock) -> bool {
        let slot = self.node.borrow().image().read(home.block, u64::MAX);
        slot.is_some_and(|slot| slot.data == BlockContent::Home(home))
    }

    fn damage(&self, home: HomeBlock) -> String {
        let file = home::path_of(self.document.flash.as_ref());
        format!(
            "{}: block {} does not hold what was written, so this host's copy is off; once the \
             other host serves alone, remove {} and this file and start again",
            file.display(),
            home.block,
            self.document.flash
        )
    }
}
