//! `iscsi apply`: files, secrets and targets as the document wants them; what is there stays.

use std::path::Path;

use luns::tgt::{Revision, Step, Wanted, steps};
use luns::{AccountMark, LunDesign, LunSeverity, Numbers, check};
use plan::luns::Allocation;
use serde_json::json;
use units::Bytes;

use super::store::Store;
use super::tgtd::Tgtd;
use super::{Wish, backing, scripts};
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::{IscsiApplyFlags, IscsiBackend, IscsiDocumentFlags};
use crate::target;

/// Makes what is missing, or prints how others would.
pub(super) fn run(flags: &IscsiApplyFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut work = Work::begin(&flags.what)?;
    work.refuse_violations()?;
    match flags.backend {
        IscsiBackend::Tgt => {}
        IscsiBackend::Print => return work.print(flags.force, console),
        other => return scripts::run(flags, other, work, console),
    }
    work.refuse_other_sizes()?;
    // What is not ours is refused before anything is made.
    let live = work.tgtd.live()?;
    steps(work.wanted(&[], flags.force), &live, Revision::Keep)?;
    let has_new_secrets = work.store.complete(&work.design)?;
    if has_new_secrets {
        work.store.write_secrets()?;
    }
    let files = work.make_files(console)?;
    let done = work.carry_out(flags.force, Revision::Keep, console)?;
    let is_changed = has_new_secrets || !files.is_empty() || !done.is_empty();
    work.tell(flags.what.json, is_changed, &files, &done, console)?;
    Ok(Outcome::Pass)
}

/// What is wanted, what was made, and where.
pub(super) struct Work {
    pub design: LunDesign,
    pub store: Store,
    pub tgtd: Tgtd,
}

impl Work {
    /// Reads the document and proves the state.
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

    /// A LUN that is in the state alone would be forgotten, and its file with it.
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

    /// Nothing is made that is known to end badly.
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

