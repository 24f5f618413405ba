//! The built-in arrays: the files of `arrays/`.

/// Names and files.
const ARRAYS: &[(&str, &str)] = &[
    ("cloud-gp3", include_str!("../../arrays/cloud-gp3.toml")),
    ("cloud-premium-p30", include_str!("../../arrays/cloud-premium-p30.toml")),
    ("disk-7200", include_str!("../../arrays/disk-7200.toml")),
    ("nvme", include_str!("../../arrays/nvme.toml")),
    ("shelf-10k", include_str!("../../arrays/shelf-10k.toml")),
    ("shelf-15k", include_str!("../../arrays/shelf-15k.toml")),
    ("shelf-nvme", include_str!("../../arrays/shelf-nvme.toml")),
    ("shelf-sata", include_str!("../../arrays/shelf-sata.toml")),
    ("ssd-sata", include_str!("../../arrays/ssd-sata.toml")),
    ("vnxe3300", include_str!("../../arrays/vnxe3300.toml")),
];

/// Returns the file of the array with this name, if it exists.
pub fn text_of(name: &str) -> Option<&'static str> {
    ARRAYS.iter().find(|(of, _)| *of == name).map(|(_, text)| *text)
}

/// The names.
pub fn names() -> Vec<&'static str> {
    ARRAYS.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use simdisk::ArrayDescription;

    /// Each is parsed, and states the source of its numbers.
    #[test]
    fn every_array_that_comes_with_the_program_can_be_simulated() {
        for (name, text) in super::ARRAYS {
            let array = ArrayDescription::parse(name, text, &[]).expect("a description");
            assert!(array.provenance.len() > 40, "{name}");
            let again = ArrayDescription::parse(name, &array.text(), &[]).expect("the same");
            assert_eq!(again, array);
        }
    }
}
