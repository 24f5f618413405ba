//! Opens a database from its files: header, log, catalog, tables.

use std::cell::RefCell;
use std::rc::Rc;

use device::{Device, OpenMode, Purpose, Request, Runtime};
use ese::catalog::{CatalogRow, CatalogTable, assemble};
use ese::flush_map::FlushMap;
use ese::header::{DatabaseHeader, DatabaseState, HeaderCopies, PROBE_BYTES, read_copies};
use ese::page::PageSize;
use ese::{Lgpos, LogTime, Signature};
use units::{ObjectId, PageNumber, Prng, Seed};
use wal::edit::TransactionId;
use wal::{Log, LogChain, LogEnd, LogError, LogFolder, LogIdentity, LogRecord, LogSettings};

use super::{Database, FIRST_TRANSACTION, LastWritten};
use crate::cache::{Cache, CacheFiles};
use crate::core::{Core, CoreParts};
use crate::error::{OpenError, TransactionError, UnusablePage};
use crate::files::DatabaseFiles;
use crate::flush_map_file::{self, LiveMap};
use crate::header_file::{HeaderFile, attach};
use crate::long_value;
use crate::long_value_numbers::LongValueNumbers;
use crate::poison::Poison;
use crate::recovery::Redone;
use crate::rows::flags_agree;
use crate::settings::Settings;
use crate::space;
use crate::stage::{Halt, Stage};
use crate::table_state::{OpenTables, TableState};
use crate::tree::{self, Space, Tree};

/// The catalog's own tree, at a fixed place in every database.
const CATALOG: Tree = Tree {
    root: PageNumber(4),
    object: ObjectId(2),
    repeats: false,
    density_percent: 80,
    space: Space::Own,
};

/// Opens a database that was closed properly, or one whose log has been redone. After redo, losers
/// must still be undone, and the checkpoint stays where redo began.
pub(super) async fn open(
    runtime: &Runtime,
    files: &DatabaseFiles,
    settings: Settings,
    seed: Seed,
    redone: Option<&Redone>,
) -> Result<Database, OpenError> {
    let device = files.database.open(&files.file, OpenMode::ReadWrite).await?;
    let HeaderCopies { mut header, page_size, primary, .. } =
        read_header(&device, redone.is_some()).await?;
    let log = match redone {
        None => open_log(runtime, files, &settings, (&mut header, page_size, seed)).await?,
        Some(redone) => {
            header.dbtime = header.dbtime.max(redone.dbtime);
            resume_log(runtime, files, &settings, redone).await?
        }
    };
    let flush_map = match redone {
        None => stored_map(files, &device, (&header, page_size)).await?,
        Some(redone) => redone.flush_map.clone(),
    };
    let volume = Rc::clone(&files.database);
    let flush_map = LiveMap::new(volume, &files.file, page_size, flush_map);
    let files = CacheFiles {
        header: Rc::new(HeaderFile::new(Rc::clone(&device), (header, page_size), primary)),
        flush_map: Rc::new(flush_map),
        poison: Rc::new(Poison::new(device.name())),
        device,
        log,
    };
    let last_transaction = redone.map_or(FIRST_TRANSACTION, |redone| redone.last_transaction);
    let database = load(runtime, files, page_size, settings, last_transaction).await?;
    attach_at(&database, redone.map(|redone| redone.checkpoint))
        .await
        .map_err(|problem| OpenError::Log { problem })?;
    Ok(database)
}

/// Marks a database as in use from the end of its log on. Recovery would begin at `checkpoint`, or
/// at that end if there is none.
async fn attach_at(database: &Database, checkpoint: Option<Lgpos>) -> Result<(), String> {
    let (core, header) = (&database.core, &database.last_written.header);
    let attached = core.log.tip();
    let checkpoint = checkpoint.unwrap_or(attached);
    let record =
        LogRecord::Attach { database: header.current().signature.random, dbtime: core.dbtime() };
    let (_, end) = core.append(&record).map_err(|error| error.to_string())?;
    let flushed = core.log.flush_to(end).await;
    flushed.map_err(|error| error.to_string())?;
    header.update(|header| attach(header, checkpoint, attached)).await?;
    let written = core.log.advance_checkpoint(checkpoint).await;
    written.map_err(|error| error.to_string())
}

