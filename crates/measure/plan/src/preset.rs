//! The loads that a plan may name: those of the original tool's versions, each a data file that
//! states the source of its values.

use std::fmt;

use crate::low;

/// A load by name. Keys of the plan override its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Jetstress 2010: nearly every update waits for the log on its own.
    Exchange2010,
    /// Jetstress 2013: few and long log writes. The default.
    Exchange2013,
}

impl Preset {
    /// The words a plan uses, in the order of [`Preset::ALL`].
    pub(crate) const NAMES: &'static [&'static str] = &["exchange2010", "exchange2013"];

    /// Every preset.
    pub(crate) const ALL: [Self; 2] = [Self::Exchange2010, Self::Exchange2013];

    /// The preset of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name)?;
        Self::ALL.get(index).copied()
    }

    /// The word a plan uses.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Its contents: a part of a plan, with every key of the load.
    pub(crate) fn document(self) -> low::Document {
        let text = match self {
            Self::Exchange2010 => include_str!("presets/exchange2010.toml"),
            Self::Exchange2013 => include_str!("presets/exchange2013.toml"),
        };
        let mut complaints = Vec::new();
        let document = low::read(text, &mut complaints);
        assert!(complaints.is_empty(), "a preset is a part of a plan");
        document.expect("invariant: a preset is TOML")
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Preset;
    use crate::Plan;

    const SHORT: &str = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n";

    fn plan(head: &str, tail: &str) -> Plan {
        Plan::parse("test", &format!("{head}{SHORT}{tail}")).unwrap()
    }

    #[test]
    fn every_preset_makes_a_plan_that_names_it() {
        for preset in Preset::ALL {
            let plan = plan(&format!("preset = \"{preset}\"\n"), "");
            assert_eq!(plan.preset, preset);
        }
        assert_eq!(plan("", "").preset, Preset::Exchange2013);
    }

    #[test]
    fn the_presets_differ_where_the_versions_do() {
        let [old, new] = ["exchange2010", "exchange2013"]
            .map(|name| plan(&format!("preset = \"{name}\"\n"), ""));
        assert_eq!(old.test.maintenance_throttle, Some(Nanos::from_millis(20)));
        assert_eq!(new.test.maintenance_throttle, Some(Nanos::from_millis(100)));
        assert_eq!((old.workload.commits_per_batch, new.workload.commits_per_batch), (16, 7));
    }

    #[test]
    fn keys_of_the_plan_override_the_preset() {
        let keys = "[workload]\nlazy_commits = 90\ncommits_per_batch = 3\n";
        let plan = plan("preset = \"exchange2010\"\n", keys);
        assert_eq!(plan.workload.mix.lazy_commits, 90);
        assert_eq!(plan.workload.commits_per_batch, 3);
        assert_eq!(plan.workload.mix.insert, 40);
    }

    #[test]
    fn a_small_batch_has_no_more_commits_than_updates() {
        let plan = plan("", "[workload]\nbatch_updates = 2\n");
        assert_eq!(plan.workload.commits_per_batch, 2);
    }
}
