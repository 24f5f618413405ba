//! Locations of a database's files.

use std::rc::Rc;

use device::Volume;

/// Locations of a database and its log.
#[derive(Clone)]
pub struct DatabaseFiles {
    /// The folder of the database file.
    pub database: Rc<dyn Volume>,
    /// The database file's name in it.
    pub file: String,
    /// The folder of the log and checkpoint files.
    pub log: Rc<dyn Volume>,
    /// Base name of the log files: three characters such as `E00`.
    pub log_base: String,
}
