//! `iscsi apply`: creates the files, secrets and targets of the document; existing ones are kept.

use std::path::Path;

use host::target;
use luns::tgt::{Revision, TgtStep, steps};
use plan::luns::Allocation;
use serde_json::json;
use units::Bytes;

use super::work::IscsiWork;
use super::{backing, scripts};
use crate::iscsi::flags::{IscsiApplyFlags, IscsiBackend};
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Creates the missing objects, or prints the commands for other targets.
pub(super) fn run(flags: &IscsiApplyFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut work = IscsiWork::begin(&flags.what)?;
    work.refuse_violations()?;
    match flags.backend {
        IscsiBackend::Tgt => {}
        IscsiBackend::Print => return work.print(flags.force, console),
        other => return scripts::run(flags, other, work, console),
    }
    work.refuse_other_sizes()?;
    // Refuses foreign objects before anything is created.
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

impl IscsiWork {
    /// Creates missing files; the state records each before the next is created.
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

    /// Warns if thin LUNs promise more space than exists.
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

    /// Prints the steps without taking any.
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
        done: &[TgtStep],
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
