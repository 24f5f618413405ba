//! The file next to a database that records its origin.
//!
//! It is written twice: before the first page, marked as filling, and after the last one. An
//! interrupted fill is thus recognised and may be deleted, and nothing else ever is.

use std::fmt;
use std::rc::Rc;

use device::{
    ALIGNMENT, Boxed, Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Volume,
};
use ese::Signature;
use ese::header::{DatabaseHeader, DatabaseState, PROBE_BYTES, read_copies};
use plan::Plan;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::location::{Location, manifest_file_of};

/// Version of the manifest format.
const FORM: u32 = 1;

/// Maximum length of a manifest; a longer file is something else.
const LONGEST: u64 = 1 << 20;

/// Whether the database is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManifestState {
    /// The fill has begun.
    Filling,
    /// The fill has ended and everything is on stable storage.
    Complete,
}

/// Origin of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest format.
    pub form: u32,
    /// Whether the database is complete.
    pub state: ManifestState,
    /// The database file.
    pub file: String,
    /// Its index in the plan.
    pub database: u32,
    /// Seed of the plan.
    pub seed: u64,
    /// Format of the database, such as `ESE 0x620,20,0`.
    pub format: String,
    /// Page size.
    pub page_size_bytes: u64,
    /// Length of the file after the fill; 0 while filling.
    pub file_bytes: u64,
    /// Messages after the fill, numbered from 1; 0 while filling.
    pub rows: u64,
    /// Signature of the database, in hexadecimal; empty while filling.
    pub signature: String,
    /// The whole plan.
    pub plan: String,
}

/// Why a database is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// The manifest could not be read or written.
    Device(DeviceError),
    /// No manifest exists.
    Absent {
        /// The database file.
        file: String,
    },
    /// The file is not a manifest.
    Unreadable {
        /// The manifest file.
        file: String,
        /// The problem with it.
        problem: String,
    },
    /// The database file is not the one that the manifest was written for.
    Exchanged {
        /// The database file.
        file: String,
    },
    /// The fill of the database was interrupted.
    Unfinished {
        /// The database file.
        file: String,
    },
    /// The file is shorter than the fill left it. No crash does that: the fill flushed the file
    /// before it wrote the manifest, and no run shortens it.
    LostEnd {
        /// The database file.
        file: String,
        /// Its length.
        present: Bytes,
        /// Its length after the fill.
        filled: Bytes,
    },
    /// The database was made from another plan.
    Differs {
        /// The database file.
        file: String,
        /// The key of the plan that differs.
        key: &'static str,
        /// The plan's value.
        wanted: String,
        /// The database's value.
        found: String,
    },
}

impl Manifest {
    /// The manifest for the start of a fill.
    pub(crate) fn filling(plan: &Plan, location: &Location) -> Self {
        let (major, update) = ese::header::WRITTEN_FORMAT;
        Self {
            form: FORM,
            state: ManifestState::Filling,
            file: location.plan.file.clone(),
            database: location.plan.index,
            seed: plan.seed.0,
            format: format!("ESE {major:#x},{update},0"),
            page_size_bytes: plan.page_size.0,
            file_bytes: 0,
            rows: 0,
            signature: String::new(),
            plan: plan.to_toml(),
        }
    }

    /// The error for a database without a manifest.
    pub(crate) fn absent(location: &Location) -> ManifestError {
        ManifestError::Absent { file: location.path() }
    }

    /// Size of each database in its plan; `None` if that cannot be read.
    pub fn planned_size(&self) -> Option<Bytes> {
        let made = Plan::parse("manifest", &self.plan).ok()?;
        Some(made.size)
    }

    /// The database as described in its plan; `None` if that cannot be read.
    pub fn planned(&self) -> Option<plan::Database> {
        let made = Plan::parse("manifest", &self.plan).ok()?;
        let mut databases = made.databases.into_iter();
        databases.find(|database| database.index == self.database)
    }

