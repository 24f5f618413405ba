//! LUNs of iSCSI targets, as a login shows them: who authenticated to whom, the paths, and the
//! capabilities of the logical unit.

mod planned;
mod strangers;

use std::collections::BTreeSet;

use record::StorageFinding;
use units::{Bytes, Nanos};

use crate::draft::{FindingDraft, mended_by};

pub use planned::{LunPattern, LunRefusal, LunStranger, LunWrite, PlannedLun, against_plan};
pub use strangers::{PlannedTarget, StrangerLogin, TargetRules, of_target};

/// Longest acceptable round trip: switches and cables are faster, and every log write waits for
/// one. Half of the limit of a log write would be 5 ms.
const LONGEST_ROUND_TRIP: Nanos = Nanos(1_000_000);

/// The sides that authenticated themselves at login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunProof {
    /// Neither side.
    None,
    /// The initiator.
    OneWay,
    /// Initiator and target.
    Mutual,
}

/// Address of the target's portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunPortal {
    /// Host and port.
    pub name: String,
    /// The path to the LUN through this portal, or the reason why there is none.
    pub way: Result<LunWay, String>,
}

/// A path to a LUN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunWay {
    /// Unique id of the LUN at the end of the path, if it reports one.
    pub serial: Option<String>,
    /// This machine's address on the path, if known.
    pub begin: Option<String>,
    /// The shortest round trips, from several attempts.
    pub round_trips: Vec<Nanos>,
}

/// Results of a login to a LUN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunFacts {
    /// Address of the LUN.
    pub name: String,
    /// The sides that authenticated themselves.
    pub proof: LunProof,
    /// The portal's answer to discovery: whether it lists this target, or why it did not answer.
    pub discovery: Result<bool, String>,
    /// Every known portal, each of which was tried.
    pub portals: Vec<LunPortal>,
    /// Capacity in bytes.
    pub capacity: Bytes,
    /// Logical block size and physical write size, in bytes.
    pub block_bytes: [u32; 2],
    /// Whether the LUN is thin-provisioned.
    pub is_thin: bool,
    /// Whether the LUN rejects writes.
    pub is_write_protected: bool,
    /// Whether a write may bypass the cache (force unit access).
    pub has_durable_writes: bool,
}

/// Findings on a LUN, good and bad.
pub fn of_lun(lun: &LunFacts) -> Vec<StorageFinding> {
    let mut findings =
        vec![discovery(lun), authentication(lun), portals(lun), capacity(lun), writes(lun)];
    findings.extend(round_trip(lun));
    findings
}

/// Finding on a target or LUN that a portal lists but that cannot be inspected; `why` is the
/// reason.
pub fn unread_target(name: &str, why: &str) -> StorageFinding {
    let draft = FindingDraft::new(("lun-login", "Login to what the portal lists"), name);
    mended_by(
        draft.unknown(why, "what lies there cannot be judged"),
        "name its account as iscsi://USER@HOST, or have the target let this initiator in",
    )
}

fn discovery(lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("lun-discovery", "Discovery of the target"), &lun.name);
    let reason =
        "initiators that look for targets, as those of Windows and ESXi do, do not find it";
    let remedy = "let this initiator see the target, in the access rules of the target";
    match &lun.discovery {
        Ok(true) => draft.pass("the portal lists the target", "initiators find it"),
        Ok(false) => mended_by(draft.warn("the portal does not list the target", reason), remedy),
        Err(why) => mended_by(draft.warn(format!("no list: {why}"), reason), remedy),
    }
}

fn authentication(lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("lun-authentication", "Who proves to be who"), &lun.name);
    match lun.proof {
        LunProof::None => mended_by(
            draft.warn(
                "no side",
                "every system that takes the name of an initiator reads and overwrites mail",
            ),
            "set CHAP at the target, then name the account: iscsi://USER@HOST/...",
        ),
        LunProof::OneWay => draft.pass(
            "the initiator, by CHAP",
            "the target does not; with PLIMSOLL_CHAP_TARGET_SECRET set it has to",
        ),
        LunProof::Mutual => {
            draft.pass("initiator and target, by CHAP", "neither can be taken for another")
        }
    }
}

fn ways(lun: &LunFacts) -> impl Iterator<Item = &LunWay> {
    lun.portals.iter().filter_map(|portal| portal.way.as_ref().ok())
}

