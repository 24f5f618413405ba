//! A quantity over the time of a run: rates start at zero; latencies use a logarithmic axis, which
//! keeps both a mean and its tail readable.

use std::fmt::Write as _;

use super::frame::{ChartFrame, path};
use super::scale::{Scale, logarithmic_ticks, round_ticks, time_ticks};
use super::{ChartLine, HeatMap, Threshold};
use crate::document::Picture;
use crate::format;
use crate::html::escape;

/// A chart over time; points are seconds since the start of the run and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeChart {
    /// Its title.
    pub title: String,
    /// A sentence with numbers, as the text alternative for readers who cannot see it.
    pub description: String,
    /// Its glossary entry.
    pub metric: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Whether the vertical axis is logarithmic; else it begins at zero.
    pub logarithmic: bool,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
    /// The lines, the most important last.
    pub lines: Vec<ChartLine>,
    /// Lowest and highest value across databases at each time, if there are several.
    pub band: Vec<(f64, f64, f64)>,
    /// A fine line for each of several databases.
    pub each: Vec<Vec<(f64, f64)>>,
    /// Requests by latency at each time, in place of lines.
    pub heat: HeatMap,
    /// Values that must not be exceeded.
    pub thresholds: Vec<Threshold>,
    /// Start and end of each judged part, in order; a run that was resumed has several. If there is
    /// none, everything is judged.
    pub judged: Vec<(f64, f64)>,
    /// Hints by time.
    pub hints: Vec<Hint>,
}

/// Hint shown when pointing at a time.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    /// Start of the time, in seconds since the start of the run.
    pub from: f64,
    /// End of the time, in the same.
    pub to: f64,
    /// The hint.
    pub text: String,
}

impl TimeChart {
    /// The picture; its legend begins with the line drawn last.
    pub(crate) fn picture(self) -> Picture {
        let svg = self.svg();
        let legend = self.lines.iter().rev().map(ChartLine::entry).chain(self.areas()).collect();
        let (title, metric) = (self.title, Some(self.metric));
        Picture { title, metric, is_wide: self.wide, svg, legend }
    }

    /// The picture; `None` if it would be an empty frame: a line needs two points.
    pub(crate) fn drawn(self) -> Option<Picture> {
        let has_line = self.lines.iter().any(|line| line.points().nth(1).is_some());
        (has_line || !self.heat.is_empty()).then(|| self.picture())
    }

