//! File names of one log stream: the current file, the next one, closed ones, the checkpoint.

use units::Generation;

/// The file names derived from a base such as `E00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogNames {
    base: String,
}

impl LogNames {
    /// Names that begin with `base`, by convention three characters long.
    pub(crate) fn new(base: &str) -> Self {
        Self { base: base.to_owned() }
    }

    /// The file being written.
    pub(crate) fn current(&self) -> String {
        format!("{}.plg", self.base)
    }

    /// The file that is being formatted ahead of its use.
    pub(crate) fn next(&self) -> String {
        format!("{}tmp.plg", self.base)
    }

    /// The file of a complete generation.
    pub(crate) fn closed(&self, generation: Generation) -> String {
        format!("{}{:08X}.plg", self.base, generation.0)
    }

    /// The checkpoint file.
    pub(crate) fn checkpoint(&self) -> String {
        format!("{}.pck", self.base)
    }

    /// The generation in a closed file's name.
    pub(crate) fn closed_generation(&self, name: &str) -> Option<Generation> {
        let digits = name.strip_prefix(self.base.as_str())?.strip_suffix(".plg")?;
        let generation = Generation(u32::from_str_radix(digits, 16).ok()?);
        (self.closed(generation) == name).then_some(generation)
    }
}

#[cfg(test)]
mod tests {
    use super::LogNames;
    use units::Generation;

    #[test]
    fn closed_names_read_back_and_others_do_not() {
        let names = LogNames::new("E00");
        assert_eq!(names.closed(Generation(0xAB)), "E00000000AB.plg");
        assert_eq!(names.closed_generation("E00000000AB.plg"), Some(Generation(0xAB)));
        for other in [
            "E00.plg",
            "E00tmp.plg",
            "E000000AB.plg",
            "E01000000AB.plg",
            "E00000000ab.plg",
            "E00+00000AB.plg",
            "E00000000AB.log",
        ] {
            assert_eq!(names.closed_generation(other), None, "{other}");
        }
    }
}