/// The header of a database that may be opened.
async fn read_header(device: &Rc<dyn Device>, is_redone: bool) -> Result<HeaderCopies, OpenError> {
    let file = device.name().to_owned();
    let most = usize::try_from(device.length()).unwrap_or(PROBE_BYTES).min(PROBE_BYTES);
    let probe = most - most % device::ALIGNMENT;
    if probe == 0 {
        return Err(OpenError::NotADatabase { file, problem: "it is empty".to_owned() });
    }
    let read = device.submit(Request::read(Purpose::Header, 0, probe)).await;
    let copies = read_copies(&read.into_buffer()?).map_err(|error| OpenError::NotADatabase {
        file: file.clone(),
        problem: error.to_string(),
    })?;
    let header = &copies.header;
    match header.state {
        DatabaseState::DirtyShutdown if is_redone => Ok(copies),
        DatabaseState::CleanShutdown => Ok(copies),
        DatabaseState::DirtyShutdown | DatabaseState::DirtyAndPatched => Err(OpenError::Dirty {
            file,
            generations: (header.generation_min_required.0, header.generation_max_required.0),
        }),
        other => {
            let problem = format!("its state is {other}; fill it anew");
            Err(OpenError::NotADatabase { file, problem })
        }
    }
}

/// The flush map stored when the database was closed. Without a trustworthy one, the map starts
/// empty and learns from every write.
async fn stored_map(
    files: &DatabaseFiles,
    device: &Rc<dyn Device>,
    (header, size): (&DatabaseHeader, PageSize),
) -> Result<FlushMap, OpenError> {
    let pages = u32::try_from(device.length() / size.bytes_u64()).unwrap_or(u32::MAX);
    let read = flush_map_file::read(&*files.database, &files.file, header, pages).await?;
    Ok(read.unwrap_or_default())
}

/// Continues the log that the header names, or begins one.
async fn open_log(
    runtime: &Runtime,
    files: &DatabaseFiles,
    settings: &Settings,
    (header, page_size, seed): (&mut DatabaseHeader, PageSize, Seed),
) -> Result<Log, OpenError> {
    let folder = LogFolder::new(Rc::clone(&files.log), &files.log_base);
    let log_settings = log_settings(settings);
    if let Some(chain) = LogChain::find(&folder).await.map_err(|error| log_problem(&error))? {
        if !header.log_signature.is_some() {
            // The crash happened between the creation of the log and the first use of the database.
            header.log_signature = chain.identity().signature;
        }
        let identity =
            LogIdentity { page_size, signature: header.log_signature, database: header.signature };
        chain.require_identity(&identity).map_err(|error| log_problem(&error))?;
        let end = chain.end().await.map_err(|error| log_problem(&error))?;
        return Log::resume(runtime, folder, identity, log_settings, end)
            .await
            .map_err(|error| log_problem(&error));
    }
    let clock = runtime.clock();
    let millis = (clock.epoch() + clock.now()).0 / 1_000_000;
    let random = u32::try_from(Prng::new(seed).below(1 << 32)).unwrap_or(1).max(1);
    header.log_signature = Signature::new(random, LogTime::from_unix_millis(millis));
    let identity =
        LogIdentity { page_size, signature: header.log_signature, database: header.signature };
    Log::create(runtime, folder, identity, log_settings).await.map_err(|error| log_problem(&error))
}

/// Continues the log after the redone part.
async fn resume_log(
    runtime: &Runtime,
    files: &DatabaseFiles,
    settings: &Settings,
    redone: &Redone,
) -> Result<Log, OpenError> {
    let folder = LogFolder::new(Rc::clone(&files.log), &files.log_base);
    let end = LogEnd { checkpoint: redone.checkpoint, ..redone.end };
    let settings = log_settings(settings);
    Log::resume(runtime, folder, redone.identity, settings, end)
        .await
        .map_err(|error| log_problem(&error))
}

fn log_settings(settings: &Settings) -> LogSettings {
    LogSettings {
        segment_size: settings.log_segment,
        circular: settings.circular_log,
        copies: settings.log_copies,
        read_back: settings.read_back,
        ..LogSettings::default()
    }
}

