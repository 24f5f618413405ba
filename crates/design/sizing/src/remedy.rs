//! What to change, in numbers: variants of the deployment are sized until one has lost the problem
//! and gained none. Each change is written as the keys and values that the document takes, so that
//! it can be copied; parts that are needed together are joined by `and`.

mod databases;
mod disks;
mod fewer;
mod machines;
mod servers;

use std::borrow::Cow;

use plan::Deployment;

use crate::key::Key;
use crate::number::write;
use crate::work::Work;

pub(crate) use databases::{fewer_databases, more_databases, more_volumes};
pub(crate) use disks::{faster_disks, fewer_on_a_volume, groups_of_disks, larger_disks};
pub(crate) use machines::{
    faster_link, faster_processors, larger_ssds, more_ssds, shorter_safety_net,
};
pub(crate) use servers::{fewer_servers, members, more_groups, more_servers, smaller_groups};

/// Finds a change that removes the problem under a key.
pub(crate) type FindRemedy = fn(&Work<'_>, Key) -> Option<String>;

/// The changes found, each of which is enough; if there are none, as many mailboxes as fit, and if
/// none fit, general advice.
pub(crate) fn one_of(
    work: &Work<'_>,
    key: Key,
    remedies: &[FindRemedy],
    otherwise: &'static str,
) -> Cow<'static, str> {
    let found: Vec<String> = remedies.iter().filter_map(|remedy| remedy(work, key)).collect();
    if !found.is_empty() {
        return found.join(", or ").into();
    }
    fewer::fewer_mailboxes(work, key).map_or(otherwise.into(), Cow::Owned)
}

/// Whether a change removes the problem under `key` and causes no other.
fn is_fitting(work: &Work<'_>, key: Key, change: impl FnOnce(&mut Deployment)) -> bool {
    let Some(judges) = &work.judges else {
        return false;
    };
    let mut variant = work.deployment.clone();
    change(&mut variant);
    let known = work.known.get_or_init(|| judges.each_ref().map(|judge| judge(work.deployment)));
    { judges.iter().zip(known) }
        .all(|(judge, known)| judge(&variant).iter().all(|of| of.1 != key && known.contains(of)))
}

/// The smallest number above `now` and up to `most` that is enough, if any is.
fn smallest(now: f64, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut short, mut enough) = (0, most);
    if now >= f64::from(most) || !is_enough(most) {
        return None;
    }
    while enough - short > 1 {
        let between = short + (enough - short) / 2;
        if f64::from(between) > now && is_enough(between) {
            enough = between;
        } else {
            short = between;
        }
    }
    Some(enough)
}

/// A whole number under a key, if it is one.
fn whole(value: f64) -> Option<u32> {
    write(value).parse().ok()
}
