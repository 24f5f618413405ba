//! One file that records everything created: the only proof that a file, a target or an account is
//! ours.
//!
//! A program that runs as root and removes the files listed in another file must be sure who wrote
//! that list, so the state is sealed with a key that only the secrets file holds.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use units::hexadecimal;

/// Version of the file's layout.
const SCHEMA: u32 = 1;
const KIND: &str = "plimsoll LUNs";

/// Record of everything created on this machine, sealed by a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LunState {
    kind: String,
    schema: u32,
    /// Unique id of this set of LUNs: 32 hexadecimal digits.
    pub id: String,
    /// The control socket of the target program.
    pub socket: String,
    /// Folders created for the files.
    pub folders: Vec<String>,
    /// Backing files of LUNs.
    pub luns: Vec<LunRecord>,
    /// Names of targets.
    pub targets: Vec<String>,
    /// Accounts, each with a mark that reveals a changed secret.
    pub accounts: Vec<AccountMark>,
    /// Portals that were opened.
    pub portals: Vec<String>,
    seal: String,
}

/// A created LUN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LunRecord {
    /// Name for people.
    pub name: String,
    /// Number of the LUN on every target.
    pub number: u64,
    /// Path of the backing file.
    pub file: String,
    /// Size of the backing file in bytes.
    pub size_bytes: u64,
    /// Distinguishes the backing file from any later file at its path.
    pub proof: FileProof,
}

/// Attributes of a file that no later file of the same name has: its inode number and its creation
/// time. The device number is excluded, since it changes across restarts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileProof {
    /// Its inode number.
    pub number: String,
    /// Creation time in nanoseconds since 1970; `None` if the file system does not record it.
    pub born: Option<String>,
}

/// A created account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountMark {
    /// Name of the account.
    pub account: String,
    /// A keyed hash of the account's secret, useless without the key.
    pub mark: String,
}

/// Why a file is not a trustworthy state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFault {
    /// The text is not a state.
    Unreadable {
        /// The parser's message.
        message: String,
    },
    /// Another release wrote the file.
    OtherSchema {
        /// Schema version of the file.
        found: u32,
    },
    /// The file was altered, or sealed with another key.
    Altered,
}

impl fmt::Display for StateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { message } => write!(
                f,
                "is no state of `plimsoll iscsi`: {message}; name the file that `apply` wrote, or \
                 bring it back from a backup"
            ),
            Self::OtherSchema { found } => {
                write!(
                    f,
                    "has layout {found}, and this release knows {SCHEMA}; use the release that \
                     wrote it"
                )
            }
            Self::Altered => write!(
                f,
                "was changed after it was written, or belongs to other secrets, so that it proves \
                 nothing and nothing is touched; bring it and the file with the secrets back from \
                 a backup, or remove what it lists by hand"
            ),
        }
    }
}

impl std::error::Error for StateFault {}

impl LunState {
    /// The initial state, before anything is created.
    pub fn new(id: String, socket: String) -> Self {
        Self {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            id,
            socket,
            folders: Vec::new(),
            luns: Vec::new(),
            targets: Vec::new(),
            accounts: Vec::new(),
            portals: Vec::new(),
            seal: String::new(),
        }
    }

    /// The text of the file, sealed by `key`.
    pub fn to_text(&self, key: &str) -> String {
        let sealed = Self { seal: self.seal_by(key), ..self.clone() };
        serde_json::to_string_pretty(&sealed).unwrap_or_default() + "\n"
    }

    /// Reads the text of a file that was sealed by `key`.
    pub fn parse(text: &str, key: &str) -> Result<Self, StateFault> {
        let state: Self = serde_json::from_str(text)
            .map_err(|error| StateFault::Unreadable { message: error.to_string() })?;
        if state.kind != KIND {
            let message = format!("its kind is `{}`", units::plain(&state.kind));
            return Err(StateFault::Unreadable { message });
        }
        if state.schema != SCHEMA {
            return Err(StateFault::OtherSchema { found: state.schema });
        }
        // Without a key, any process could forge the seal.
        if key.is_empty() || state.seal != state.seal_by(key) {
            return Err(StateFault::Altered);
        }
        Ok(Self { seal: String::new(), ..state })
    }

    /// The LUN with this name.
    pub fn lun(&self, name: &str) -> Option<&LunRecord> {
        self.luns.iter().find(|lun| lun.name == name)
    }

    /// Whether we created the file at this path.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.luns.iter().any(|lun| lun.file == path)
    }

    /// A number for a target that targets of other machines are unlikely to have: initiators derive
    /// disk ids from it.
    pub(crate) fn target_number(&self, iqn: &str) -> u32 {
        let [a, b, c, d, ..] = hash(&[self.id.as_bytes(), iqn.as_bytes()]);
        (u32::from_be_bytes([a, b, c, d]) >> 1).max(1)
    }

    /// The serial number of a LUN, which never changes: 16 hexadecimal digits.
    pub(crate) fn serial(&self, lun: &str) -> String {
        let mut serial = hexadecimal(&hash(&[self.id.as_bytes(), b"lun", lun.as_bytes()]));
        serial.truncate(16);
        serial
    }

    /// A mark of an account's secret: a different mark reveals that the secret has changed.
    pub fn mark(key: &str, account: &str, secret: &str) -> String {
        keyed(key, &[account.as_bytes(), secret.as_bytes()])
    }

    fn seal_by(&self, key: &str) -> String {
        let open = Self { seal: String::new(), ..self.clone() };
        keyed(key, &[serde_json::to_string(&open).unwrap_or_default().as_bytes()])
    }
}

/// Keyed hash, nested like HMAC to prevent length extension.
fn keyed(key: &str, parts: &[&[u8]]) -> String {
    hexadecimal(&hash(&[key.as_bytes(), &hash(&[&[key.as_bytes()], parts].concat())]))
}

/// Hash of parts, with unambiguous boundaries between them.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
