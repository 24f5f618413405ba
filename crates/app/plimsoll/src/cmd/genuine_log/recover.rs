//! `recover --into`: a copy of a dirty database of the real engine, brought forward by its logs.
//! The database itself and its logs are only read.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use device::Clock as _;
use device_os::OsClock;
use ese::header::{DatabaseHeader, DatabaseState};
use ese::{LogTime, Signature};
use serde_json::json;
use units::Generation;

use super::replay::{GenerationChain, Replayed, place};
use super::store::CopyStore;
use crate::Outcome;
use crate::cmd::recover::flags::RecoverFlags;
use crate::console::Console;
use crate::error::CommandError;
use crate::term::Progress;
use host::dirty::Dirty;
use host::locks;
use host::pages::read_header;
use host::target::ByteSource;

/// Spaces before what does not fit into the first line.
const INDENT: usize = 4;
/// Pages that stay behind and are named one by one.
const MOST_NAMED: usize = 100;

/// Makes the copy at `copy`. Fails without one if the log is not whole, unless that is allowed.
pub(crate) fn run(
    flags: &RecoverFlags,
    copy: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    locks::refuse_held(path, &crate::shown::on_console(console.is_quiet()))?;
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
    let length = copy_file(path, copy)?;
    let made = forward(flags, copy, length, &header, chain, console);
    let made = made.inspect_err(|_| remove(copy))?;
    let is_behind = !made.summary.behind.is_empty() || !made.losses.is_empty();
    if is_behind && !flags.lossy {
        remove(copy);
        return Err(CommandError::Damage(format!(
            "{}: {}; --lossy goes as far as it can",
            path.display(),
            what_is_behind(&made)
        )));
    }
    tell(flags, copy, &made, console)?;
    Ok(if is_behind { Outcome::Fail } else { Outcome::Pass })
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

/// Copies the database to a file that is not there yet. Gives out its length.
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

/// A copy that did not become one is worth nothing.
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
    let mut progress = Progress::new("replaying the log", console.is_quiet());
    let mut made = chain.replay(store, header, !flags.no_undo, &mut progress)?;
    progress.clear();
    let new = if flags.no_undo { still_dirty(header, &made) } else { clean(header, &made) };
    let mut page = good_header(copy, size.bytes()).map_err(wrong)?;
    new.encode_over(&mut page);
    made.store.write_header(&page).map_err(wrong)?;
    Ok(made)
}

/// The bytes of the header copy that counts, so that fields without a name here are kept.
fn good_header(copy: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let (mut file, mut page) = (File::open(copy)?, vec![0; bytes]);
    for start in [0, bytes as u64] {
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut page)?;
        let found = DatabaseHeader::decode(&page);
        let mut sealed = page.clone();
        found.encode_over(&mut sealed);
        if sealed == page {
            break;
        }
    }
    Ok(page)
}

/// The header with all that redo has found. It requires a generation that does not exist: the pages
/// of the copy no longer hold what undo would need, so no later recovery may try.
fn still_dirty(header: &DatabaseHeader, made: &Replayed<CopyStore>) -> DatabaseHeader {
    let summary = &made.summary;
    let beyond = Generation(made.generations.1.saturating_add(1));
    let mut new = header.clone();
    new.generation_min_required = beyond;
    new.generation_max_required = beyond;
    new.generation_max_committed = beyond;
    new.dbtime = summary.dbtime;
    new.last_object = summary.last_object;
    new.header_flush_signature = Signature::default();
    new.flush_map_signature = Signature::default();
    if let Some([version, update, minor]) = summary.format {
        (new.format_version, new.format_update, new.format_update_minor) = (version, update, minor);
    }
    new
}

