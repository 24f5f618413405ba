//! Commands and keys within a text, which have backticks, as on a terminal.

/// A piece of a text, and whether it is code.
pub(crate) type Piece<'a> = (&'a str, bool);

/// The pieces of `text`; a backtick without a second one is no mark.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, code, after)) = first_code(rest) {
        pieces.extend([(before, false), (code, true)]);
        rest = after;
    }
    pieces.push((rest, false));
    pieces.retain(|(piece, _)| !piece.is_empty());
    pieces
}

fn first_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

/// The text without its marks, for titles and attributes.
pub(crate) fn unmarked(text: &str) -> String {
    pieces(text).into_iter().map(|(piece, _)| piece).collect()
}

#[cfg(test)]
mod tests {
    use super::{pieces, unmarked};

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(
            pieces("A `9000` array, `b`"),
            [("A ", false), ("9000", true), (" array, ", false), ("b", true)]
        );
        assert_eq!(pieces("6` wide"), [("6` wide", false)]);
        assert_eq!(unmarked("A `9000` array"), "A 9000 array");
    }
}
