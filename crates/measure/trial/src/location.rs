//! Location of one database of a plan, with the volumes that the program has opened for it.

use std::path::Path;
use std::rc::Rc;

use device::{Observer, TracedVolume, Volume};

/// One database and its folders.
#[derive(Clone)]
pub struct Location {
    /// Its entry in the plan.
    pub plan: plan::Database,
    /// The folder of the database file.
    pub database: Rc<dyn Volume>,
    /// The folder of the log.
    pub log: Rc<dyn Volume>,
    /// Source of the database folder's space, such as a mount point: folders of equal storage share
    /// it.
    pub storage: String,
    /// Source of the log folder's space.
    pub log_storage: String,
    /// Destination of the test's copy of the database, if any.
    pub copies: Option<CopyFolder>,
}

/// A folder that receives a backup's copies of databases.
#[derive(Clone)]
pub struct CopyFolder {
    /// Its path as given in the plan.
    pub folder: String,
    /// The folder.
    pub volume: Rc<dyn Volume>,
    /// Source of its space.
    pub storage: String,
}

impl Location {
    /// Name of the file next to the database that records its origin.
    pub(crate) fn manifest_file(&self) -> String {
        manifest_file_of(&self.plan.file)
    }

    /// The same location, with `observer` receiving every request.
    pub(crate) fn observed_by(self, observer: Rc<dyn Observer>) -> Self {
        let database = Rc::new(TracedVolume::new(self.database, Rc::clone(&observer)));
        let log = Rc::new(TracedVolume::new(self.log, Rc::clone(&observer)));
        let copies = self.copies.map(|copies| CopyFolder {
            volume: Rc::new(TracedVolume::new(copies.volume, observer)),
            ..copies
        });
        Self { database, log, copies, ..self }
    }

    /// Path of the log file being written.
    pub(crate) fn newest_log(&self) -> String {
        let file = format!("{}.plg", self.plan.log_base);
        Path::new(&self.plan.log_folder).join(file).display().to_string()
    }

    /// Display path of the database file.
    pub(crate) fn path(&self) -> String {
        Path::new(&self.plan.folder).join(&self.plan.file).display().to_string()
    }
}

/// Name of the manifest next to a database file of this name.
pub(crate) fn manifest_file_of(database: &str) -> String {
    let stem = database.strip_suffix(".edb");
    format!("{}.manifest.json", stem.unwrap_or(database))
}
