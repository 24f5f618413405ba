//! Turns the arguments of `inspect` into places to inspect: it searches a portal for LUNs, and a
//! LUN that several portals offer is one place with several paths.

use std::path::PathBuf;

use device_net::{
    IscsiAddress, IscsiError, IscsiInitiator, IscsiPortal, IscsiSearch, Lun, discover,
};
use inspection::lun::unread_target;
use record::StorageFinding;
use units::Bytes;

use super::StorageFacts;
use crate::error::HostError;
use crate::target::{self, TargetError};

/// Places, and findings on those that cannot be inspected.
#[derive(Default)]
pub struct Places {
    /// Each with its facts.
    pub looked_at: Vec<(PathBuf, StorageFacts)>,
    /// Reports about portals, as lines for display.
    pub told: Vec<String>,
    /// Targets and LUNs that were found but cannot be inspected.
    pub findings: Vec<StorageFinding>,
}

/// A path to inspect.
struct Place {
    path: PathBuf,
    /// The LUN that it names, and other portals at which it was named.
    lun: Option<(IscsiAddress, Vec<(IscsiPortal, PathBuf)>)>,
}

/// Resolves everything named or found.
pub fn places(paths: &[PathBuf]) -> Result<Places, HostError> {
    let (mut found, mut places) = (Places::default(), Vec::new());
    for path in paths {
        match path.to_str().and_then(IscsiSearch::parse) {
            Some(search) => look_for(&search, &mut places, &mut found)?,
            None => add(path.clone(), &mut places),
        }
    }
    found.looked_at = places.iter().map(look_at).collect::<Result<_, _>>()?;
    Ok(found)
}

/// Adds a path, or another portal to the LUN that it names.
fn add(path: PathBuf, places: &mut Vec<Place>) {
    let lun = target::lun(&path).map(|(address, _)| address);
    let same = places.iter_mut().find_map(|place| {
        let (first, others) = place.lun.as_mut()?;
        let lun = lun.as_ref()?;
        let is_same = (&first.target, first.lun, &first.user) == (&lun.target, lun.lun, &lun.user);
        (is_same && first.portal != lun.portal).then_some(others)
    });
    match (same, lun) {
        (Some(others), Some(lun)) => others.push((lun.portal, path)),
        (_, lun) => places.push(Place { path, lun: lun.map(|lun| (lun, Vec::new())) }),
    }
}

/// Facts of a place; of a LUN from the first of its portals that leads to it.
fn look_at(place: &Place) -> Result<(PathBuf, StorageFacts), HostError> {
    let Some((address, others)) = &place.lun else {
        return Ok((place.path.clone(), StorageFacts::of(&place.path)?));
    };
    let mut known = vec![(address.portal.clone(), place.path.clone())];
    known.extend(others.iter().cloned());
    let mut refusal = None;
    let portals: Vec<IscsiPortal> = known.iter().map(|(portal, _)| portal.clone()).collect();
    for (_, path) in &known {
        match StorageFacts::with_portals(path, &portals) {
            Ok(facts) => return Ok((path.clone(), facts)),
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.expect("invariant: a place has a portal"))
}

/// Asks a portal for its targets and each of them for its LUNs.
fn look_for(
    search: &IscsiSearch,
    places: &mut Vec<Place>,
    found: &mut Places,
) -> Result<(), HostError> {
    let initiator =
        target::initiator(&search.portal, search.user.as_deref()).map_err(TargetError::from)?;
    let mut targets = discover(&search.portal, &initiator).map_err(TargetError::from)?;
    let wanted = search.target.as_deref();
    targets.retain(|target| wanted.is_none_or(|wanted| wanted == target.name));
    if targets.is_empty() {
        return Err(HostError::new(format!(
            "iscsi://{}: the portal lists no {}; look at its access rules, which go by the name {}",
            search.portal,
            wanted.unwrap_or("target"),
            initiator.name
        )));
    }
    for target in targets {
        let portals: Vec<String> = target.portals.iter().map(ToString::to_string).collect();
        found.told.push(format!("target           {}", target.name));
        found.told.push(format!("portals          {}", portals.join(", ")));
        let (address, _) = search.found(&target.name, 0);
        match Lun::numbers(&address, &search.portal.to_string(), &initiator) {
            Ok(numbers) => {
                let numbers = numbers.into_iter().filter_map(|number| u16::try_from(number).ok());
                for number in numbers {
                    note(search.found(&target.name, number), &initiator, places, found);
                }
            }
            Err(error) => found.findings.push(unread_target(&target.name, &error.to_string())),
        }
    }
    Ok(())
}

/// Adds a LUN to the places if it is a disk that accepts this machine.
fn note(
    (address, name): (IscsiAddress, String),
    initiator: &IscsiInitiator,
    places: &mut Vec<Place>,
    found: &mut Places,
) {
    let what = match Lun::attach(&address, &name, initiator) {
        Ok(lun) => {
            add(PathBuf::from(&name), places);
            Bytes(lun.capacity().bytes()).to_string()
        }
        Err(IscsiError::NotADisk { kind, .. }) => format!("no disk (SCSI type {kind})"),
        Err(error) => {
            found.findings.push(unread_target(&name, &error.to_string()));
            "not to be looked at".to_owned()
        }
    };
    found.told.push(format!("{:<16} {what}, {name}", format!("LUN {}", address.lun)));
}
