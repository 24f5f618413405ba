//! Access to the targets, and its secrets. They come from a file that only its owner can read, or
//! from the environment, since other users can see a command line.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use device_net::{ChapLogin, ChapSecret};
use host::system;
use plan::CacheIscsi;

use crate::cache::flags::CacheServeFlags;
use console::error::CommandError;

/// Variables for the initiator's secret, and for the targets' secret if initiators ask for it.
const VARIABLES: [&str; 2] = ["PLIMSOLL_ISCSI_SECRET", "PLIMSOLL_ISCSI_TARGET_SECRET"];

/// See the module.
pub(in crate::cache::serve) struct IscsiSettings {
    pub addresses: Vec<SocketAddr>,
    /// Prefix of the target names.
    pub name: String,
    pub(crate) account: Option<ChapLogin>,
}

impl IscsiSettings {
    /// Checks the section of a document, and reads the secrets.
    pub(in crate::cache::serve) fn of(section: &CacheIscsi) -> Result<Self, CommandError> {
        let account = section.user.as_ref().map(|user| account(user, section)).transpose()?;
        let mut addresses = Vec::new();
        for text in &section.listen {
            addresses.push(address(text, (account.is_some(), section.is_network_allowed))?);
        }
        let name = section.name.clone().unwrap_or_else(default_name);
        if let Some(fault) = name_fault(&name) {
            let text = format!("{}: a name of targets {fault}", units::plain(&name));
            return Err(CommandError::new(text));
        }
        Ok(Self { addresses, name, account })
    }

    /// Describes how initiators authenticate.
    pub(super) fn proof(&self) -> &'static str {
        match &self.account {
            None => "for every initiator of this machine",
            Some(ChapLogin { target_secret: None, .. }) => "with CHAP",
            Some(_) => "with CHAP, mutual if the initiator asks for it",
        }
    }
}

/// The section that these flags specify.
pub(in crate::cache::serve) fn from_flags(flags: &CacheServeFlags) -> Option<CacheIscsi> {
    if flags.iscsi.is_empty() {
        return None;
    }
    Some(CacheIscsi {
        listen: flags.iscsi.clone(),
        name: flags.iscsi_name.clone(),
        user: flags.iscsi_user.clone(),
        secrets: flags.iscsi_secrets.as_ref().map(|path| path.display().to_string()),
        is_network_allowed: flags.iscsi_network,
    })
}

fn address(
    text: &str,
    (has_account, is_allowed): (bool, bool),
) -> Result<SocketAddr, CommandError> {
    let address: SocketAddr = text.parse().map_err(|_| {
        CommandError::new(format!(
            "{text}: is no address of initiators; give one such as 127.0.0.1:3260"
        ))
    })?;
    let advice = match (address.ip().is_loopback(), has_account, is_allowed) {
        (true, ..) | (_, true, true) => return Ok(address),
        (_, false, _) => "give them an account (--iscsi-user)",
        _ => "allow that (--iscsi-network) on a network of storage alone",
    };
    Err(CommandError::new(format!(
        "{text}: is reached from other machines, and iSCSI does not encrypt; {advice}, or listen \
         at 127.0.0.1"
    )))
}

fn account(user: &str, section: &CacheIscsi) -> Result<ChapLogin, CommandError> {
    let (secrets, place) = if let Some(file) = &section.secrets {
        (secrets_of(Path::new(file))?, file.as_str())
    } else {
        (VARIABLES.map(|name| env::var(name).ok()), VARIABLES[0])
    };
    let [own, target] = secrets;
    let Some(own) = own else {
        return Err(CommandError::new(format!(
            "the secret of {} is not known; put it into the environment as {}, or into a file \
             that only you read (--iscsi-secrets)",
            units::plain(user),
            VARIABLES[0],
        )));
    };
    let login = ChapSecret::new(&own).and_then(|own| {
        let target = target.as_deref().map(ChapSecret::new).transpose()?;
        ChapLogin::new(user, own, target)
    });
    login.map_err(|error| CommandError::new(format!("{place}: {error}")))
}

/// The lines of a file: the initiator's secret, and that of the targets.
fn secrets_of(path: &Path) -> Result<[Option<String>; 2], CommandError> {
    if !system::is_private(path).map_err(CommandError::of_file(path, "examine"))? {
        let name = path.display();
        return Err(CommandError::new(format!(
            "{name}: others may read these secrets; run `chmod 600 {name}` and choose new ones"
        )));
    }
    let text = fs::read_to_string(path).map_err(CommandError::of_file(path, "read"))?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
    Ok([lines.next(), lines.next()])
}

fn default_name() -> String {
    let mut host = system::machine(String::new()).name.to_lowercase();
    host.retain(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    format!("iqn.2026-11.example.plimsoll:{host}")
}

/// The fault in the prefix of target names, if any (RFC 7143, 4.2.7).
fn name_fault(name: &str) -> Option<&'static str> {
    let begins = ["iqn.", "eui.", "naa."].iter().any(|begin| name.starts_with(begin));
    let is_plain = name.chars().all(|letter| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || ".-:".contains(letter)
    });
    let is_sound = begins && name.len() <= 150 && is_plain;
    (!is_sound).then_some(
        "begins with iqn., eui. or naa. and has up to 150 small letters, digits, dots, dashes and \
         colons",
    )
}

#[cfg(test)]
mod tests {
    use super::{address, default_name, name_fault};

    #[test]
    fn only_an_account_and_a_permission_let_other_machines_in() {
        for (text, account_and_permission, said) in [
            ("127.0.0.1:3260", (false, false), None),
            ("[::1]:3260", (false, false), None),
            ("10.0.0.5:3260", (false, false), Some("--iscsi-user")),
            ("10.0.0.5:3260", (false, true), Some("--iscsi-user")),
            ("0.0.0.0:3260", (true, false), Some("--iscsi-network")),
            ("0.0.0.0:3260", (true, true), None),
            ("localhost", (true, true), Some("no address of initiators")),
        ] {
            let error = address(text, account_and_permission).err();
            let told = error.as_ref().and_then(|error| error.told()).map(|(text, _)| text);
            assert_eq!(told.is_some(), said.is_some(), "{text}");
            assert!(
                told.is_none_or(|told| said.is_some_and(|said| told.contains(said))),
                "{told:?}"
            );
        }
    }

    #[test]
    fn names_of_targets_are_those_that_initiators_take() {
        assert_eq!(name_fault(&default_name()), None);
        for name in ["iqn.2026-11.example:Mail", "mail", "iqn.2026-11.example:a_b", "iqn. "] {
            assert!(name_fault(name).is_some(), "{name}");
        }
    }
}
