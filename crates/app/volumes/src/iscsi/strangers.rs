//! Attempts of `iscsi verify` that must fail: logins of strangers at every portal, and LUNs that
//! are not in the plan.

use device_net::{ChapLogin, IscsiAddress, IscsiError, IscsiInitiator, IscsiPortal, Lun};
use inspection::lun::{LunStranger, PlannedTarget, StrangerLogin};
use luns::Target;
use luns::tgt::TgtLive;

use super::rules::beyond;
use console::error::CommandError;

/// Draws a new initiator name that is in no plan.
fn other_name() -> Result<String, CommandError> {
    let plain: String = super::store::new_secret()?
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    Ok(format!("iqn.2026-11.org.plimsoll:stranger-{plain}"))
}

/// A target as its initiator should reach it.
pub(super) struct TargetVisit<'a> {
    /// How people write it.
    pub name: String,
    pub target: &'a Target,
    /// All targets of the plan.
    pub planned: &'a [Target],
    /// Its address at the first portal.
    pub address: IscsiAddress,
    /// Other portals.
    pub others: &'a [IscsiPortal],
    pub initiator: &'a IscsiInitiator,
}

impl TargetVisit<'_> {
    /// Tries everything; `live` is the target's own report.
    pub(super) fn tried(
        &self,
        live: Result<&TgtLive, &CommandError>,
    ) -> Result<PlannedTarget, CommandError> {
        Ok(PlannedTarget {
            name: self.name.clone(),
            logins: self.logins()?,
            unplanned: self.unplanned().map_err(|error| error.to_string()),
            rules: beyond(self.target, self.planned, self.initiator.chap.is_some(), live),
        })
    }

    fn logins(&self) -> Result<Vec<(StrangerLogin, LunStranger)>, CommandError> {
        let mut logins = Vec::new();
        // If access depends on addresses, every name from them is admitted by design.
        if self.target.addresses.is_empty() {
            let stranger = IscsiInitiator {
                name: other_name()?,
                chap: self.initiator.chap.clone().map(ChapLogin::one_way),
            };
            logins.push((StrangerLogin::OtherName, self.end_of(&stranger)));
        }
        if self.initiator.chap.is_some() {
            let stranger = IscsiInitiator { chap: None, ..self.initiator.clone() };
            logins.push((StrangerLogin::NoSecret, self.end_of(&stranger)));
        }
        Ok(logins)
    }

    /// Worst outcome of a login over all portals.
    fn end_of(&self, stranger: &IscsiInitiator) -> LunStranger {
        let mut worst = LunStranger::Refused;
        for portal in [&self.address.portal].into_iter().chain(self.others) {
            let there = IscsiAddress { portal: portal.clone(), ..self.address.clone() };
            match end(&there, &format!("{} at {portal}", self.name), stranger) {
                LunStranger::LetIn => return LunStranger::LetIn,
                LunStranger::Refused => {}
                unknown @ LunStranger::Unknown(_) => worst = unknown,
            }
        }
        worst
    }

    /// Numbers of disks that the plan does not offer to this initiator.
    fn unplanned(&self) -> Result<Vec<u64>, IscsiError> {
        let mut numbers = Lun::numbers(&self.address, &self.name, self.initiator)?;
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| self.target.luns.iter().all(|lun| lun.number != *number));
        let mut unplanned = Vec::new();
        for number in numbers {
            // Number 0 is the target itself, which tgt exposes as a controller.
            if number != 0 || self.is_disk(0)? {
                unplanned.push(number);
            }
        }
        Ok(unplanned)
    }

    fn is_disk(&self, lun: u16) -> Result<bool, IscsiError> {
        let address = IscsiAddress { lun, ..self.address.clone() };
        match Lun::attach(&address, &self.name, self.initiator) {
            Ok(_) => Ok(true),
            Err(IscsiError::NotADisk { .. } | IscsiError::NoLun { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Tries a login that must fail and returns its outcome.
pub(super) fn end(address: &IscsiAddress, name: &str, stranger: &IscsiInitiator) -> LunStranger {
    match Lun::numbers(address, name, stranger) {
        Ok(_) => LunStranger::LetIn,
        Err(error) if error.is_behind_login() => LunStranger::LetIn,
        Err(error) if error.is_shut_out() => LunStranger::Refused,
        Err(error) => LunStranger::Unknown(error.to_string()),
    }
}
