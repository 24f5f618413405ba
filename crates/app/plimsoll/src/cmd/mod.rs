//! One short file per verb.

pub(crate) mod agent;
pub(crate) mod builds;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod limits;
pub(crate) mod line;
pub(crate) mod list;
mod load_words;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod prepare;
pub(crate) mod quick;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod selftest;
mod sequel;
pub(crate) mod serve;
pub(crate) mod suite;
pub(crate) mod topics;
pub(crate) mod watch;