fn portals(lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("lun-portals", "Portals of the target"), &lun.name);
    let count = lun.portals.len();
    let dead: Vec<String> = lun
        .portals
        .iter()
        .filter_map(|portal| Some(format!("{}: {}", portal.name, portal.way.as_ref().err()?)))
        .collect();
    if !dead.is_empty() {
        return mended_by(
            draft.fail(
                format!("{} of {count} lead to the LUN", count - dead.len()),
                "a path that fails is no reserve for another",
            ),
            format!("look at {}", dead.join("; at ")),
        );
    }
    let serials: BTreeSet<&str> = ways(lun).filter_map(|way| way.serial.as_deref()).collect();
    if serials.len() > 1 {
        return mended_by(
            draft.fail(
                format!("{count}, which lead to different LUNs: {serials:?}"),
                "multipath would spread one database over several disks",
            ),
            "at the target, map the same LUN to this number at each portal",
        );
    }
    let begins: BTreeSet<&Option<String>> = ways(lun).map(|way| &way.begin).collect();
    match (count, begins.first().and_then(|begin| begin.as_deref())) {
        (0 | 1, _) => mended_by(
            draft.warn("one", "a cable or a switch takes the mail store down"),
            "give the target a second portal in a network of its own, and use multipath; name \
             every portal, where the target lists only the one that is asked",
        ),
        (_, Some(begin)) if begins.len() == 1 => mended_by(
            draft.warn(
                format!("{count}, each leads to the LUN; all are reached from {begin}"),
                "the card, the cable or the switch of that address takes the mail store down",
            ),
            "give this machine an address in the network of each portal",
        ),
        _ => draft.pass(format!("{count}, each leads to the LUN"), "one may fail"),
    }
}

fn capacity(lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("lun-capacity", "Capacity and blocks"), &lun.name);
    let [logical, physical] = lun.block_bytes;
    let seen = format!("{}, blocks of {logical} bytes, {physical} written at once", lun.capacity);
    if lun.is_thin {
        return mended_by(
            draft.warn(
                format!("{seen}, thin"),
                "room is taken as it is written: where the pool is full, writes fail",
            ),
            "watch the room of the pool, or have it reserved",
        );
    }
    draft.pass(seen, "room is reserved, as far as the target tells")
}

fn writes(lun: &LunFacts) -> StorageFinding {
    let draft = FindingDraft::new(("lun-writes", "Writes"), &lun.name);
    if lun.is_write_protected {
        return mended_by(
            draft.fail("refused: the LUN is write protected", "no database can be on it"),
            "offer it for writing at the target",
        );
    }
    if lun.has_durable_writes {
        draft.pass("taken; force unit access", "a durable write is one request")
    } else {
        draft.pass("taken; no force unit access", "a durable write is a write and a flush")
    }
}

/// Judges the slowest portal by the median of its round trips.
fn round_trip(lun: &LunFacts) -> Option<StorageFinding> {
    let mut medians = Vec::new();
    for portal in &lun.portals {
        let mut times =
            portal.way.as_ref().map_or_else(|_| Vec::new(), |way| way.round_trips.clone());
        times.sort_unstable();
        medians.extend(times.get(times.len() / 2).map(|&median| (median, times.len(), portal)));
    }
    let &(longest, count, _) = medians.iter().max_by_key(|(median, ..)| *median)?;
    let ways: Vec<String> = medians
        .iter()
        .map(|(median, _, portal)| format!("{:.3} ms at {}", median.0 as f64 / 1e6, portal.name))
        .collect();
    let seen = format!("{}, the median of {count}", ways.join(", "));
    let draft = FindingDraft::new(("lun-round-trip", "There and back"), &lun.name);
    Some(if longest > LONGEST_ROUND_TRIP {
        mended_by(
            draft.warn(seen, "every log write waits so long at least, whatever the disks do"),
            "look for routers, power saving of network cards and a busy target on the way",
        )
    } else {
        draft.pass(seen, "the network costs a log write little")
    })
}

#[cfg(test)]
mod tests {
    use record::StorageRuling::{self, Fail, Pass, Warn};
    use units::{Bytes, Nanos};

    use super::{LunFacts, LunPortal, LunProof, LunWay, of_lun};

