//! Common parts of every chart: a frame with axes, thresholds and lines.

use std::fmt::Write as _;

use super::scale::Scale;
use super::{ChartLine, Threshold};
use crate::html::escape;

/// A picture in the making.
pub(super) struct ChartFrame {
    /// Width in the picture's own units, roughly pixels.
    pub width: f64,
    /// Height in the same.
    pub height: f64,
    body: String,
    takes_focus: bool,
    /// The lines drawn so far, in picture coordinates.
    drawn: Vec<Vec<(f64, f64)>>,
}

/// Approximate width and height of a label's letter.
const LETTER: (f64, f64) = (6.0, 11.0);

/// Left, upper, right and lower edge.
type PlacedBox = [f64; 4];

/// Room for the labels of the vertical axis.
const LEFT: f64 = 46.0;
/// Room for the last label of the horizontal axis.
const RIGHT: f64 = 20.0;
/// Room for the unit.
const TOP: f64 = 26.0;
/// Room for the labels of the horizontal axis.
const BOTTOM: f64 = 26.0;

impl ChartFrame {
    /// An empty frame.
    pub(super) const fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new(), takes_focus: false, drawn: Vec::new() }
    }

    /// Left and right end of the plot.
    pub(super) const fn across(&self) -> (f64, f64) {
        (LEFT, self.width - RIGHT)
    }

    /// Lower and upper end of the plot, in ascending order of values.
    pub(super) const fn upward(&self) -> (f64, f64) {
        (self.height - BOTTOM, TOP)
    }

    /// Adds finished SVG.
    pub(super) fn add(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    /// Draws the vertical axis: its unit, and a fine line across the plot for each value.
    pub(super) fn vertical_axis(&mut self, unit: &str, scale: &Scale, ticks: &[(f64, String)]) {
        let (left, right) = self.across();
        self.text(left - 8.0, TOP - 13.0, "end", "axis", unit);
        for (value, label) in ticks {
            let y = scale.place(*value);
            self.rule("grid", (left, y), (right, y));
            self.text(left - 8.0, y + 3.5, "end", "axis", label);
        }
    }

    /// Draws the horizontal axis: a label for each value.
    pub(super) fn horizontal_axis(&mut self, scale: &Scale, ticks: &[(f64, String)]) {
        let (bottom, _) = self.upward();
        let (left, right) = self.across();
        self.rule("base", (left, bottom), (right, bottom));
        for (value, label) in ticks {
            let x = scale.place(*value);
            self.rule("base", (x, bottom), (x, bottom + 4.0));
            let (place, anchor) =
                if x > right - 16.0 { (right + RIGHT - 2.0, "end") } else { (x, "middle") };
            self.text(place, bottom + 16.0, anchor, "axis", label);
        }
    }

    /// Draws thresholds across the plot, after its lines: each label is at one end of its
    /// threshold, above or below it, clear of lines and other labels if possible.
    pub(super) fn thresholds(&mut self, thresholds: &[Threshold], y: &Scale) {
        let (left, right) = self.across();
        let mut taken: Vec<PlacedBox> = Vec::new();
        for threshold in thresholds {
            let place = y.place(threshold.value);
            let class = if threshold.is_goal { "goal" } else { "limit" };
            self.rule(class, (left, place), (right, place));
            let places = label_places((left, right), place, &threshold.label);
            let free = places.into_iter().find(|(_, _, label)| {
                !taken.iter().any(|other| overlap(*label, *other)) && !self.is_crossed(*label)
            });
            let (x, base, label) = free.unwrap_or(places[0]);
            taken.push(label);
            self.text(x, base, "start", &format!("{class}-label"), &threshold.label);
        }
    }

    /// Whether a line passes through a box.
    fn is_crossed(&self, of: PlacedBox) -> bool {
        let mut pairs = self.drawn.iter().flat_map(|line| line.windows(2));
        pairs.any(|pair| passes(pair[0], pair[1], of))
    }

    /// Draws a line.
    pub(super) fn line(&mut self, line: &ChartLine, x: &Scale, y: &Scale) {
        let class = line.ink.class();
        for piece in &line.pieces {
            let points = path(piece, x, y);
            let _ = write!(self.body, r#"<polyline class="line {class}" points="{points}"/>"#);
            let places = piece.iter().map(|&(across, up)| (x.place(across), y.place(up)));
            self.drawn.push(places.collect());
        }
    }

    /// Draws a straight stroke.
    pub(super) fn rule(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = write!(
            self.body,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// Writes a few words.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let text = escape(text);
        let _ = write!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        );
    }

    /// Makes the picture focusable: its hints can then be read with the arrow keys.
    pub(super) const fn read_by_keyboard(&mut self) {
        self.takes_focus = true;
    }

    /// The picture, with its description for screen readers.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (width, height, body) = (self.width, self.height, self.body);
        let said = escape(&format!("{title}. {description}"));
        let focus = if self.takes_focus { " tabindex=\"0\"" } else { "" };
        format!(
            "<svg role=\"img\" aria-label=\"{said}\"{focus} \
             viewBox=\"0 0 {width:.0} {height:.0}\">{body}</svg>"
        )
    }
}

