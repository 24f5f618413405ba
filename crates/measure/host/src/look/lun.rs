//! Inspects a LUN: discovery, a login at every portal, and the round-trip time.

use std::collections::BTreeSet;

use device::Clock as _;
use device_net::{
    Authentication, IscsiAddress, IscsiError, IscsiInitiator, IscsiPortal, Lun, discover,
};
use device_os::OsClock;
use inspection::lun::{LunFacts, LunPortal, LunProof, LunWay};
use units::{Bytes, Nanos};

use crate::target::TargetError;

/// Number of round trips to time.
const ROUND_TRIPS: usize = 33;

/// Returns the facts shown by a login of `initiator`; the target is known to listen at `others`
/// too. Nothing is written.
pub fn facts(
    address: &IscsiAddress,
    name: &str,
    initiator: &IscsiInitiator,
    others: &[IscsiPortal],
) -> Result<LunFacts, TargetError> {
    let lun = Lun::attach(address, name, initiator)?;
    let listed = listed(address, initiator);
    let (capacity, caching) = (lun.capacity(), lun.caching());
    let portals: BTreeSet<&IscsiPortal> = listed.iter().flatten().flatten().chain(others).collect();
    Ok(LunFacts {
        name: name.to_owned(),
        proof: match lun.authentication() {
            Authentication::None => LunProof::None,
            Authentication::OneWay => LunProof::OneWay,
            Authentication::Mutual => LunProof::Mutual,
        },
        portals: tried(&lun, address, &portals, initiator)?,
        discovery: listed.as_ref().map(Option::is_some).map_err(Clone::clone),
        capacity: Bytes(capacity.bytes()),
        block_bytes: [capacity.block_bytes, capacity.physical_bytes],
        is_thin: capacity.is_thin,
        is_write_protected: caching.is_write_protected,
        has_durable_writes: caching.has_durable_writes,
    })
}

/// Returns the target's portals as listed by the given portal; `None` if that lists only other
/// targets.
fn listed(
    address: &IscsiAddress,
    initiator: &IscsiInitiator,
) -> Result<Option<Vec<IscsiPortal>>, String> {
    let targets = discover(&address.portal, initiator).map_err(|error| error.to_string())?;
    let found = targets.into_iter().find(|target| target.name == address.target);
    Ok(found.map(|target| target.portals))
}

/// Tries the given portal, which leads to the LUN, and all others.
fn tried(
    here: &Lun,
    address: &IscsiAddress,
    known: &BTreeSet<&IscsiPortal>,
    initiator: &IscsiInitiator,
) -> Result<Vec<LunPortal>, TargetError> {
    let mut portals = vec![LunPortal { name: address.portal.to_string(), way: Ok(way(here)?) }];
    for &portal in known.iter().filter(|portal| ***portal != address.portal) {
        let there = IscsiAddress { portal: portal.clone(), ..address.clone() };
        let name = portal.to_string();
        let way = Lun::attach(&there, &name, initiator).and_then(|lun| way(&lun));
        // Its name is shown separately.
        let way = way.map_err(|error| error.to_string().replacen(&format!("{name}: "), "", 1));
        portals.push(LunPortal { way, name });
    }
    Ok(portals)
}

fn way(lun: &Lun) -> Result<LunWay, IscsiError> {
    Ok(LunWay {
        serial: lun.identity().serial.clone(),
        begin: lun.begin().map(|address| address.to_string()),
        round_trips: round_trips(lun)?,
    })
}

fn round_trips(lun: &Lun) -> Result<Vec<Nanos>, IscsiError> {
    let clock = OsClock::new();
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begin = clock.now();
        lun.test()?;
        times.push(Nanos(clock.now().0.saturating_sub(begin.0)));
    }
    Ok(times)
}
