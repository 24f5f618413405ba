//! Facts that only the vendor knows: a small TOML file, in which empty values count as missing.

use std::fmt;

use serde::Deserialize;

use crate::paper::{Wanted, Words};

const TEMPLATE: &str = include_str!("vendor.toml");

/// A vendor's file with every key and nothing in it, ready to be filled in.
pub const fn template() -> &'static str {
    TEMPLATE
}

/// A vendor's file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vendor {
    pub(crate) cover: CoverPart,
    pub(crate) text: TextPart,
    pub(crate) customer: CustomerPart,
    pub(crate) configuration: ConfigurationPart,
    pub(crate) hardware: HardwarePart,
    pub(crate) software: SoftwarePart,
    pub(crate) disks: Vec<DiskGroup>,
    /// Pictures, in the order in which [`crate::paper`] takes them.
    pub figures: Vec<FigureFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CoverPart {
    pub vendor: String,
    pub solution: String,
    pub customer: String,
    pub author: String,
    pub exchange_version: String,
    pub program_version: String,
    pub date: String,
    pub part_number: String,
    pub contact: String,
    pub legal: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TextPart {
    pub features: String,
    pub description: String,
    pub provisioning: Vec<String>,
    pub best_practices: Vec<String>,
    pub backup_strategy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CustomerPart {
    pub mailboxes: u64,
    pub servers: u64,
    pub messages_per_day: u64,
    pub maintenance: String,
    pub arrays: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConfigurationPart {
    pub availability_groups: u64,
    pub servers_per_group: u64,
    pub active_mailboxes_per_server: u64,
    pub iops_per_mailbox: f64,
    pub mailbox_size: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HardwarePart {
    pub connectivity: String,
    pub model_and_firmware: String,
    pub controllers: String,
    pub ports: String,
    pub bandwidth_to_host: String,
    pub switch: String,
    pub host_adapter: String,
    pub host_adapters_per_host: u64,
    pub server: String,
    pub disks_tested: u64,
    pub most_disks: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SoftwarePart {
    pub host_adapter_driver: String,
    pub queue_target: String,
    pub queue_depth: String,
    pub multipathing: String,
    pub replication: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DiskGroup {
    pub purpose: DiskPurpose,
    pub kind: String,
    pub firmware: String,
    pub capacity_gb: f64,
    pub count: u64,
    pub layout: String,
    pub raid: String,
    pub formatted_gb: f64,
}

/// Contents of disks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiskPurpose {
    #[default]
    Databases,
    Logs,
}

/// A picture supplied by the vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FigureFile {
    pub(crate) place: FigurePlace,
    pub(crate) caption: String,
    /// A PNG file, relative to the folder of the vendor's file.
    pub file: String,
}

/// Place of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FigurePlace {
    #[default]
    Architecture,
    Layout,
}

/// Why a vendor's file was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VendorError {
    /// It is not TOML, or has an unknown key.
    Unreadable(String),
    /// An impossible number.
    Impossible {
        /// The key.
        key: &'static str,
        /// The value found.
        value: String,
    },
}

impl fmt::Display for VendorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(
                f,
                "{why}; `plimsoll report --vendor-template` prints every key that there is"
            ),
            Self::Impossible { key, value } => {
                write!(f, "{key} is {value}; give a number above 0, or 0 where it is not known")
            }
        }
    }
}

impl std::error::Error for VendorError {}

impl Vendor {
    /// Disks of the tested solution: as stated, else those of all groups.
    pub(crate) fn disks_tested(&self) -> u64 {
        match self.hardware.disks_tested {
            0 => self.disks.iter().map(|group| group.count).sum(),
            stated => stated,
        }
    }

    /// Reads a vendor's file.
    pub fn parse(text: &str) -> Result<Self, VendorError> {
        let vendor: Self = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        let mut numbers =
            vec![("configuration.iops_per_mailbox", vendor.configuration.iops_per_mailbox)];
        for group in &vendor.disks {
            numbers.push(("disks.capacity_gb", group.capacity_gb));
            numbers.push(("disks.formatted_gb", group.formatted_gb));
        }
        match numbers.into_iter().find(|(_, value)| !value.is_finite() || *value < 0.0) {
            Some((key, value)) => Err(VendorError::Impossible { key, value: value.to_string() }),
            None => Ok(vendor),
        }
    }

    /// The disks that hold one kind of file.
    pub(crate) fn disks_of(&self, purpose: DiskPurpose) -> Option<&DiskGroup> {
        self.disks.iter().find(|group| group.purpose == purpose)
    }
}

fn unreadable(text: &str, error: &toml::de::Error) -> VendorError {
    let begin = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..begin).unwrap_or_default().matches('\n').count() + 1;
    VendorError::Unreadable(format!("line {line}: {}", error.message()))
}

/// The vendor's text under a key.
pub(crate) fn text(value: &str, what: &'static str, key: &'static str) -> Words {
    let value = value.trim();
    let said = (!value.is_empty()).then(|| value.to_owned());
    Words::or_missing(said, what, Wanted::Key(key))
}

/// The count that the vendor wrote under a key.
pub(crate) fn count(value: u64, what: &'static str, key: &'static str) -> Words {
    let said = (value > 0).then(|| units::thousands(value));
    Words::or_missing(said, what, Wanted::Key(key))
}

/// The paragraphs that the vendor wrote under a key.
pub(crate) fn paragraphs(value: &str, what: &'static str, key: &'static str) -> Vec<Words> {
    let said: Vec<Words> = value
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .map(Words::Said)
        .collect();
    or_one_gap(said, what, key)
}

/// The points that the vendor wrote under a key.
pub(crate) fn points(values: &[String], what: &'static str, key: &'static str) -> Vec<Words> {
    let said = values.iter().map(|point| point.trim()).filter(|point| !point.is_empty());
    or_one_gap(said.map(Words::said).collect(), what, key)
}

fn or_one_gap(said: Vec<Words>, what: &'static str, key: &'static str) -> Vec<Words> {
    if said.is_empty() {
        return vec![Words::Missing { what, wanted: Wanted::Key(key) }];
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{Vendor, VendorError, paragraphs, template};
    use crate::paper::Words;

    #[test]
    fn the_template_is_a_file_that_says_nothing() {
        let read = Vendor::parse(template());
        let empty = Vendor { disks: vec![super::DiskGroup::default()], ..Vendor::default() };
        assert_eq!(read, Ok(empty));
    }

    #[test]
    fn a_wrong_key_or_number_is_refused_by_name() {
        let refused = |text: &str| Vendor::parse(text).map_err(|error| error.to_string());
        let said = refused("[cover]\ncolour = \"blue\"\n");
        assert!(said.is_err_and(|said| said.contains("colour") && said.contains("template")));
        let said = refused("[[disks]]\ncapacity_gb = -1.0\n");
        assert!(said.is_err_and(|said| said.starts_with("disks.capacity_gb is -1")));
        let infinite = Vendor::parse("[configuration]\niops_per_mailbox = inf\n");
        assert!(matches!(infinite, Err(VendorError::Impossible { .. })));
    }

    #[test]
    fn blank_lines_part_paragraphs() {
        let said = paragraphs("one\ntwo\n\nthree\n", "text", "text.features");
        assert_eq!(said, [Words::said("one two"), Words::said("three")]);
        assert!(paragraphs(" \n\n", "text", "text.features")[0].is_missing());
    }
}
