//! Names of flag bits.

/// The names of the bits that are set, in the order of the table.
pub(crate) fn set_names(bits: u32, table: &[(u32, &'static str)]) -> Vec<&'static str> {
    table.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::set_names;

    #[test]
    fn bits_without_a_name_are_left_out() {
        let table = [(4, "four"), (1, "one")];
        assert_eq!(set_names(0b1101, &table), ["four", "one"]);
        assert!(set_names(0b10, &table).is_empty());
    }
}
