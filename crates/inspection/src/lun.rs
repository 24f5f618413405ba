//! LUNs of iSCSI targets, as a login shows them: who proved to be who, the ways there, and what the
//! logical unit takes.

mod planned;

use record::StorageFinding;
use units::{Bytes, Nanos};

use crate::draft::{Check, mended_by};

pub use planned::{LunPattern, LunRefusal, LunStranger, PlannedLun, against_plan};

/// A network of switches and cables answers sooner; every log write waits so long at least. Half of
/// what a log write may take in all would be 5 ms.
const LONGEST_ROUND_TRIP: Nanos = Nanos(1_000_000);

/// Who has proved to be who.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunProof {
    /// Neither side.
    None,
    /// The initiator.
    OneWay,
    /// Initiator and target.
    Mutual,
}

/// Where the target listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunPortal {
    /// Host and port.
    pub name: String,
    /// Why the LUN is not reached there; none where it is.
    pub refusal: Option<String>,
}

/// What a login has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunFacts {
    /// Its address.
    pub name: String,
    /// Who proved to be who.
    pub proof: LunProof,
    /// What the portal said when it was asked for its targets: whether this one is among them, or
    /// why it did not answer.
    pub discovery: Result<bool, String>,
    /// Every portal that is known, each of which was tried.
    pub portals: Vec<LunPortal>,
    /// How much it holds, in bytes.
    pub capacity: Bytes,
    /// Bytes of a block, and of what the medium writes at once.
    pub block_bytes: [u32; 2],
    /// Whether room is taken only as it is written.
    pub is_thin: bool,
    /// Whether it takes no writes.
    pub is_write_protected: bool,
    /// Whether a write may be asked to go past the cache.
    pub has_durable_writes: bool,
    /// The shortest way there and back, several times.
    pub round_trips: Vec<Nanos>,
}

/// What is right and wrong with a LUN.
pub fn of_lun(lun: &LunFacts) -> Vec<StorageFinding> {
    let mut findings =
        vec![discovery(lun), authentication(lun), portals(lun), capacity(lun), writes(lun)];
    findings.extend(round_trip(lun));
    findings
}

fn discovery(lun: &LunFacts) -> StorageFinding {
    let draft = Check::new(("lun-discovery", "Discovery of the target"), &lun.name);
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
    let draft = Check::new(("lun-authentication", "Who proves to be who"), &lun.name);
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

fn portals(lun: &LunFacts) -> StorageFinding {
    let draft = Check::new(("lun-portals", "Portals of the target"), &lun.name);
    let count = lun.portals.len();
    let refused: Vec<&LunPortal> =
        lun.portals.iter().filter(|portal| portal.refusal.is_some()).collect();
    if let [first, ..] = refused[..] {
        let seen = format!("{} of {count} lead to the LUN", count - refused.len());
        let why = first.refusal.as_deref().unwrap_or_default();
        return mended_by(
            draft.fail(seen, "a path that fails is no reserve for another"),
            format!("look at {}: {why}", first.name),
        );
    }
    match count {
        0 | 1 => mended_by(
            draft.warn("one", "a cable or a switch takes the mail store down"),
            "give the target a second portal in a network of its own, and use multipath",
        ),
        _ => draft.pass(format!("{count}, each leads to the LUN"), "one may fail"),
    }
}

fn capacity(lun: &LunFacts) -> StorageFinding {
    let draft = Check::new(("lun-capacity", "Capacity and blocks"), &lun.name);
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
    let draft = Check::new(("lun-writes", "Writes"), &lun.name);
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

/// The median.
fn round_trip(lun: &LunFacts) -> Option<StorageFinding> {
    let mut times = lun.round_trips.clone();
    times.sort_unstable();
    let median = *times.get(times.len() / 2)?;
    let draft = Check::new(("lun-round-trip", "There and back"), &lun.name);
    let seen = format!("{:.3} ms, the median of {}", median.0 as f64 / 1e6, times.len());
    Some(if median > LONGEST_ROUND_TRIP {
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

    use super::{LunFacts, LunPortal, LunProof, of_lun};

    /// A LUN that nothing is wrong with.
    pub(super) fn good() -> LunFacts {
        let portal = |name: &str| LunPortal { name: name.to_owned(), refusal: None };
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
            round_trips: vec![Nanos(100_000); 5],
        }
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
        let cut = |lun: &mut LunFacts| lun.portals[1].refusal = Some("no connection".to_owned());
        assert_eq!(outcome("lun-portals", cut), Fail);
        assert_eq!(outcome("lun-capacity", |lun| lun.is_thin = true), Warn);
        assert_eq!(outcome("lun-writes", |lun| lun.is_write_protected = true), Fail);
        assert_eq!(outcome("lun-writes", |lun| lun.has_durable_writes = false), Pass);
        // One slow answer is not the way.
        let once = |lun: &mut LunFacts| lun.round_trips[0] = Nanos(9_000_000);
        assert_eq!(outcome("lun-round-trip", once), Pass);
        let slow = |lun: &mut LunFacts| lun.round_trips = vec![Nanos(2_000_000); 5];
        assert_eq!(outcome("lun-round-trip", slow), Warn);
    }
}
