//! What has been made, as one file keeps it: the only proof of whose a file, a target or an account
//! is.
//!
//! A program that runs as root and removes what a file tells it to must know who wrote that file.
//! So the state is sealed by a key that only the file with the secrets holds.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use units::hexadecimal;

/// The layout of the file.
const SCHEMA: u32 = 1;
const KIND: &str = "plimsoll LUNs";

/// What has been made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LunState {
    kind: String,
    schema: u32,
    /// Tells these LUNs from all others: 32 hexadecimal digits.
    pub id: String,
    /// The control socket of the target program.
    pub socket: String,
    /// Folders that were made for the files.
    pub folders: Vec<String>,
    /// Files that stand for LUNs.
    pub luns: Vec<LunRecord>,
    /// Names of targets.
    pub targets: Vec<String>,
    /// Accounts, each with what tells whether its secret has changed.
    pub accounts: Vec<AccountMark>,
    /// Portals that were opened.
    pub portals: Vec<String>,
    seal: String,
}

/// A LUN that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LunRecord {
    /// What people call it.
    pub name: String,
    /// Its number.
    pub number: u64,
    /// The file that stands for it.
    pub file: String,
    /// Its length.
    pub size_bytes: u64,
    /// What tells that file from any other that may lie there one day.
    pub proof: FileProof,
}

/// What a file system says of a file that no later file of the same name has: its number, and when
/// it was made. The number of the device is no part of it, since restarts change that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileProof {
    /// Its number in its file system.
    pub number: String,
    /// Nanoseconds since 1970; none where the file system does not keep it.
    pub born: Option<String>,
}

/// An account that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountMark {
    /// Its name.
    pub account: String,
    /// A hash of its secret that is of no use without the key.
    pub mark: String,
}

/// Why a file is no state that may be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFault {
    /// It is no state.
    Unreadable {
        /// The parser's words.
        message: String,
    },
    /// Another release wrote it.
    OtherSchema {
        /// Its layout.
        found: u32,
    },
    /// It is not what was written, or not with this key.
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
    /// The state of something of which nothing has been made.
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
        // Without a key anybody could seal.
        if key.is_empty() || state.seal != state.seal_by(key) {
            return Err(StateFault::Altered);
        }
        Ok(Self { seal: String::new(), ..state })
    }

    /// The LUN of this name.
    pub fn lun(&self, name: &str) -> Option<&LunRecord> {
        self.luns.iter().find(|lun| lun.name == name)
    }

    /// Whether the file of this path was made.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.luns.iter().any(|lun| lun.file == path)
    }

    /// A number for a target that no other target of any machine is likely to have: what initiators
    /// tell disks apart by is made of it.
    pub(crate) fn target_number(&self, iqn: &str) -> u32 {
        let [a, b, c, d, ..] = hash(&[self.id.as_bytes(), iqn.as_bytes()]);
        (u32::from_be_bytes([a, b, c, d]) >> 1).max(1)
    }

    /// The serial number of a LUN, the same whenever it is offered: 16 hexadecimal digits.
    pub fn serial(&self, lun: &str) -> String {
        let mut serial = hexadecimal(&hash(&[self.id.as_bytes(), b"lun", lun.as_bytes()]));
        serial.truncate(16);
        serial
    }

    /// What tells whether the secret of an account is still this one.
    pub fn mark(key: &str, account: &str, secret: &str) -> String {
        keyed(key, &[account.as_bytes(), secret.as_bytes()])
    }

    fn seal_by(&self, key: &str) -> String {
        let open = Self { seal: String::new(), ..self.clone() };
        keyed(key, &[serde_json::to_string(&open).unwrap_or_default().as_bytes()])
    }
}

/// A hash that needs the key, in the nested form that nothing can be added to (as HMAC).
fn keyed(key: &str, parts: &[&[u8]]) -> String {
    hexadecimal(&hash(&[key.as_bytes(), &hash(&[&[key.as_bytes()], parts].concat())]))
}

/// The hash of parts that cannot run into one another.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
