//! The sizing formulas written a second time, from the published facts about the workbook alone:
//! plain numbers, no traces, nothing from the crate `sizing`. A slip in one of the two calculations
//! shows up as a difference over thousands of drawn deployments; only a mistake in both escapes.
//!
//! The arithmetic follows the mode that reproduces the workbook, whose formulas are published.

#![expect(clippy::float_cmp, reason = "counts are whole, or the same sums")]

mod databases;
mod disks;
mod failures;
mod given;
mod network;
mod servers;
mod space;
mod tiers;

use std::collections::BTreeMap;

use plan::Deployment;

use databases::Databases;
use failures::FailureLoads;
use given::GivenInputs;
use space::StoredSpace;
use tiers::Tiers;

/// A value of the second calculation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Again {
    /// A number.
    Number(f64),
    /// A decision, as the word that the workbook shows.
    Word(&'static str),
}

/// Values by the names of their keys.
#[derive(Debug, Default)]
pub(super) struct Values(BTreeMap<String, Again>);

impl Values {
    fn put(&mut self, key: impl Into<String>, value: f64) {
        self.0.insert(key.into(), Again::Number(value));
    }

    /// Stores an optional value; `None` becomes 0, which counts as equal to no value.
    fn may(&mut self, key: impl Into<String>, value: Option<f64>) {
        self.put(key, value.unwrap_or(0.0));
    }

    fn word(&mut self, key: &str, word: &'static str) {
        self.0.insert(key.to_owned(), Again::Word(word));
    }

    /// Whether a volume holds three or more databases while their logs are separate.
    pub(super) fn is_full_set(&self) -> bool {
        let several = matches!(
            self.0.get("vol.dbs_per_volume"),
            Some(Again::Number(count)) if *count >= 3.0
        );
        several && self.0.get("vol.db_log_isolated") == Some(&Again::Word("Yes"))
    }

    /// All values by key.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, Again)> {
        self.0.iter().map(|(key, value)| (key.as_str(), *value))
    }
}

/// Every value of a deployment for which the facts give a formula.
pub(super) fn values(deployment: &Deployment) -> Values {
    let mut values = Values::default();
    let given = GivenInputs::of(deployment);
    let tiers = Tiers::of(&given, &mut values);
    let databases = Databases::of(&given, &tiers, &mut values);
    let failures = FailureLoads::of(&given, &databases, &mut values);
    let space = StoredSpace::of(&given, &tiers, &databases, &mut values);
    disks::disks(&given, &tiers, &databases, (&failures, &space), &mut values);
    servers::servers(&given, &tiers, (&databases, &failures), &mut values);
    network::network(&given, &databases, &space, &mut values);
    values
}

/// Rounds up to a whole number, ignoring rounding error in the last digit.
fn up(value: f64) -> f64 {
    (value - error(value)).ceil()
}

/// Rounds down to a whole number, ignoring rounding error in the last digit.
fn down(value: f64) -> f64 {
    (value + error(value)).floor()
}

/// Rounds to the nearest whole number, halves up.
fn round(value: f64) -> f64 {
    (value + 0.5 + error(value)).floor()
}

/// `value` rounded up to a multiple of `step`.
fn multiple(value: f64, step: f64) -> f64 {
    let steps = up(value / step);
    (if value > 0.0 { steps.max(1.0) } else { steps }) * step
}

fn error(value: f64) -> f64 {
    1e-9 * value.abs().max(1.0)
}

/// The value at the largest key of the table that is not above `count`.
fn looked_up(table: &[(f64, f64)], count: f64) -> f64 {
    let row = table.iter().rev().find(|(from, _)| *from <= count + error(count));
    row.or(table.first()).map_or(1.0, |row| row.1)
}
