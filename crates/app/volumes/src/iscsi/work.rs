//! Common input of the `iscsi` verbs that change something: the document, its created objects, and
//! the `tgtd` that offers them.

use std::path::Path;

use luns::tgt::{Revision, TgtStep, WantedLuns, steps};
use luns::{AccountMark, LunDesign, LunSeverity, Numbers, check};
use units::Bytes;

use super::Wish;
use super::store::Store;
use super::tgtd::Tgtd;
use crate::iscsi::flags::IscsiDocumentFlags;
use console::Console;
use console::error::CommandError;

/// The desired state, the created objects, and the daemon.
pub(super) struct IscsiWork {
    pub design: LunDesign,
    pub store: Store,
    pub tgtd: Tgtd,
}

impl IscsiWork {
    /// Reads the document and verifies the state.
    pub(super) fn begin(flags: &IscsiDocumentFlags) -> Result<Self, CommandError> {
        let wish = Wish::read(&flags.document)?;
        let socket = Tgtd::socket(wish.document.control_port);
        let store = Store::open(flags, &socket)?;
        if store.state.socket != socket {
            return Err(CommandError::new(format!(
                "{}: was made with the tgtd at {}, not with the one at {socket}; set \
                 `control_port` back, or destroy it first",
                store.state_path().display(),
                units::plain(&store.state.socket)
            )));
        }
        let known = store.state.luns.iter().map(|lun| (lun.name.clone(), lun.number));
        let design = wish.design(&Numbers(known.collect()))?;
        let work = Self { design, store, tgtd: Tgtd::at(&socket) };
        work.refuse_lost_luns(&flags.document)?;
        Ok(work)
    }

    /// A LUN that is only in the state would be forgotten, and its file with it.
    fn refuse_lost_luns(&self, document: &Path) -> Result<(), CommandError> {
        for record in &self.store.state.luns {
            match self.design.lun(&record.name) {
                Some(lun) if lun.file == record.file => {}
                Some(lun) => {
                    return Err(CommandError::new(format!(
                        "{}: {} is made at {} and cannot move to {}; name its folder as it was",
                        document.display(),
                        lun.name,
                        record.file,
                        lun.file
                    )));
                }
                None => {
                    return Err(CommandError::new(format!(
                        "{}: {} is made and is not in the document any more; put it back, or \
                         `iscsi destroy` everything, for no LUN is removed on the way",
                        document.display(),
                        record.name
                    )));
                }
            }
        }
        Ok(())
    }

    /// Refuses to create anything that is known to end badly.
    pub(super) fn refuse_violations(&self) -> Result<(), CommandError> {
        let findings = check(&self.design);
        let worst = findings.iter().find(|one| one.severity == LunSeverity::Violation);
        worst.map_or(Ok(()), |one| {
            Err(CommandError::new(format!(
                "{}: {}; {} (`iscsi plan` lists everything)",
                one.subject, one.text, one.remedy
            )))
        })
    }

    pub(super) fn refuse_other_sizes(&self) -> Result<(), CommandError> {
        for lun in &self.design.luns {
            let Some(record) = self.store.state.lun(&lun.name) else {
                continue;
            };
            if record.size_bytes != lun.size.0 {
                let way = if lun.size.0 > record.size_bytes {
                    "`plimsoll iscsi grow` makes it larger"
                } else {
                    "no LUN is made smaller; give its size as it was"
                };
                return Err(CommandError::new(format!(
                    "{} is {} and the document says {}; {way}",
                    lun.name,
                    Bytes(record.size_bytes),
                    lun.size
                )));
            }
        }
        Ok(())
    }

    pub(super) const fn wanted<'a>(
        &'a self,
        changed: &'a [String],
        forced: bool,
    ) -> WantedLuns<'a> {
        WantedLuns { design: &self.design, state: &self.store.state, changed, forced }
    }

    /// Brings `tgtd` to the desired state, and updates the recorded one.
    pub(super) fn carry_out(
        &mut self,
        forced: bool,
        revision: Revision<'_>,
        console: &mut Console,
    ) -> Result<Vec<TgtStep>, CommandError> {
        let marks = self.store.marks(&self.design);
        let live = self.tgtd.live()?;
        let changed: Vec<String> = marks
            .iter()
            .filter(|mark| !self.store.state.accounts.contains(mark))
            .map(|mark| mark.account.clone())
            .collect();
        let todo = steps(self.wanted(&changed, forced), &live, revision)?;
        self.claim(&todo)?;
        for step in &todo {
            console.remark(format_args!("tgtadm -C ... {step}"))?;
            let secret = match step {
                TgtStep::NewAccount { account } => self.store.secret(&self.design, account),
                _ => "",
            };
            self.tgtd.ask(&step.request(secret))?;
        }
        self.settle(marks)?;
        Ok(todo)
    }

    /// Records objects as ours before they are created, so that they can be found after a crash. An
    /// account's mark then matches no secret, so that it is recreated.
    fn claim(&mut self, todo: &[TgtStep]) -> Result<(), CommandError> {
        let state = &mut self.store.state;
        for step in todo {
            match step {
                TgtStep::NewTarget { iqn, .. } if !state.targets.contains(iqn) => {
                    state.targets.push(iqn.clone());
                }
                TgtStep::OpenPortal { portal } if !state.portals.contains(portal) => {
                    state.portals.push(portal.clone());
                }
                TgtStep::NewAccount { account } => {
                    state.accounts.retain(|known| known.account != *account);
                    let account = account.clone();
                    state.accounts.push(AccountMark { account, mark: String::new() });
                }
                _ => {}
            }
        }
        self.store.write_state()
    }

    /// Records in the state that everything exists.
    fn settle(&mut self, marks: Vec<AccountMark>) -> Result<(), CommandError> {
        let state = &mut self.store.state;
        state.accounts = marks;
        state.targets.retain(|iqn| self.design.targets.iter().any(|target| target.iqn == *iqn));
        self.store.write_state()
    }
}
