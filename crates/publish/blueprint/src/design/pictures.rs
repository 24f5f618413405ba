//! Pictures of a sizing as inline SVG: use of a volume, and effects of failures on a server.

use std::borrow::Cow;
use std::fmt::Write as _;

use report::document::Picture;
use report::escape;
use sizing::{Build, FailureMode, Key, ServerKind};
use units::three_digits;

use super::Sized;

/// Width of a picture in its own units.
const WIDTH: f64 = 720.0;
/// Leftmost start of bars, right of their labels.
const LEFT: f64 = 190.0;
/// Average width of a label's character in the widest likely font.
const CHARACTER: f64 = 6.6;
/// Maximum number of characters that fit for a name.
const LONGEST_NAME: usize = 40;
/// Height of a bar with the gap below it.
const STEP: f64 = 26.0;

/// A part of a bar: words, length, class of its colour.
pub(crate) type PicturePart = (&'static str, f64, &'static str);

/// The uses of a database volume, against its disk; `None` if any part is unknown.
pub(super) fn capacity(sized: Sized<'_>) -> Option<Picture> {
    let sizing = sized.sizing;
    let count = sizing.number(Key::VolumeDbsPerVolume)?;
    let databases = count * sizing.number(Key::DatabaseSizeWithOverheadGb)?;
    let volume = sizing.number(Key::VolumeDbVolumeGb)?;
    let apart = sizing.architecture.logs_apart;
    let logs = if apart { 0.0 } else { count * sizing.number(Key::LogSpaceGbPerDb)? };
    let free = volume * sized.deployment.data.volume_free_space;
    let index = (volume - databases - logs - free).max(0.0);
    let parts: [PicturePart; 4] = [
        ("databases", databases, "ink-read"),
        ("index, merge and room to restore", index, "ink-log"),
        ("logs", logs, "ink-write"),
        ("free", free, "ink-tail"),
    ];
    let mut bars = vec![("a database volume, GiB", parts.to_vec())];
    // A volume of a RAID set may be larger than a disk.
    if sizing.architecture.first == Build::Jbod {
        let disk = sizing.number(Key::DiskFormattedGb(ServerKind::First))?;
        bars.push(("a disk, formatted, GiB", vec![("disk", disk, "ink-tail")]));
    }
    let svg = bars_svg("Capacity of a database volume by use", &bars);
    let legend =
        parts.iter().filter(|part| part.1 > 0.0).map(|part| (part.2, part.0.to_owned())).collect();
    Some(Picture::wide("What lies on a database volume".to_owned(), svg, legend))
}

/// Active databases of the busiest server in each failure mode, against its copies; `None` if those
/// are not known.
pub(super) fn failures(sized: Sized<'_>) -> Option<Picture> {
    let copies = sized.sizing.number(Key::ServerDbCopies(ServerKind::First))?;
    let bars = FailureMode::LISTED.iter().filter_map(|&mode| {
        let active = sized.sizing.number(Key::FailureActive(mode))?;
        let passive = (copies - active).max(0.0);
        let parts: Vec<PicturePart> =
            vec![("active", active, "ink-read"), ("passive", passive, "ink-tail")];
        Some((mode.title(), parts))
    });
    let legend = [("ink-read", "active"), ("ink-tail", "passive")];
    let legend = legend.map(|(class, text)| (class, text.to_owned())).to_vec();
    let svg = bars_svg("Active databases in each failure mode", &bars.collect::<Vec<_>>());
    Some(Picture::wide("Databases of the busiest server".to_owned(), svg, legend))
}

/// Stacked horizontal bars on a common scale.
pub(crate) fn bars_svg(said: &str, bars: &[(impl AsRef<str>, Vec<PicturePart>)]) -> String {
    let longest = bars.iter().map(|(_, parts)| length(parts)).fold(1e-9, f64::max);
    let names: Vec<_> = bars.iter().map(|(label, _)| named(label.as_ref())).collect();
    let begin = left_of(names.iter().map(|name| &**name), LEFT);
    let scale = (WIDTH - begin - 70.0) / longest;
    let height = STEP * bars.len() as f64 + 4.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(said)
    );
    for (index, ((_, parts), label)) in bars.iter().zip(&names).enumerate() {
        let top = STEP * index as f64 + 4.0;
        let middle = top + 13.0;
        let label = escape(label);
        let _ = write!(svg, "<text x=\"0\" y=\"{middle}\">{label}</text>");
        let mut left = begin;
        for (what, size, class) in parts {
            let width = size * scale;
            let hint = format!("{what}: {}", three_digits(*size));
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" \
                 height=\"18\" stroke=\"none\"><title>{}</title></rect>",
                escape(&hint)
            );
            left += width;
        }
        let total = three_digits(length(parts));
        let _ = write!(svg, "<text x=\"{:.1}\" y=\"{middle}\">{total}</text>", left + 6.0);
    }
    svg + "</svg>"
}

/// A name, shortened if it would leave no room for its bar.
pub(super) fn named(name: &str) -> Cow<'_, str> {
    units::shortened(name, LONGEST_NAME)
}

/// Left edge of a picture, at least `least`, so that it does not cover its names.
pub(super) fn left_of<'n>(names: impl Iterator<Item = &'n str>, least: f64) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    least.max(longest as f64 * CHARACTER + 8.0)
}

fn length(parts: &[PicturePart]) -> f64 {
    parts.iter().map(|part| part.1).sum()
}