    /// Whether `plan` may run on this database. The seed may differ: a run with another seed
    /// performs other operations on the same messages.
    pub(crate) fn fits(&self, plan: &Plan, location: &Location) -> Result<(), ManifestError> {
        let file = location.path();
        if self.state == ManifestState::Filling {
            return Err(ManifestError::Unfinished { file });
        }
        let (key, wanted, found) = if self.database != location.plan.index {
            let (wanted, found) = (location.plan.index + 1, self.database + 1);
            ("database number", wanted.to_string(), found.to_string())
        } else if self.page_size_bytes != plan.page_size.0 {
            let found = Bytes(self.page_size_bytes);
            ("page_size", plan.page_size.to_string(), found.to_string())
        } else {
            return Ok(());
        };
        Err(ManifestError::Differs { file, key, wanted, found })
    }

    /// Whether this is the manifest of the database with that signature.
    pub fn is_for(&self, signature: Signature) -> bool {
        self.state == ManifestState::Complete && self.signature == digits(signature)
    }

    /// Refuses the database file at `location` if this manifest was written for another one, or if
    /// the file has lost its end: recovery would enlarge it, and the lost pages would read as empty
    /// ones. A file with an unreadable header is refused when it is opened.
    pub(crate) async fn prove(&self, location: &Location) -> Result<(), ManifestError> {
        let device = location.database.open(&location.plan.file, OpenMode::ReadOnly).await?;
        let file = location.path();
        let header = header_on(&*device).await?;
        if header.is_some_and(|header| !self.is_for(header.signature)) {
            return Err(ManifestError::Exchanged { file });
        }
        let (present, filled) = (Bytes(device.length()), Bytes(self.file_bytes));
        if present < filled {
            return Err(ManifestError::LostEnd { file, present, filled });
        }
        Ok(())
    }

    /// Whether a fill by `plan` would produce exactly this database.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        let Ok(made) = Plan::parse("manifest", &self.plan) else {
            return false;
        };
        let (filled, wanted) = (&made.workload, &plan.workload);
        (made.seed, made.size, made.page_size) == (plan.seed, plan.size, plan.page_size)
            && filled.short_pad_bytes == wanted.short_pad_bytes
            && filled.long_pad_bytes == wanted.long_pad_bytes
            && filled.compressible_percent == wanted.compressible_percent
            && filled.repeated_percent == wanted.repeated_percent
    }
}

/// The state in the header of the database; `None` if it cannot be read.
pub(crate) async fn state_of(
    volume: &dyn Volume,
    file: &str,
) -> Result<Option<DatabaseState>, DeviceError> {
    let header = header_of(volume, file).await?;
    Ok(header.map(|header| header.state))
}

/// The header of the database; `None` if it cannot be read.
pub(crate) async fn header_of(
    volume: &dyn Volume,
    file: &str,
) -> Result<Option<DatabaseHeader>, DeviceError> {
    let device = volume.open(file, OpenMode::ReadOnly).await?;
    header_on(&*device).await
}

async fn header_on(device: &dyn Device) -> Result<Option<DatabaseHeader>, DeviceError> {
    let present = usize::try_from(device.length()).unwrap_or(usize::MAX);
    let length = PROBE_BYTES.min(present / ALIGNMENT * ALIGNMENT);
    if length == 0 {
        return Ok(None);
    }
    let request = Request::read(Purpose::Header, 0, length);
    let start = device.submit(request).await.into_buffer()?;
    Ok(read_copies(&start).ok().map(|copies| copies.header))
}

/// A signature in the format used by manifests.
pub(crate) fn digits(signature: Signature) -> String {
    let digits = signature.encode().map(|byte| format!("{byte:02x}"));
    digits.concat()
}

/// Reads the manifest next to the database at `location`; `None` if there is none.
pub fn read(location: &Location) -> Boxed<'_, Result<Option<Manifest>, ManifestError>> {
    Box::pin(async move { read_beside(&location.database, &location.plan.file).await })
}

/// Reads the manifest next to the database file of that name; `None` if there is none.
pub fn read_beside<'a>(
    volume: &'a Rc<dyn Volume>,
    database: &'a str,
) -> Boxed<'a, Result<Option<Manifest>, ManifestError>> {
    Box::pin(async move {
        let manifest: Option<Manifest> = read_document(volume, &manifest_file_of(database)).await?;
        match manifest {
            Some(Manifest { form, .. }) if form != FORM => Err(ManifestError::Unreadable {
                file: format!("{}/{}", volume.name(), manifest_file_of(database)),
                problem: format!("form {form} is not known here"),
            }),
            manifest => Ok(manifest),
        }
    })
}