    /// A LUN without any fault.
    pub(super) fn good() -> LunFacts {
        let portal = |name: &str| {
            let way = LunWay {
                serial: Some("1".to_owned()),
                begin: Some(format!("from {name}")),
                round_trips: vec![Nanos(100_000); 5],
            };
            LunPortal { name: name.to_owned(), way: Ok(way) }
        };
        LunFacts {
            name: "iscsi://array/iqn.a/1".to_owned(),
            proof: LunProof::Mutual,
            discovery: Ok(true),
            portals: vec![portal("10.0.0.1:3260"), portal("10.0.1.1:3260")],
            capacity: Bytes(1 << 40),
            block_bytes: [512, 4096],
            is_thin: false,
            is_write_protected: false,
            has_durable_writes: true,
        }
    }

    fn way(lun: &mut LunFacts, at: usize) -> &mut LunWay {
        lun.portals[at].way.as_mut().expect("a good LUN has ways")
    }

    fn outcome(check: &str, change: impl Fn(&mut LunFacts)) -> StorageRuling {
        let mut lun = good();
        change(&mut lun);
        let findings = of_lun(&lun);
        let found: Vec<_> = findings.iter().filter(|finding| finding.check == check).collect();
        assert_eq!(found.len(), 1, "{check}: {findings:#?}");
        let others = findings.iter().filter(|finding| finding.check != check);
        assert!(others.into_iter().all(|other| other.outcome == Pass), "{findings:#?}");
        assert_eq!(found[0].outcome == Pass, found[0].remedy.is_none());
        found[0].outcome
    }

    #[test]
    fn each_check_finds_its_own_fault() {
        assert_eq!(outcome("lun-discovery", |_| {}), Pass);
        assert_eq!(outcome("lun-discovery", |lun| lun.discovery = Ok(false)), Warn);
        let silent = |lun: &mut LunFacts| lun.discovery = Err("it closes".to_owned());
        assert_eq!(outcome("lun-discovery", silent), Warn);
        assert_eq!(outcome("lun-authentication", |lun| lun.proof = LunProof::OneWay), Pass);
        assert_eq!(outcome("lun-authentication", |lun| lun.proof = LunProof::None), Warn);
        assert_eq!(outcome("lun-portals", |lun| drop(lun.portals.pop())), Warn);
        let cut = |lun: &mut LunFacts| lun.portals[1].way = Err("no connection".to_owned());
        assert_eq!(outcome("lun-portals", cut), Fail);
        let other = |lun: &mut LunFacts| way(lun, 1).serial = Some("2".to_owned());
        assert_eq!(outcome("lun-portals", other), Fail);
        let untold = |lun: &mut LunFacts| way(lun, 1).serial = None;
        assert_eq!(outcome("lun-portals", untold), Pass);
        let one_card = |lun: &mut LunFacts| way(lun, 1).begin = way(lun, 0).begin.clone();
        assert_eq!(outcome("lun-portals", one_card), Warn);
        let hidden = |lun: &mut LunFacts| {
            for at in [0, 1] {
                way(lun, at).begin = None;
            }
        };
        assert_eq!(outcome("lun-portals", hidden), Pass);
        assert_eq!(outcome("lun-capacity", |lun| lun.is_thin = true), Warn);
        assert_eq!(outcome("lun-writes", |lun| lun.is_write_protected = true), Fail);
        assert_eq!(outcome("lun-writes", |lun| lun.has_durable_writes = false), Pass);
        // One slow answer does not make the path slow.
        let once = |lun: &mut LunFacts| way(lun, 0).round_trips[0] = Nanos(9_000_000);
        assert_eq!(outcome("lun-round-trip", once), Pass);
        let slow = |lun: &mut LunFacts| way(lun, 1).round_trips = vec![Nanos(2_000_000); 5];
        assert_eq!(outcome("lun-round-trip", slow), Warn);
    }

    #[test]
    fn each_portal_is_told_with_its_way_or_without_one() {
        let told = |lun: &LunFacts, check: &str| {
            let findings = of_lun(lun);
            let found = findings.iter().find(|finding| finding.check == check).unwrap();
            (found.seen.clone(), found.remedy.clone().unwrap_or_default())
        };
        let mut lun = good();
        let wanted = "0.100 ms at 10.0.0.1:3260, 0.100 ms at 10.0.1.1:3260, the median of 5";
        assert_eq!(told(&lun, "lun-round-trip").0, wanted);
        for portal in &mut lun.portals {
            portal.way = Err("no connection".to_owned());
        }
        let (seen, remedy) = told(&lun, "lun-portals");
        assert_eq!(seen, "0 of 2 lead to the LUN");
        assert_eq!(remedy, "look at 10.0.0.1:3260: no connection; at 10.0.1.1:3260: no connection");
    }
}
