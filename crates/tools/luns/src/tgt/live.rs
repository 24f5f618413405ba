//! The state of `tgtd`, parsed from text made for people.

/// The full state of a `tgtd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TgtLive {
    /// Its targets.
    pub targets: Vec<LiveTarget>,
    /// Accounts, bound to a target or not.
    pub accounts: Vec<String>,
    /// Its listening addresses: `127.0.0.1:3260`.
    pub portals: Vec<String>,
}

/// A target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveTarget {
    /// Target number in requests.
    pub number: u32,
    /// iSCSI qualified name.
    pub iqn: String,
    /// Names of initiators that are logged in.
    pub sessions: Vec<String>,
    /// LUNs except number 0, which is the target itself.
    pub luns: Vec<LiveLun>,
    /// Accounts with which initiators authenticate.
    pub accounts: Vec<String>,
    /// Accounts with which the target authenticates itself.
    pub own_accounts: Vec<String>,
    /// Addresses and names that may connect.
    pub admitted: Vec<String>,
}

/// A LUN of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveLun {
    /// Number of the LUN on the target.
    pub number: u64,
    /// Path of the backing file.
    pub file: String,
    /// Whether the LUN is read-only.
    pub is_read_only: bool,
    /// Serial number that initiators see.
    pub serial: String,
}

/// The section of a target's listing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownPart {
    System,
    Sessions,
    Luns,
    Accounts,
    Admitted,
}

impl TgtLive {
    /// Reads the answers to "show" of targets, accounts and portals.
    pub fn parse(targets: &str, accounts: &str, portals: &str) -> Self {
        let mut live = Self {
            targets: Vec::new(),
            accounts: accounts.lines().skip(1).map(|line| line.trim().to_owned()).collect(),
            portals: portals.lines().filter_map(portal).collect(),
        };
        let mut part = ShownPart::System;
        for line in targets.lines() {
            if let Some(target) = heading(line) {
                live.targets.push(target);
                part = ShownPart::System;
            } else if let Some(next) = part_of(line) {
                part = next;
            } else if let Some(target) = live.targets.last_mut() {
                target.take(part, line.trim_end());
            }
        }
        for target in &mut live.targets {
            target.luns.retain(|lun| lun.number != 0);
        }
        live
    }

    /// The target of this name.
    pub fn target(&self, iqn: &str) -> Option<&LiveTarget> {
        self.targets.iter().find(|target| target.iqn == iqn)
    }
}

impl LiveTarget {
    fn take(&mut self, part: ShownPart, line: &str) {
        let text = line.trim();
        let (key, value) = text.split_once(": ").unwrap_or((text, ""));
        match part {
            ShownPart::Sessions if key == "Initiator" => {
                let name = value.split(" alias: ").next().unwrap_or_default();
                self.sessions.push(name.trim().to_owned());
            }
            ShownPart::System | ShownPart::Sessions => {}
            ShownPart::Luns if key == "LUN" => {
                let number = value.parse().unwrap_or_default();
                self.luns.push(LiveLun { number, ..LiveLun::default() });
            }
            ShownPart::Luns => {
                if let Some(lun) = self.luns.last_mut() {
                    match key {
                        "Readonly" => lun.is_read_only = value == "Yes",
                        "SCSI SN" => value.clone_into(&mut lun.serial),
                        "Backing store path" => value.clone_into(&mut lun.file),
                        _ => {}
                    }
                }
            }
            ShownPart::Accounts => match text.strip_suffix(" (outgoing)") {
                Some(own) => self.own_accounts.push(own.to_owned()),
                None => self.accounts.push(text.to_owned()),
            },
            ShownPart::Admitted => self.admitted.push(text.to_owned()),
        }
    }
}

/// `Target 1: iqn...`
fn heading(line: &str) -> Option<LiveTarget> {
    let (number, iqn) = line.strip_prefix("Target ")?.split_once(": ")?;
    let number = number.parse().ok()?;
    Some(LiveTarget { number, iqn: iqn.trim().to_owned(), ..LiveTarget::default() })
}

/// Only headings are indented by four blanks.
fn part_of(line: &str) -> Option<ShownPart> {
    let heading = line.strip_prefix("    ").filter(|text| !text.starts_with(' '))?;
    Some(match heading.trim_end() {
        "I_T nexus information:" => ShownPart::Sessions,
        "LUN information:" => ShownPart::Luns,
        "Account information:" => ShownPart::Accounts,
        "ACL information:" => ShownPart::Admitted,
        _ => ShownPart::System,
    })
}

/// `Portal: 127.0.0.1:3260,1`
fn portal(line: &str) -> Option<String> {
    let (portal, _group) = line.strip_prefix("Portal: ")?.rsplit_once(',')?;
    Some(portal.to_owned())
}