/// Reads the small document of that name, as written by [`write_document`]; `None` if there is
/// none.
pub(crate) async fn read_document<T: DeserializeOwned>(
    volume: &Rc<dyn Volume>,
    file: &str,
) -> Result<Option<T>, ManifestError> {
    let device = match volume.open(file, OpenMode::ReadOnly).await {
        Ok(device) => device,
        Err(DeviceError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let unreadable =
        |problem: String| ManifestError::Unreadable { file: device.name().to_owned(), problem };
    let length = device.length();
    if length == 0 || length > LONGEST || !length.is_multiple_of(ALIGNMENT as u64) {
        return Err(unreadable(format!("{length} bytes are no length for one")));
    }
    let length = usize::try_from(length).expect("invariant: at most 1 MiB");
    let request = Request::read(Purpose::Header, 0, length);
    let buffer = device.submit(request).await.into_buffer()?;
    let document = serde_json::from_slice(&buffer);
    document.map(Some).map_err(|error| unreadable(error.to_string()))
}

/// Writes `manifest` next to its database and atomically replaces any earlier one.
pub(crate) async fn write(location: &Location, manifest: &Manifest) -> Result<(), ManifestError> {
    write_document(&location.database, &location.manifest_file(), manifest).await
}

/// Writes a small document and atomically replaces any earlier one.
pub(crate) async fn write_document<T: Serialize>(
    volume: &Rc<dyn Volume>,
    file: &str,
    document: &T,
) -> Result<(), ManifestError> {
    let mut text = serde_json::to_vec_pretty(document)
        .expect("invariant: a document has text keys, text and whole numbers");
    // Unbuffered files consist of whole blocks; JSON may end in any number of line feeds.
    text.resize(text.len().next_multiple_of(ALIGNMENT), b'\n');
    let temporary = format!("{file}.new");
    remove_if_there(volume.as_ref(), &temporary).await?;
    let mode = OpenMode::CreateNew { length: text.len() as u64 };
    let device = volume.open(&temporary, mode).await?;
    let buffer = Buffer::copy_of(&text);
    let request = Request::write(Purpose::Header, 0, buffer, Durability::Durable);
    device.submit(request).await.into_buffer()?;
    drop(device);
    volume.rename(&temporary, file).await?;
    Ok(())
}

/// Removes a file if it exists.
pub(crate) async fn remove_if_there(volume: &dyn Volume, file: &str) -> Result<(), DeviceError> {
    match volume.remove(file).await {
        Err(DeviceError::NotFound { .. }) => Ok(()),
        outcome => outcome,
    }
}

impl From<DeviceError> for ManifestError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::Absent { file } => write!(
                f,
                "{file}: no manifest beside it, so nothing says what it holds; run `plimsoll \
                 prepare` with this plan first"
            ),
            Self::Unreadable { file, problem } => write!(
                f,
                "{file}: not a manifest ({problem}); remove the database and prepare it anew"
            ),
            Self::Exchanged { file } => write!(
                f,
                "{file}: is not the database that its manifest was written for: its signature is \
                 another; nothing was written to it. Bring the right file back, or prepare another \
                 folder"
            ),
            Self::Unfinished { file } => write!(
                f,
                "{file}: its fill was interrupted; run `plimsoll prepare` with this plan again"
            ),
            Self::LostEnd { file, present, filled } => write!(
                f,
                "{file}: has lost its end: {} of the {filled} that its fill left are missing; \
                 nothing was written to it. Find what shortened it, then restore it or fill it \
                 anew with `plimsoll prepare PLAN --reset`",
                Bytes(filled.0 - present.0)
            ),
            Self::Differs { file, key, wanted, found } => write!(
                f,
                "{file}: was prepared with {key} {found}, the plan says {wanted}; change the plan, \
                 prepare another folder, or fill this one anew with `--reset`"
            ),
        }
    }
}

impl std::error::Error for ManifestError {}
