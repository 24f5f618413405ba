//! What every chart has: a frame with axes, thresholds and lines.

use std::fmt::Write as _;

use super::scale::Scale;
use super::{ChartLine, Threshold};
use crate::html::escape;

/// A picture in the making.
pub(super) struct ChartFrame {
    /// Width in the picture's own units, which are about pixels.
    pub width: f64,
    /// Height in the same.
    pub height: f64,
    body: String,
}

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
        Self { width, height, body: String::new() }
    }

    /// Left and right end of the plot.
    pub(super) const fn across(&self) -> (f64, f64) {
        (LEFT, self.width - RIGHT)
    }

    /// Lower and upper end of the plot, in the order of rising values.
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

    /// Draws a threshold across the plot.
    pub(super) fn threshold(&mut self, threshold: &Threshold, y: &Scale) {
        let (left, right) = self.across();
        let place = y.place(threshold.value);
        let class = if threshold.is_goal { "goal" } else { "limit" };
        self.rule(class, (left, place), (right, place));
        let label = format!("{class}-label");
        self.text(right - 2.0, place - 4.0, "end", &label, &threshold.label);
    }

    /// Draws a line.
    pub(super) fn line(&mut self, line: &ChartLine, x: &Scale, y: &Scale) {
        let points = path(&line.points, x, y);
        let class = line.ink.class();
        let _ = write!(self.body, r#"<polyline class="line {class}" points="{points}"/>"#);
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

    /// The picture, with what a screen reader says of it.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (width, height, body) = (self.width, self.height, self.body);
        let said = escape(&format!("{title}. {description}"));
        format!(
            "<svg role=\"img\" aria-label=\"{said}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">{body}</svg>"
        )
    }
}

/// Points as the attribute of a line.
pub(super) fn path(points: &[(f64, f64)], x: &Scale, y: &Scale) -> String {
    points
        .iter()
        .map(|&(across, up)| format!("{:.1},{:.1}", x.place(across), y.place(up)))
        .collect::<Vec<String>>()
        .join(" ")
}