    fn refuse_other_sizes(&self) -> Result<(), CommandError> {
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

    pub(super) const fn wanted<'a>(&'a self, changed: &'a [String], forced: bool) -> Wanted<'a> {
        Wanted { design: &self.design, state: &self.store.state, changed, forced }
    }

    /// Makes the files that are missing; the state knows each before the next is made.
    fn make_files(&mut self, console: &mut Console) -> Result<Vec<String>, CommandError> {
        for record in &self.store.state.luns {
            backing::prove(record)?;
        }
        let mut made = Vec::new();
        for lun in &self.design.luns {
            if self.store.state.lun(&lun.name).is_some() {
                continue;
            }
            let folder = Path::new(&lun.file).parent().unwrap_or_else(|| Path::new("/"));
            if backing::make_folder(folder)? {
                self.store.state.folders.push(folder.display().to_string());
                self.store.write_state()?;
            }
            self.store.state.luns.push(backing::make(lun)?);
            self.store.write_state()?;
            made.push(lun.file.clone());
        }
        self.warn_of_promises(console)?;
        Ok(made)
    }

    /// Thin LUNs may promise more than there is.
    fn warn_of_promises(&self, console: &mut Console) -> Result<(), CommandError> {
        let thin = self.design.luns.iter().filter(|lun| lun.allocation == Allocation::Thin);
        let mut pools: Vec<(&Path, u64)> = Vec::new();
        for lun in thin {
            let folder = Path::new(&lun.file).parent().unwrap_or_else(|| Path::new("/"));
            match pools.iter_mut().find(|(known, _)| *known == folder) {
                Some((_, promised)) => *promised += lun.size.0,
                None => pools.push((folder, lun.size.0)),
            }
        }
        for (folder, promised) in pools {
            let room = target::facts(folder)?.total_bytes;
            if promised > room {
                console.remark(format_args!(
                    "{}: thin LUNs promise {} on a volume of {}; writes fail once it is full",
                    folder.display(),
                    Bytes(promised),
                    Bytes(room)
                ))?;
            }
        }
        Ok(())
    }

    /// Brings `tgtd` to what is wanted, and the state along.
    pub(super) fn carry_out(
        &mut self,
        forced: bool,
        revision: Revision<'_>,
        console: &mut Console,
    ) -> Result<Vec<Step>, CommandError> {
        let marks = self.store.marks(&self.design);
        let is_same = |mark: &&AccountMark| !self.store.state.accounts.contains(mark);
        let changed: Vec<String> =
            marks.iter().filter(is_same).map(|mark| mark.account.clone()).collect();
        let live = self.tgtd.live()?;
        let todo = steps(self.wanted(&changed, forced), &live, revision)?;
        self.claim(&todo)?;
        for step in &todo {
            console.remark(format_args!("tgtadm -C ... {step}"))?;
            let secret = match step {
                Step::NewAccount { account } => self.store.secret(&self.design, account),
                _ => "",
            };
            self.tgtd.ask(&step.request(secret))?;
        }
        self.settle(marks)?;
        Ok(todo)
    }

    /// Says in the state what is about to be ours, so that it can be found after a crash. A mark
    /// that fits no secret has the account made anew then.
    fn claim(&mut self, todo: &[Step]) -> Result<(), CommandError> {
        let state = &mut self.store.state;
        for step in todo {
            match step {
                Step::NewTarget { iqn, .. } if !state.targets.contains(iqn) => {
                    state.targets.push(iqn.clone());
                }
                Step::OpenPortal { portal } if !state.portals.contains(portal) => {
                    state.portals.push(portal.clone());
                }
                Step::NewAccount { account } => {
                    state.accounts.retain(|known| known.account != *account);
                    let account = account.clone();
                    state.accounts.push(AccountMark { account, mark: String::new() });
                }
                _ => {}
            }
        }
        self.store.write_state()
    }

    /// Says in the state that everything is there.
    fn settle(&mut self, marks: Vec<AccountMark>) -> Result<(), CommandError> {
        let state = &mut self.store.state;
        state.accounts = marks;
        state.targets.retain(|iqn| self.design.targets.iter().any(|target| target.iqn == *iqn));
        self.store.write_state()
    }

    /// What would be done, without any of it.
    fn print(mut self, forced: bool, console: &mut Console) -> Result<Outcome, CommandError> {
        let live = self.tgtd.live()?;
        self.store.complete(&self.design)?;
        for lun in &self.design.luns {
            if self.store.state.lun(&lun.name).is_none() {
                console.answer(format_args!("make {}, {}", lun.file, lun.size))?;
            }
        }
        let wanted = self.wanted(&[], forced);
        for step in steps(wanted, &live, Revision::Keep)? {
            console.answer(format_args!("tgtadm --lld iscsi {step}"))?;
        }
        Ok(Outcome::Pass)
    }

    fn tell(
        &self,
        as_json: bool,
        is_changed: bool,
        files: &[String],
        done: &[Step],
        console: &mut Console,
    ) -> Result<(), CommandError> {
        if as_json {
            let mut members = super::answer::design(&self.design);
            members["changed"] = json!(is_changed);
            members["files_made"] = json!(files);
            members["steps"] = done.iter().map(ToString::to_string).collect();
            return console.answer_json("iscsi_apply", members);
        }
        if !is_changed {
            return console.answer("Nothing to do: everything is there as the document wants it.");
        }
        for file in files {
            console.answer(format_args!("made {file}"))?;
        }
        for target in &self.design.targets {
            let names: Vec<&str> = target.luns.iter().map(|lun| lun.name.as_str()).collect();
            let names = names.join(", ");
            console.answer(format_args!("{} for {}: {names}", target.iqn, target.initiator))?;
        }
        console.answer(format_args!("secrets: {}", self.store.secrets_path().display()))?;
        console.remark("tgtd forgets targets when it ends: `iscsi apply` brings them back.")
    }
}
