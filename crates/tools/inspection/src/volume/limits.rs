//! Limits of control groups, file sizes and quotas: they explain why storage seems slow or full
//! when it is neither.

use device_os::probe::{IoLimit, SpaceLimit};
use record::StorageFinding;

use super::StoragePlace;
use crate::draft::{FindingDraft, mended_by};

/// Warns of every limit. Cannot judge if one may exist that could not be read.
pub(super) fn finding(place: &StoragePlace<'_>) -> StorageFinding {
    let draft = FindingDraft::new(("limits", "Limits of this process"), place.name);
    let volume = place.volume;
    let (unread_io, io): (Vec<&IoLimit>, Vec<&IoLimit>) =
        volume.io_limits.iter().partition(|limit| limit.unreadable.is_some());
    let (unread_space, space): (Vec<&SpaceLimit>, Vec<&SpaceLimit>) =
        volume.space_limits.iter().partition(|of| matches!(of, SpaceLimit::Unread { .. }));
    let (known, unread) = (in_words(&io, &space), in_words(&unread_io, &unread_space));
    let all = [known.clone(), unread.clone()].concat().join("; ");
    if known.is_empty() && unread.is_empty() {
        return draft.pass("none", "neither control groups, file sizes nor quotas bind a test");
    }
    if known.is_empty() {
        return draft.unknown(all, "a limit that is not known may slow a test down or end it");
    }
    let (reason, remedy) = if io.is_empty() {
        ("a test ends as on a full volume", "raise the quota or the limit, or plan smaller")
    } else {
        ("the group is measured, not the storage", "run the test outside the control group")
    };
    mended_by(draft.warn(all, reason), remedy)
}

fn in_words(io: &[&IoLimit], space: &[&SpaceLimit]) -> Vec<String> {
    io.iter().map(ToString::to_string).chain(space.iter().map(ToString::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use device_os::probe::{IoLimit, SpaceLimit};
    use record::{StorageFinding, StorageRuling};

    use super::super::tests::volume;
    use super::{StoragePlace, finding};

    fn of(io_limits: &[IoLimit], space_limits: &[SpaceLimit]) -> StorageFinding {
        let mut volume = volume();
        volume.io_limits = io_limits.to_vec();
        volume.space_limits = space_limits.to_vec();
        finding(&StoragePlace { name: "/mail", volume: &volume, devices: &[] })
    }

    fn writes(per_second: Option<u64>, unreadable: Option<&str>) -> IoLimit {
        IoLimit {
            group: "/box".to_owned(),
            device: "8:0".to_owned(),
            what: if unreadable.is_some() { "io.max" } else { "wiops" }.to_owned(),
            per_second,
            unreadable: unreadable.map(str::to_owned),
        }
    }

    fn unread() -> SpaceLimit {
        SpaceLimit::Unread { what: "a quota".to_owned(), why: "not permitted".to_owned() }
    }

    #[test]
    fn limits_warn_and_those_that_cannot_be_read_are_unknown() {
        assert_eq!(of(&[], &[]).outcome, StorageRuling::Pass);
        let shut = writes(None, Some("permission denied"));
        assert_eq!(of(std::slice::from_ref(&shut), &[]).outcome, StorageRuling::CannotJudge);
        assert_eq!(of(&[], &[unread()]).outcome, StorageRuling::CannotJudge);
        let both = of(&[writes(Some(50), None), shut], &[unread()]);
        assert_eq!(both.outcome, StorageRuling::Warn);
        assert_eq!(
            both.seen,
            "the control group /box allows 50 writes a second on 8:0; the control group /box may \
             limit 8:0: io.max cannot be read (permission denied); a quota cannot be read: not \
             permitted"
        );
        let full = of(&[], &[SpaceLimit::FileSize(4 << 20)]);
        assert_eq!(full.outcome, StorageRuling::Warn);
        assert!(full.remedy.is_some_and(|remedy| remedy.starts_with("raise the quota")));
    }
}
