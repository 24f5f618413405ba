//! What the tools of all makers have in common: sizes with binary units, and lines of a name, a
//! colon and a value under an indentation.

/// Bytes of a size such as `2048MB`, `256 KB` or `8.000 GB`: these tools count in powers of two
/// whatever they call them.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "B" | "" => 0,
        "KB" | "K" => 10,
        "MB" | "M" => 20,
        "GB" | "G" => 30,
        "TB" | "T" => 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction_bytes = match fraction {
        "" => 0,
        digits if digits.len() > 6 => return None,
        digits => {
            (digits.parse::<u64>().ok()? << shift)
                / [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000][digits.len()]
        }
    };
    whole.parse::<u64>().ok()?.checked_mul(1 << shift)?.checked_add(fraction_bytes)
}

/// A line of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputLine<'a> {
    /// Blanks in front.
    pub indent: usize,
    /// The text without them.
    pub text: &'a str,
    /// What stands before the first colon that a blank follows, or that ends the line.
    pub name: &'a str,
    /// What stands behind it; empty where there is no colon.
    pub value: &'a str,
}

/// The lines of an output that are not empty.
pub(super) fn lines(output: &str) -> impl Iterator<Item = OutputLine<'_>> {
    output.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        let (name, value) = match text.split_once(": ") {
            Some((name, value)) => (name.trim(), value.trim()),
            None => (text.strip_suffix(':').unwrap_or(text).trim(), ""),
        };
        OutputLine { indent, text, name, value }
    })
}

/// What words for a switch say; none where they say neither.
pub(super) fn switch(words: &str) -> Option<bool> {
    let words = words.trim().to_ascii_lowercase();
    match words.split(|c: char| !c.is_ascii_alphabetic()).next()? {
        "enabled" | "enable" | "on" | "yes" | "true" => Some(true),
        "disabled" | "disable" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{lines, size_bytes, switch};

    #[test]
    fn sizes_are_binary() {
        for (text, bytes) in [
            ("2048MB", Some(2 << 30)),
            ("256 KB", Some(256 << 10)),
            ("1.000 MB", Some(1 << 20)),
            ("8.000 GB", Some(8 << 30)),
            ("512B", Some(512)),
            ("N/A", None),
            ("", None),
            ("1e400 GB", None),
        ] {
            assert_eq!(size_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_line_is_split_at_the_colon_behind_its_name() {
        let line = |text| lines(text).next().unwrap();
        let plain = line("   Cache Ratio: 10% Read / 90% Write\n");
        assert_eq!(
            (plain.indent, plain.name, plain.value),
            (3, "Cache Ratio", "10% Read / 90% Write")
        );
        let aligned = line("   Write-cache mode                         : Enabled (write-back)");
        assert_eq!((aligned.name, aligned.value), ("Write-cache mode", "Enabled (write-back)"));
        let disk = line("physicaldrive 5I:1:1 (port 5I:box 1:bay 1, SAS, 600 GB, OK)");
        assert_eq!((disk.name, disk.value), (disk.text, ""));
        assert_eq!(line("  Array:").name, "Array");
        assert_eq!(lines("\n \n").count(), 0);
    }

    #[test]
    fn a_switch_is_on_off_or_neither() {
        assert_eq!(switch("Enabled (write-back)"), Some(true));
        assert_eq!(switch("Disabled"), Some(false));
        assert_eq!(switch("Configurable"), None);
    }
}
