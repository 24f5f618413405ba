//! Whether help and messages are coloured, read before the command line is parsed because parse
//! errors are coloured too.

use std::ffi::OsStr;

use clap::{ColorChoice, ValueEnum};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// Returns the choice on the command line; the parser validates the value later.
pub(super) fn asked_for<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> ColorChoice {
    let words: Vec<&OsStr> = words.into_iter().take_while(|word| *word != "--").collect();
    let together = words.iter().filter_map(|word| word.to_str()?.strip_prefix("--color="));
    let apart =
        words.windows(2).filter(|pair| pair[0] == "--color").filter_map(|pair| pair[1].to_str());
    match together.chain(apart).last() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use clap::ColorChoice;

    use super::asked_for;

    #[test]
    fn the_last_word_counts_and_what_follows_two_dashes_does_not() {
        let of = |line: &str| asked_for(line.split(' ').map(OsStr::new));
        assert_eq!(of("plimsoll --color always run"), ColorChoice::Always);
        assert_eq!(of("plimsoll run --color=always --color=never"), ColorChoice::Never);
        assert_eq!(of("plimsoll run -- --color=never"), ColorChoice::Auto);
        assert_eq!(of("plimsoll run"), ColorChoice::Auto);
    }
}