    fn svg(&self) -> String {
        let mut frame =
            if self.wide { ChartFrame::new(1_000.0, 250.0) } else { ChartFrame::new(490.0, 240.0) };
        let x = Scale::linear(self.time_range(), frame.across());
        let y = self.vertical_axis(&mut frame);
        self.time_axis(&mut frame, &x);
        self.shade_what_is_not_judged(&mut frame, &x);
        if !self.band.is_empty() {
            frame.add(&self.band_svg(&x, &y));
        }
        frame.add(&self.heat.svg(&x, &y));
        let ink = self.lines.last().map_or("", |line| line.ink.class());
        for points in &self.each {
            let points = path(points, &x, &y);
            frame.add(&format!(r#"<polyline class="line each {ink}" points="{points}"/>"#));
        }
        for line in &self.lines {
            frame.line(line, &x, &y);
        }
        frame.thresholds(&self.thresholds, &y);
        self.draw_hints(&mut frame, &x);
        frame.read_by_keyboard();
        frame.finish(&self.title, &self.description)
    }

    /// Class and meaning of the areas behind the lines.
    fn areas(&self) -> Vec<(&'static str, String)> {
        let mut areas = self.heat.legend();
        if let Some(line) = self.lines.last().filter(|_| !self.band.is_empty()) {
            let meaning = "range across databases".to_owned();
            areas.push((line.ink.band_class(), meaning));
        }
        let (from, to) = self.time_range();
        if self.not_judged((from, to)).iter().any(|(begin, end)| end - begin > 1.0) {
            areas.push(("area idle", "not judged".to_owned()));
        }
        areas
    }

    fn time_range(&self) -> (f64, f64) {
        let times = self.lines.iter().flat_map(ChartLine::points).map(|point| point.0);
        let times = times.chain(self.hints.iter().flat_map(|hint| [hint.from, hint.to]));
        let (low, high) =
            times.fold((f64::MAX, f64::MIN), |(low, high), time| (low.min(time), high.max(time)));
        if low < high { (low, high) } else { (0.0, 1.0) }
    }

    /// Whether a time is in the judged part, which alone determines the scale. A warm-up at full
    /// speed would flatten the held load that follows, so it is drawn along the edge instead.
    fn is_scaled(&self, time: f64) -> bool {
        let mut judged = self.judged.iter();
        self.judged.is_empty() || judged.any(|(from, to)| (*from..=*to).contains(&time))
    }

    fn vertical_axis(&self, frame: &mut ChartFrame) -> Scale {
        let lines = self.lines.iter().flat_map(ChartLine::points);
        let lines = lines.filter(|point| self.is_scaled(point.0)).map(|point| point.1);
        let band = self.band.iter().filter(|point| self.is_scaled(point.0));
        let band = band.flat_map(|&(_, low, high)| [low, high]);
        let limits = self.thresholds.iter().map(|threshold| threshold.value);
        let heat = self.heat.range(|time| self.is_scaled(time));
        let values = lines.chain(band).chain(limits).chain(heat);
        let positive = values.filter(|&value| value > 0.0);
        let (low, high) = positive
            .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let ticks = if self.logarithmic {
            logarithmic_ticks(low.min(1e6), high)
        } else {
            round_ticks(high * 1.04, 4)
        };
        let ends = (ticks[0], ticks[ticks.len() - 1]);
        let scale = if self.logarithmic {
            Scale::logarithmic(ends, frame.upward())
        } else {
            Scale::linear(ends, frame.upward())
        };
        frame.vertical_axis(self.unit, &scale, &labelled(&ticks));
        scale
    }

    fn time_axis(&self, frame: &mut ChartFrame, x: &Scale) {
        let (from, to) = self.time_range();
        let wanted = if self.wide { 12.0 } else { 6.0 };
        let labelled: Vec<(f64, String)> = time_ticks(from, to, wanted)
            .into_iter()
            .map(|tick| (tick, format::offset(nanoseconds(tick))))
            .collect();
        frame.horizontal_axis(x, &labelled);
    }

    /// The parts of `whole` before, between and after the judged ones.
    fn not_judged(&self, whole: (f64, f64)) -> Vec<(f64, f64)> {
        let (Some(first), Some(last)) = (self.judged.first(), self.judged.last()) else {
            return Vec::new();
        };
        let between = self.judged.windows(2).map(|two| (two[0].1, two[1].0));
        [(whole.0, first.0)].into_iter().chain(between).chain([(last.1, whole.1)]).collect()
    }

    fn shade_what_is_not_judged(&self, frame: &mut ChartFrame, x: &Scale) {
        let (left, right) = frame.across();
        let (bottom, top) = frame.upward();
        for (from, to) in self.not_judged(self.time_range()) {
            let (begin, end) = (x.place(from).max(left), x.place(to).min(right));
            if end - begin < 1.0 {
                continue;
            }
            let (width, height) = (end - begin, bottom - top);
            frame.add(&format!(
                "<rect class=\"idle\" x=\"{begin:.1}\" y=\"{top:.1}\" \
                 width=\"{width:.1}\" height=\"{height:.1}\"/>"
            ));
            if width > 60.0 && begin <= left {
                frame.text(begin + 6.0, top + 12.0, "start", "axis", "warm-up");
            }
        }
    }

    fn band_svg(&self, x: &Scale, y: &Scale) -> String {
        let highs = self.band.iter().map(|&(time, _, high)| (time, high));
        let lows = self.band.iter().rev().map(|&(time, low, _)| (time, low));
        let outline: Vec<(f64, f64)> = highs.chain(lows).collect();
        let ink = self.lines.last().map_or("", |line| line.ink.class());
        let points = path(&outline, x, y);
        format!(r#"<polygon class="band {ink}" points="{points}"/>"#)
    }

    /// Draws invisible strips with a title for the reader's browser; the page's script turns them
    /// into a crosshair.
    fn draw_hints(&self, frame: &mut ChartFrame, x: &Scale) {
        let (bottom, top) = frame.upward();
        let mut svg = String::from(r#"<g class="hints">"#);
        for hint in &self.hints {
            let (from, to) = (x.place(hint.from), x.place(hint.to));
            let (width, height) = (to - from, bottom - top);
            let text = escape(&hint.text);
            let _ = write!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"{height:.0}\" \
                 data-at=\"{:.0}\"><title>{text}</title></rect>",
                hint.from
            );
        }
        svg.push_str("</g>");
        frame.add(&svg);
    }
}

/// Axis values with their labels, without unneeded digits.
pub(super) fn labelled(ticks: &[f64]) -> Vec<(f64, String)> {
    ticks.iter().map(|&tick| (tick, label(tick))).collect()
}

fn label(value: f64) -> String {
    // A tick of 1.5 or 0.15 has one digit more than its size suggests.
    let exact = [1.0, 10.0, 100.0].into_iter().position(|factor| {
        let shifted: f64 = value * factor;
        shifted.round() > 0.0 && (shifted - shifted.round()).abs() < 1e-6 * shifted
    });
    let decimals = if value == 0.0 { 0 } else { exact.unwrap_or(3) };
    format::number(value, decimals)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a run are not negative and far below 2^53"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::{TimeChart, label};
    use crate::chart::{ChartLine, Ink};

    #[test]
    fn a_tick_has_the_digits_that_set_it_apart_from_its_neighbours() {
        for (tick, text) in [
            (0.0, "0"),
            (0.002, "0.002"),
            (0.1 + 0.05, "0.15"),
            (0.2, "0.2"),
            (3.0 * 0.1, "0.3"),
            (3.0 * 0.5, "1.5"),
            (2.0, "2"),
            (15_000.0, "15,000"),
        ] {
            assert_eq!(label(tick), text);
        }
    }

    #[test]
    fn a_frame_without_a_line_is_not_drawn() {
        let chart = |points| {
            let lines = vec![ChartLine::new("IOPS", Ink::Total, points)];
            TimeChart { lines, ..TimeChart::default() }.drawn()
        };
        assert!(chart(vec![(1.0, 5.0)]).is_none());
        assert!(chart(vec![(1.0, 5.0), (2.0, 6.0)]).is_some());
    }

    #[test]
    fn a_fast_warm_up_does_not_flatten_the_measured_part() {
        let points = vec![(0.0, 12_000.0), (10.0, 12_000.0), (20.0, 48.0), (30.0, 50.0)];
        let lines = vec![ChartLine::new("IOPS", Ink::Total, points)];
        let svg = |judged| TimeChart { lines: lines.clone(), judged, ..TimeChart::default() }.svg();
        let whole = svg(Vec::new());
        assert!(whole.contains(">15,000</text>"), "{whole}");
        let judged = svg(vec![(15.0, 30.0)]);
        assert!(judged.contains(">60</text>") && !judged.contains("000</text>"), "{judged}");
    }

    #[test]
    fn a_run_that_was_resumed_is_judged_before_and_after_its_break() {
        let points = vec![(0.0, 4_000.0), (20.0, 48.0), (40.0, 1_200.0), (60.0, 500.0)];
        let lines = vec![ChartLine::new("IOPS", Ink::Total, points)];
        let judged = vec![(10.0, 30.0), (45.0, 60.0)];
        let chart = TimeChart { lines, judged, ..TimeChart::default() };
        let parts = chart.not_judged((0.0, 60.0));
        assert_eq!(parts, [(0.0, 10.0), (30.0, 45.0), (60.0, 60.0)]);
        let svg = chart.svg();
        assert_eq!(svg.matches("class=\"idle\"").count(), 2);
        assert!(svg.contains(">600</text>") && !svg.contains("000</text>"), "{svg}");
    }
}
