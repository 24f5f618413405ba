//! A provision in the formats of the tools that build it. Nothing exported here is ever executed by
//! this program.
//!
//! Values that the sizing does not give (witness, addresses, directory servers) are parameters of
//! the scripts or empty fields of the tables, never guesses.

mod diskpart;
mod fleet;
mod linux;
mod metacache;
mod powershell;
mod tables;

#[cfg(test)]
mod tests;

use std::fmt;

use units::Nanos;

use crate::Provision;

pub use fleet::fleet;
pub use linux::quoted as shell_quoted;
pub use powershell::quoted as powershell_quoted;

/// Folders in which the product expects volumes and databases.
const VOLUMES: &str = "C:\\ExchangeVolumes";
const DATABASES: &str = "C:\\ExchangeDatabases";

/// Mount points that the product's own script uses for SSDs and for the cache of a copy. Sources:
/// S-MCDB and the vendor's troubleshooting articles; the first path appears only in a hardware
/// vendor's guide.
pub(crate) const METACACHE_VOLUMES: &str = "C:\\ExchangeMCDBVolumes";
pub(crate) const METACACHE_DATABASES: &str = "C:\\ExchangeMetaCacheDbs";

/// Mount root of logs on separate volumes. The product prescribes none.
const LOGS: &str = "C:\\ExchangeLogs";

/// Export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The four tables of the official calculator, with the column names of version 7.
    Tables,
    /// The same with the column names of version 6.
    TablesV6,
    /// Scripts for diskpart, one per server.
    Diskpart,
    /// Exchange Management Shell scripts, one per group, and one for its SSDs.
    PowerShell,
    /// Shell scripts for Linux, one per server.
    Linux,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Tables, Self::TablesV6, Self::Diskpart, Self::PowerShell, Self::Linux];
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name, without folders.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Document {
    /// Builds the file `name` from the output of `write`.
    fn written(name: String, write: impl FnOnce(&mut String) -> fmt::Result) -> Self {
        let mut text = String::new();
        write(&mut text).expect("invariant: writing to a string cannot fail");
        Self { name, text }
    }

    /// Puts a comment at the top, below the line that names the interpreter.
    fn headed(self, line: &str) -> Self {
        let end = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let interpreter = if self.text.starts_with("#!") { self.text.find('\n') } else { None };
        let mut text = self.text;
        text.insert_str(interpreter.map_or(0, |at| at + 1), &format!("{line}{end}"));
        Self { text, ..self }
    }

    /// Converts the file to Windows line endings.
    fn for_windows(self) -> Self {
        Self { text: self.text.replace('\n', "\r\n"), ..self }
    }
}

/// The files of `kind`.
pub fn export(provision: &Provision, kind: Kind) -> Vec<Document> {
    let (documents, comment) = match kind {
        Kind::Tables => return tables::documents(provision, tables::Version::Seven),
        Kind::TablesV6 => return tables::documents(provision, tables::Version::Six),
        Kind::Diskpart => (diskpart::documents(provision), "rem"),
        Kind::PowerShell => {
            ([powershell::documents(provision), metacache::documents(provision)].concat(), "#")
        }
        Kind::Linux => (linux::documents(provision), "#"),
    };
    let Some(assumption) = &provision.needs.assumption else {
        return documents;
    };
    let line = format!("{comment} {assumption}.");
    documents.into_iter().map(|document| document.headed(&line)).collect()
}

/// A duration in the product's format: `7.00:00:00`.
struct TimeSpan(Nanos);

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.0 / 1_000_000_000;
        let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
        let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
        write!(f, "{days}.{hours:02}:{minutes:02}:{seconds:02}")
    }
}

/// Paths of one of the product's databases.
struct Paths {
    /// Mount point of the database's volume.
    folder: String,
    /// The database file.
    file: String,
    /// Mount point of the log's volume; a different folder if logs are on separate volumes.
    log_mount: String,
    /// The folder of the log.
    log: String,
}

/// The paths of `database`.
fn paths(provision: &Provision, database: &str) -> Paths {
    let folder = format!("{DATABASES}\\{database}");
    let log_mount = if provision.needs.log_volume.is_some() {
        format!("{LOGS}\\{database}")
    } else {
        folder.clone()
    };
    Paths {
        file: format!("{folder}\\{database}.db\\{database}.edb"),
        log: format!("{log_mount}\\{database}.log"),
        folder,
        log_mount,
    }
}
