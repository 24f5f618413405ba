//! File systems and encryption: factors are 1 unless the document gives others or names the
//! published measurement.

use super::model::FileSystem;
use crate::keys::{Choice, Keys};

/// Published measurements by name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measurement {
    None,
    Ssd2013,
}

impl Choice for Measurement {
    const ALL: &'static [Self] = &[Self::None, Self::Ssd2013];
    const WORDS: &'static [&'static str] = &["none", "2013, one SSD"];
}

/// File systems that exports can make.
const FILE_SYSTEMS: &[&str] = &["NTFS", "ReFS", "ext4", "XFS", "btrfs"];

/// Encryption that exports can name.
const ENCRYPTIONS: &[&str] = &["none", "BitLocker", "LUKS"];

/// Source of the only published comparison, and its other results.
const SSD_2013: &str = "measured once: Exchange 2013 load of 12 threads on one SSD, ReFS against \
     NTFS; there, database reads took 23 % longer, writes 63 %, log writes 40 %";

pub(super) fn file_system(root: &mut Keys<'_, '_>) -> FileSystem {
    let mut keys = root.below("file_system");
    let name = one_of(&mut keys, "name", FILE_SYSTEMS);
    let encryption = one_of(&mut keys, "encryption", ENCRYPTIONS);
    let measurement = keys.choice("measured").unwrap_or(Measurement::None);
    let measured = match (measurement, name.as_str(), encryption.as_str()) {
        (Measurement::None, ..) | (_, "NTFS", "none") => 1.0,
        (Measurement::Ssd2013, "ReFS", "none") => 0.87,
        (Measurement::Ssd2013, "ReFS", "BitLocker") => 0.86,
        (Measurement::Ssd2013, ..) => {
            let message = "covers NTFS and ReFS alone or ReFS with BitLocker; remove it, and give \
                           `iops_factor` from a run of your own";
            keys.conflict("measured", message);
            1.0
        }
    };
    let iops_factor = keys.number("iops_factor", measured, (0.01, 10.0));
    let processor_factor = keys.number("processor_factor", 1.0, (0.01, 10.0));
    let own = (iops_factor - measured).abs() > 1e-9 || (processor_factor - 1.0).abs() > 1e-9;
    let source = match (own, measurement) {
        (true, _) => "given",
        (false, Measurement::None) => "no factor; measure your own with `plimsoll run`",
        (false, Measurement::Ssd2013) => SSD_2013,
    };
    let source = source.to_owned();
    let system = FileSystem { name, encryption, iops_factor, processor_factor, source };
    keys.finish();
    system
}

/// The value of `key`, the first choice if it is absent or invalid.
fn one_of(keys: &mut Keys<'_, '_>, key: &'static str, choices: &'static [&'static str]) -> String {
    let given = keys.take::<String>(key);
    if let Some(given) = given.filter(|given| !choices.contains(&given.value.as_str())) {
        keys.not_a_choice(&given, choices);
    } else if let Some(given) = keys.take::<String>(key) {
        return given.value;
    }
    choices[0].to_owned()
}
