//! A RAID level for an array without RAID: single disks hide the mistake, since one disk counts as
//! level 0.

use plan::deployment::Replacement;
use simdisk::ArrayDescription;

/// Why these changes of an array make no sense, if it is one disk and they give it a RAID level
/// without more disks.
pub(super) fn objection(array: &ArrayDescription, changes: &[Replacement]) -> Option<String> {
    let [changes_level, changes_disks] =
        ["raid.level", "raid.disks"].map(|key| changes.iter().any(|of| of.key == key));
    (array.raid.disks == 1 && changes_level && !changes_disks).then(|| {
        format!(
            "raid.level: \"{}\" is a single disk, which has no RAID; change raid.disks as well, \
             such as raid.disks=4, or size a deployment with `build = \"raid\"` in [storage]",
            array.name
        )
    })
}

#[cfg(test)]
mod tests {
    use plan::deployment::Replacement;
    use simdisk::ArrayDescription;

    use super::objection;

    const DISK: &str = include_str!("../../../../../arrays/disk-7200.toml");
    const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");

    #[test]
    fn a_level_is_refused_for_a_single_disk_and_the_remedy_named() {
        let change = |key: &str, value: &str| Replacement {
            key: format!("raid.{key}"),
            value: value.to_owned(),
        };
        let [disk, shelf] =
            [DISK, SHELF].map(|text| ArrayDescription::parse("a", text, &[]).expect("it ships"));
        for level in ["0", "1", "5", "10"] {
            let said = objection(&disk, &[change("level", level)]).expect(level);
            assert!(said.contains("no RAID") && said.contains("raid.disks=4"), "{said}");
            assert_eq!(objection(&shelf, &[change("level", level)]), None);
        }
        assert_eq!(objection(&disk, &[change("level", "5"), change("disks", "4")]), None);
        assert_eq!(objection(&disk, &[]), None);
    }
}