fn log_problem(error: &LogError) -> OpenError {
    OpenError::Log { problem: error.to_string() }
}

/// Reads the catalog and opens every table.
async fn load(
    runtime: &Runtime,
    files: CacheFiles,
    page_size: PageSize,
    settings: Settings,
    last_transaction: TransactionId,
) -> Result<Database, OpenError> {
    let last_written = LastWritten {
        header: Rc::clone(&files.header),
        flush_map: Rc::clone(&files.flush_map),
        not_as_written: RefCell::default(),
    };
    let parts = CoreParts {
        runtime: runtime.clone(),
        device: Rc::clone(&files.device),
        log: files.log.clone(),
        poison: Rc::clone(&files.poison),
        dbtime: files.header.current().dbtime,
        cache: Cache::new(runtime, files, page_size, &settings),
        settings,
        last_transaction,
    };
    let bare = Core::new(parts.clone(), OpenTables::default());
    require_whole_file(&bare).await?;
    let rows = bare.look(|stage, _| catalog_rows(stage, page_size)).await.map_err(opening)?;
    let mut tables = OpenTables::default();
    for table in assemble(rows) {
        if let Some(state) = open_table(&bare, &table).await? {
            tables.insert(state);
        }
    }
    Ok(Database { core: Core::new(parts, tables), last_written: Rc::new(last_written) })
}

/// Requires the file to have its full length. No check reads the free pages at its end, so losing
/// them would go unnoticed until the space is used again.
async fn require_whole_file(core: &Rc<Core>) -> Result<(), OpenError> {
    let owned = core.look(|stage, _| space::last_page(stage)).await.map_err(opening)?;
    let (last, owned) = (core.file.last_page(), owned.unwrap_or(PageNumber::NONE));
    if last >= owned {
        return Ok(());
    }
    Err(OpenError::Truncated { file: core.file.name().to_owned(), last, owned })
}

/// Reads all rows of the catalog; fails if one cannot be decoded.
fn catalog_rows(stage: &mut Stage<'_>, page_size: PageSize) -> Result<Vec<CatalogRow>, Halt> {
    let problem = "a row of the catalog that cannot be read";
    let (mut rows, mut at, mut bad) = (Vec::new(), Vec::new(), false);
    loop {
        let from = at.clone();
        let more = tree::walk(stage, &CATALOG, (&from, &[]), true, |node| {
            node.key_into(&mut at);
            match CatalogRow::decode(node.data, page_size) {
                Ok(row) if !node.is_deleted() => rows.extend(row),
                Ok(_) => (),
                Err(_) => bad = true,
            }
            true
        })?;
        if bad {
            return Err(Halt::Damaged { page: CATALOG.root, problem });
        }
        if !more {
            return Ok(rows);
        }
    }
}

/// A user table, ready for rows; `None` for the engine's own tables and those that cannot be
/// changed here.
async fn open_table(
    core: &Rc<Core>,
    table: &CatalogTable,
) -> Result<Option<TableState>, OpenError> {
    if table.flags & 0x8000_0000 != 0 {
        return Ok(None);
    }
    let Some(state) = TableState::new(table, core.cache.page_size()) else {
        return Ok(None);
    };
    for tree in state.trees() {
        let agrees = core.look(|stage, _| flags_agree(stage, &tree)).await.map_err(opening)?;
        if !agrees {
            let file = core.file.name().to_owned();
            let problem = "is not the root that the catalog says it is".to_owned();
            return Err(OpenError::Damaged(UnusablePage { file, page: tree.root, problem }));
        }
    }
    if let Some(tree) = state.long_values {
        let next = core.look(|stage, _| long_value::next_id(stage, &tree)).await;
        *state.long_value_numbers.borrow_mut() = LongValueNumbers::from(next.map_err(opening)?);
    }
    Ok(Some(state))
}

pub(super) fn opening(error: TransactionError) -> OpenError {
    match error {
        TransactionError::Damaged(damage) => OpenError::Damaged(damage),
        TransactionError::LostFlush(lost) => OpenError::LostFlush(lost),
        TransactionError::Read(error) => OpenError::Device(error),
        other => OpenError::Log { problem: other.to_string() },
    }
}
