//! The two files of `iscsi`: the created objects, and the secrets; locked by one process at a time.

use std::fs;
use std::path::{Path, PathBuf};

use host::system::{self, FolderHold, Hold};
use luns::{
    AccountMark, InitiatorSecrets, LunDesign, LunState, SECRET_BYTES, SecretFile, made_secret,
};
use plan::luns::ChapMode;
use units::hexadecimal;

use crate::iscsi::flags::IscsiDocumentFlags;
use console::documents::read_text;
use console::error::CommandError;

/// Description in the secrets file.
const SECRET_KIND: &str = "plimsoll LUN secrets";

/// The two files, read and verified.
pub(super) struct Store {
    pub state: LunState,
    pub secrets: SecretFile,
    /// Whether a state existed.
    pub(crate) is_begun: bool,
    state_path: PathBuf,
    secrets_path: PathBuf,
    /// Locks other processes out while it exists.
    _hold: FolderHold,
}

impl Store {
    /// Reads both; a missing state is created, for LUNs that the `tgtd` at this socket offers.
    pub(super) fn open(flags: &IscsiDocumentFlags, socket: &str) -> Result<Self, CommandError> {
        let [state_path, secrets_path] =
            [(&flags.state, "state.json"), (&flags.secrets, "secrets.json")].map(|(given, end)| {
                given.clone().unwrap_or_else(|| flags.document.with_extension(end))
            });
        let hold = hold(&state_path)?;
        let secrets = read_secrets(&secrets_path)?;
        let is_begun = fs::symlink_metadata(&state_path).is_ok();
        let state = if is_begun {
            let (file, text) = read_text(&state_path)?;
            LunState::parse(&text, &secrets.seal_key)
                .map_err(|fault| CommandError::new(format!("{file}: {fault}")))?
        } else {
            LunState::new(hexadecimal(&random::<16>()?), socket.to_owned())
        };
        Ok(Self { state, secrets, is_begun, state_path, secrets_path, _hold: hold })
    }

    /// Draws a secret for each initiator that needs one and has none; `true` if anything was added.
    pub(super) fn complete(&mut self, design: &LunDesign) -> Result<bool, CommandError> {
        let before = self.secrets.clone();
        SECRET_KIND.clone_into(&mut self.secrets.kind);
        if self.secrets.seal_key.is_empty() {
            self.secrets.seal_key = hexadecimal(&random::<32>()?);
        }
        for target in &design.targets {
            if design.authentication == ChapMode::None {
                continue;
            }
            let initiator = target.initiator.clone();
            let known = self.secrets.initiators.iter().position(|one| one.initiator == initiator);
            let at = known.unwrap_or_else(|| {
                let (secret, target_secret) = (String::new(), String::new());
                self.secrets.initiators.push(InitiatorSecrets { initiator, secret, target_secret });
                self.secrets.initiators.len() - 1
            });
            let one = &mut self.secrets.initiators[at];
            if one.secret.is_empty() {
                one.secret = new_secret()?;
            }
            if one.target_secret.is_empty() && design.authentication == ChapMode::Mutual {
                one.target_secret = new_secret()?;
            }
        }
        self.check()?;
        Ok(before != self.secrets)
    }

    /// Fails on a defective secret, naming its file.
    fn check(&self) -> Result<(), CommandError> {
        self.secrets
            .check()
            .map_err(|fault| CommandError::new(format!("{}: {fault}", self.secrets_path.display())))
    }

    /// The secret of an account.
    pub(super) fn secret(&self, design: &LunDesign, account: &str) -> &str {
        let found = design.targets.iter().find_map(|target| {
            let secrets = self.secrets.of(&target.initiator)?;
            match account {
                of if of == target.account => Some(secrets.secret.as_str()),
                of if of == target.own_account => Some(secrets.target_secret.as_str()),
                _ => None,
            }
        });
        found.unwrap_or_default()
    }

    /// The marks of all accounts of a design.
    pub(super) fn marks(&self, design: &LunDesign) -> Vec<AccountMark> {
        let mut marks = Vec::new();
        for account in design.accounts() {
            let secret = self.secret(design, &account);
            let mark = LunState::mark(&self.secrets.seal_key, &account, secret);
            marks.push(AccountMark { account, mark });
        }
        marks
    }

    pub(super) fn write_secrets(&self) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(&self.secrets)? + "\n";
        write_private(&self.secrets_path, text.as_bytes())
    }

    pub(super) fn write_state(&self) -> Result<(), CommandError> {
        write_private(&self.state_path, self.state.to_text(&self.secrets.seal_key).as_bytes())
    }

    /// Removes both files, the state last: without it nothing else could be found.
    pub(super) fn remove(&self) -> Result<(), CommandError> {
        for path in [&self.secrets_path, &self.state_path] {
            fs::remove_file(path).map_err(CommandError::of_file(path, "remove"))?;
        }
        Ok(())
    }

    pub(super) fn state_path(&self) -> &Path {
        &self.state_path
    }

    pub(super) fn secrets_path(&self) -> &Path {
        &self.secrets_path
    }
}

/// Locks the files against a second `iscsi`.
fn hold(state: &Path) -> Result<FolderHold, CommandError> {
    let folder = state.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    match system::hold_folder(folder) {
        Hold::Held(hold) => Ok(hold),
        Hold::Busy => Err(CommandError::new(format!(
            "{}: another plimsoll works in this folder; wait until it is done",
            folder.display()
        ))),
        Hold::Unheld => Err(CommandError::new(format!(
            "{}: cannot be held for this program alone; name a folder that is there, on a disk",
            folder.display()
        ))),
    }
}

fn read_secrets(path: &Path) -> Result<SecretFile, CommandError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(SecretFile::default());
    }
    if !system::is_private(path).map_err(CommandError::of_file(path, "examine"))? {
        return Err(CommandError::new(format!(
            "{}: others may read these secrets; make new ones, or say chmod 600 on it",
            path.display()
        )));
    }
    let (file, text) = read_text(path)?;
    // The parser's message may quote a secret.
    let secrets: SecretFile = serde_json::from_str(&text).map_err(|error| {
        CommandError::new(format!(
            "{file}: line {}: is no file with secrets as `iscsi apply` writes it; mend it, or \
             bring it back from a backup",
            error.line()
        ))
    })?;
    secrets.check().map_err(|fault| CommandError::new(format!("{file}: {fault}")))?;
    Ok(secrets)
}

/// Writes a file that only its owner may read, atomically replacing an existing one.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write_synced(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| system::sync_folder(&std::path::absolute(path)?));
    written.map_err(|error| {
        // The temporary file may contain a part of the secrets.
        let _ = fs::remove_file(&temporary);
        CommandError::file(path, "write", &error)
    })
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = system::create_private(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A secret that was never given to anyone.
pub(super) fn new_secret() -> Result<String, CommandError> {
    Ok(made_secret(&random::<SECRET_BYTES>()?))
}

fn random<const N: usize>() -> Result<[u8; N], CommandError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        CommandError::new(format!("the system gives no random numbers: {error}; restart it"))
    })?;
    Ok(bytes)
}
