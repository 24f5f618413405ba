//! Where the files of a database lie.

use std::rc::Rc;

use device::Volume;

/// Where a database and its log live.
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
