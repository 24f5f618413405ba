//! Limits on the size of client messages in the configuration of an Exchange server: the effective
//! limit of each protocol, the file that sets it, and edits that preserve every other byte.
//!
//! Text in, values out: the program finds and writes the files, and keeps the old ones.

mod application;
mod chain;
mod config;
mod edit;
mod error;
mod host;
mod lock;
mod setting;
mod setting_kind;

pub use application::{APPLICATIONS, Application, Protocol, Side};
pub use chain::{Chain, Direction, Link, RulePlace, Server};
pub use config::ConfigFile;
pub use edit::{Edit, LARGEST_BYTES, apply, needs_recycling, plan};
pub use error::{ConfigError, Lock};
pub use host::{HostedApplication, hosted_applications};

pub use setting_kind::SettingKind;