/// The header of a database that needs no log. Its flush map is not named: the one beside the
/// source does not know the writes of the copy, and an engine makes another.
fn clean(header: &DatabaseHeader, made: &Replayed<CopyStore>) -> DatabaseHeader {
    let clock = OsClock::new();
    let now = LogTime::from_unix_millis((clock.epoch() + clock.now()).0 / 1_000_000);
    let end = made.summary.end;
    DatabaseHeader {
        state: DatabaseState::CleanShutdown,
        consistent_at: end,
        consistent_time: now,
        detached_at: end,
        detached_time: now,
        generation_min_required: Generation(0),
        generation_max_required: Generation(0),
        generation_max_committed: Generation(0),
        generation_recovering: Generation(0),
        generation_min_consistent: Generation(0),
        generation_max_time: LogTime::NEVER,
        ..still_dirty(header, made)
    }
}

fn what_is_behind(made: &Replayed<CopyStore>) -> String {
    let pages = made.summary.behind.len();
    let first = made.summary.behind.iter().next();
    let named = first.map(|(page, behind)| {
        format!("{pages} pages would stay behind, the first is {page}: {}", behind.cause)
    });
    let losses = made.losses.iter().cloned();
    named.into_iter().chain(losses).collect::<Vec<_>>().join("; ")
}

fn tell(
    flags: &RecoverFlags,
    copy: &Path,
    made: &Replayed<CopyStore>,
    console: &mut Console,
) -> Result<(), CommandError> {
    if flags.json {
        return console.answer_json("log_recovery", as_json(flags, copy, made));
    }
    let (first, last) = made.generations;
    let summary = &made.summary;
    let undone = if flags.no_undo {
        format!("{} open transactions left as they are", summary.open_transactions)
    } else {
        format!(
            "{} transactions undone ({} changes)",
            summary.transactions_undone, summary.changes_undone
        )
    };
    console.answer_folded(
        format_args!(
            "{}: made of {} and log generations {first:#x} to {last:#x}: {} records, {} page \
             changes made, {} already present, {undone}",
            copy.display(),
            flags.file.display(),
            summary.records,
            summary.changes_made,
            summary.changes_present,
        ),
        INDENT,
    )?;
    tell_losses(made, console)
}

fn tell_losses(made: &Replayed<CopyStore>, console: &mut Console) -> Result<(), CommandError> {
    let behind = &made.summary.behind;
    if made.losses.is_empty() && behind.is_empty() {
        return Ok(());
    }
    console.answer_folded(
        format_args!(
            "best effort: the copy ends at {}, {}; later changes are lost",
            place(made.summary.end),
            made.end_time
        ),
        INDENT,
    )?;
    for loss in &made.losses {
        console.answer_folded(format_args!("lost: {loss}"), INDENT)?;
    }
    for (page, behind) in behind.iter().take(MOST_NAMED) {
        let (cause, at) = (behind.cause, behind.place);
        console.answer_folded(format_args!("page {page} stays behind at {at}: {cause}"), INDENT)?;
    }
    match behind.len().saturating_sub(MOST_NAMED) {
        0 => Ok(()),
        more => console.answer(format_args!("and {more} more pages; --json lists all")),
    }
}

fn as_json(flags: &RecoverFlags, copy: &Path, made: &Replayed<CopyStore>) -> serde_json::Value {
    let summary = &made.summary;
    let behind = summary.behind.iter().map(|(page, behind)| {
        json!({
            "page": page.0,
            "place": behind.place.to_string(),
            "text": behind.cause.to_string(),
        })
    });
    json!({
        "file": flags.file.display().to_string(),
        "copy": copy.display().to_string(),
        "best_effort": !made.losses.is_empty() || !summary.behind.is_empty(),
        "log_generation_first": made.generations.0,
        "log_generation_last": made.generations.1,
        "end": summary.end.to_string(),
        "end_time": made.end_time.to_string(),
        "records": summary.records,
        "page_changes_made": summary.changes_made,
        "page_changes_present": summary.changes_present,
        "transactions_undone": summary.transactions_undone,
        "changes_undone": summary.changes_undone,
        "open_transactions": summary.open_transactions,
        "losses": made.losses,
        "pages_behind": behind.collect::<Vec<_>>(),
    })
}
