//! `recover --into`: replays the logs of a dirty database of the real engine into a copy. The
//! database itself and its logs are only read.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use ese::header::DatabaseHeader;

use super::copied_header::{clean, good_header, still_dirty};
use super::recovery_report::{tell, what_is_behind};
use super::replay::{GenerationChain, ReplayExtras, Replayed};
use super::store::CopyStore;
use crate::recover::flags::RecoverFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::term::ProgressLine;
use host::dirty::Dirty;
use host::headers::read_header;
use host::locks;
use host::target::ByteSource;

/// Makes the copy at `copy`. If the log is incomplete and that is not allowed, fails and leaves no
/// copy.
pub(crate) fn run(
    flags: &RecoverFlags,
    copy: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    locks::refuse_held(path, &console::shown::on_console(console.is_quiet()))?;
    let copies = read_header(path)?;
    let header = copies.header;
    if !Dirty::is(&header) {
        return Err(CommandError::new(format!(
            "{}: {}: its log has nothing to bring forward; copy it as it is",
            path.display(),
            header.state
        )));
    }
    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = flags.logs.as_deref().or(flags.log_folder.as_deref());
    let folder = folder.or(beside).unwrap_or(Path::new("."));
    let chain = GenerationChain::find(folder, &header)?;
    refuse_incomplete(path, folder, &chain.losses, flags.lossy)?;
    if chain.is_empty() {
        return Err(CommandError::new(format!(
            "{}: {} has no log file that it requires, so there is nothing to replay, with --lossy \
             either; `export` reads the database as it is",
            path.display(),
            folder.display()
        )));
    }
    let length = copy_file(path, copy)?;
    let made = forward(flags, copy, length, &header, chain, console);
    let made = made.inspect_err(|_| remove(copy))?;
    if made.is_best_effort() && !flags.lossy {
        remove(copy);
        return Err(CommandError::Damage(format!(
            "{}: {}; --lossy goes as far as it can",
            path.display(),
            what_is_behind(&made)
        )));
    }
    tell(flags, copy, &made, console)?;
    Ok(if made.is_best_effort() { Outcome::Fail } else { Outcome::Pass })
}

fn refuse_incomplete(
    path: &Path,
    folder: &Path,
    losses: &[String],
    lossy: bool,
) -> Result<(), CommandError> {
    if lossy || losses.is_empty() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{}: its log in {} is not whole: {}; bring the missing files there, name their folder with \
         --logs, or go as far as possible with --lossy",
        path.display(),
        folder.display(),
        losses.join("; ")
    )))
}

/// Copies the database to a new file and returns its length.
fn copy_file(path: &Path, copy: &Path) -> Result<u64, CommandError> {
    let mut source = ByteSource::open(path).map_err(CommandError::of_file(path, "read"))?;
    let wrong = CommandError::of_file(copy, "create");
    let mut target = File::options().write(true).create_new(true).open(copy).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            let copy = copy.display();
            return CommandError::new(format!("{copy}: exists already; name another file"));
        }
        wrong(error)
    })?;
    let copied = io::copy(&mut source, &mut target).and_then(|bytes| {
        target.sync_all()?;
        Ok(bytes)
    });
    copied.map_err(CommandError::of_file(copy, "write")).inspect_err(|_| remove(copy))
}

/// Removes an incomplete copy, which is worthless.
fn remove(copy: &Path) {
    let _ = fs::remove_file(copy);
}

fn forward(
    flags: &RecoverFlags,
    copy: &Path,
    length: u64,
    header: &DatabaseHeader,
    chain: GenerationChain,
    console: &Console,
) -> Result<Replayed<CopyStore>, CommandError> {
    let wrong = CommandError::of_file(copy, "write");
    let size = header.page_size().ok_or_else(|| CommandError::new("its page size is unknown"))?;
    let file = File::options().read(true).write(true).open(copy).map_err(wrong)?;
    let store = CopyStore::new(file, size, length);
    let mut progress = ProgressLine::new("replaying the log", console.is_quiet());
    let wanted = ReplayExtras { undo: !flags.no_undo, deleted_rows: false };
    let mut made = chain.replay(store, header, wanted, &mut progress)?;
    progress.clear();
    if made.is_best_effort() {
        made.ahead = made.store.pages_beyond(made.summary.dbtime).map_err(wrong)?;
        let latest = made.ahead.iter().map(|(_, dbtime)| *dbtime).max();
        made.summary.dbtime = made.summary.dbtime.max(latest.unwrap_or_default());
    }
    let new = if flags.no_undo { still_dirty(header, &made) } else { clean(header, &made) };
    let mut page = good_header(copy, size.bytes()).map_err(wrong)?;
    new.encode_over(&mut page);
    made.store.write_header(&page).map_err(wrong)?;
    Ok(made)
}
