//! The keys of a plan, for schemas: a view of the table that reading, writing and the example use.

use super::SECTIONS;

/// A key of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanKey {
    /// Its section; empty for keys before the first section.
    pub section: &'static str,
    /// Whether the section may occur several times.
    pub is_repeated: bool,
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub holds: Holds,
    /// Its remarks in the example; may be empty.
    pub remarks: String,
}

/// Type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Text.
    Text,
    /// Several texts.
    Texts,
    /// Several numbers.
    Numbers,
    /// A size, such as `512MiB`.
    Size,
    /// A duration, such as `90s`.
    Span,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// An integer, or `auto`.
    WholeOrAuto,
}

/// Every key, in the order of the example.
pub fn plan_keys() -> Vec<PlanKey> {
    let mut keys = Vec::new();
    for section in &SECTIONS {
        keys.extend(section.keys.iter().map(|key| PlanKey {
            section: section.key(),
            is_repeated: section.title.starts_with("[["),
            name: key.name,
            holds: Holds::of(key.holds),
            remarks: key.remarks.join(" "),
        }));
    }
    keys
}

impl Holds {
    /// The type of a field with this Rust type.
    fn of(field: &str) -> Self {
        match field {
            "One<String>" => Self::Text,
            "List<String>" => Self::Texts,
            "List<f64>" => Self::Numbers,
            "One<Bytes>" => Self::Size,
            "One<Nanos>" => Self::Span,
            "One<i128>" => Self::Whole,
            "One<f64>" => Self::Number,
            "One<bool>" => Self::Flag,
            "One<NumberOrAuto>" => Self::WholeOrAuto,
            other => panic!("no key of a plan holds {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Holds, plan_keys};

    #[test]
    fn every_key_holds_something_known() {
        let keys = plan_keys();
        let find = |section, name| {
            let mut found = keys.iter().filter(|key| key.section == section && key.name == name);
            found.next().unwrap().holds
        };
        assert_eq!(find("", "seed"), Holds::Whole);
        assert_eq!(find("databases", "folders"), Holds::Texts);
        assert_eq!(find("databases", "weights"), Holds::Numbers);
        assert_eq!(find("test", "type"), Holds::Text);
        assert_eq!(find("workload", "threads"), Holds::WholeOrAuto);
        assert!(keys.iter().any(|key| key.section == "database" && key.is_repeated));
    }
}