/// Candidate positions of a threshold's label, with the area it covers there: right or left, above
/// or below.
fn label_places((left, right): (f64, f64), place: f64, label: &str) -> [(f64, f64, PlacedBox); 4] {
    let (letter, height) = LETTER;
    let width = letter * label.chars().count() as f64;
    let sides = [right - 2.0 - width, left + 4.0];
    let bases = [place - 4.0, place + height + 2.0];
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(side, base): (usize, usize)| {
        let (x, base) = (sides[side], bases[base]);
        (x, base, [x, base - height, x + width, base + 2.0])
    })
}

/// Whether the stroke between two points passes through a box. The second point must be to the
/// right of the first.
fn passes(
    (x1, y1): (f64, f64),
    (x2, y2): (f64, f64),
    [left, top, right, bottom]: PlacedBox,
) -> bool {
    let (from, to) = (x1.max(left), x2.min(right));
    if from > to {
        return false;
    }
    let slope = if x2 > x1 { (y2 - y1) / (x2 - x1) } else { 0.0 };
    let ends = [from, to].map(|x| y1 + slope * (x - x1));
    ends[0].min(ends[1]) <= bottom && ends[0].max(ends[1]) >= top
}

fn overlap(one: PlacedBox, other: PlacedBox) -> bool {
    one[0] <= other[2] && other[0] <= one[2] && one[1] <= other[3] && other[1] <= one[3]
}

/// The points in the form of a line's attribute.
pub(super) fn path(points: &[(f64, f64)], x: &Scale, y: &Scale) -> String {
    points
        .iter()
        .map(|&(across, up)| format!("{:.1},{:.1}", x.place(across), y.place(up)))
        .collect::<Vec<String>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::{ChartFrame, Scale};
    use crate::chart::{ChartLine, Ink, Threshold};

    /// Position of the label of a limit of 20 next to a line through these points.
    fn label(points: &[(f64, f64)]) -> String {
        let mut frame = ChartFrame::new(490.0, 240.0);
        let (x, y) =
            (Scale::linear((0.0, 9.0), frame.across()), Scale::linear((0.0, 40.0), frame.upward()));
        let line = ChartLine::new("", Ink::Read, points.to_vec());
        frame.line(&line, &x, &y);
        let limit = Threshold { label: "at most 20 ms".to_owned(), value: 20.0, is_goal: false };
        frame.thresholds(&[limit], &y);
        let svg = frame.finish("", "");
        let at = svg.split("limit-label\" ").nth(1).unwrap();
        at.split(" text-anchor").next().unwrap().to_owned()
    }

    #[test]
    fn a_label_gives_way_to_lines() {
        assert_eq!(label(&[(0.0, 5.0), (9.0, 5.0)]), "x=\"390.0\" y=\"116.0\"", "right, above");
        assert_eq!(label(&[(0.0, 5.0), (9.0, 22.0)]), "x=\"50.0\" y=\"116.0\"", "left, above");
        assert_eq!(label(&[(0.0, 22.0), (9.0, 22.0)]), "x=\"390.0\" y=\"133.0\"", "below");
    }
}
