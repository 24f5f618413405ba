//! Results of several runs, over the months in which they were made.

use std::fmt::Write as _;

use super::ChartLine;
use super::frame::ChartFrame;
use super::scale::{Scale, logarithmic_ticks, round_ticks};
use super::timeline::labelled;
use crate::document::Picture;
use crate::format;
use crate::html::escape;

/// Seconds in half a day: a single run is drawn at the centre of a one-day axis.
const HALF_A_DAY: f64 = 43_200.0;

/// Dates along the axis.
const DATES: u32 = 6;

/// A chart of values at dates; points are seconds since 1970 and values.
#[derive(Clone, Debug)]
pub(crate) struct DatesChart {
    /// Its title.
    pub title: &'static str,
    /// A text alternative for readers who cannot see it.
    pub description: String,
    /// Unit of the values.
    pub unit: &'static str,
    /// Whether the vertical axis is logarithmic; else it begins at zero.
    pub logarithmic: bool,
    /// The lines, with a dot for each run.
    pub lines: Vec<ChartLine>,
    /// The hint for each run, in chronological order.
    pub hints: Vec<(f64, String)>,
}

impl DatesChart {
    /// The picture; its legend begins with the line drawn last.
    pub(crate) fn picture(self) -> Picture {
        let svg = self.svg();
        let legend = self.lines.iter().rev().map(ChartLine::entry).collect();
        Picture { title: self.title.to_owned(), metric: None, is_wide: true, svg, legend }
    }

    fn svg(&self) -> String {
        let mut frame = ChartFrame::new(1_000.0, 250.0);
        let y = self.vertical_axis(&mut frame);
        let x = self.horizontal_axis(&mut frame);
        for line in &self.lines {
            frame.line(line, &x, &y);
            for &(at, value) in line.points() {
                frame.add(&format!(
                    "<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>",
                    line.ink.class(),
                    x.place(at),
                    y.place(value)
                ));
            }
        }
        frame.add(&self.strips(&frame, &x));
        frame.read_by_keyboard();
        frame.finish(self.title, &self.description)
    }

    fn vertical_axis(&self, frame: &mut ChartFrame) -> Scale {
        let points = self.lines.iter().flat_map(ChartLine::points).map(|point| point.1);
        let (low, high) = points
            .filter(|&value| value > 0.0)
            .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let ticks = if self.logarithmic {
            logarithmic_ticks(low.min(1e6), high)
        } else {
            round_ticks(high * 1.04, 4)
        };
        let (ends, places) = ((ticks[0], ticks[ticks.len() - 1]), frame.upward());
        let scale = if self.logarithmic {
            Scale::logarithmic(ends, places)
        } else {
            Scale::linear(ends, places)
        };
        frame.vertical_axis(self.unit, &scale, &labelled(&ticks));
        scale
    }

    fn horizontal_axis(&self, frame: &mut ChartFrame) -> Scale {
        let times = self.lines.iter().flat_map(ChartLine::points).map(|point| point.0);
        let (first, last) =
            times.fold((f64::MAX, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)));
        let first = first.min(last);
        let ends =
            if first < last { (first, last) } else { (last - HALF_A_DAY, last + HALF_A_DAY) };
        let scale = Scale::linear(ends, frame.across());
        let mut labelled: Vec<(f64, String)> = (0..=DATES)
            .map(|step| ends.0 + (ends.1 - ends.0) * f64::from(step) / f64::from(DATES))
            .map(|at| (at, date(at)))
            .collect();
        labelled.dedup_by(|later, earlier| later.1 == earlier.1);
        frame.horizontal_axis(&scale, &labelled);
        scale
    }

    /// Strips that extend halfway to their neighbours; the page's script turns them into a
    /// crosshair.
    fn strips(&self, frame: &ChartFrame, x: &Scale) -> String {
        let ((left, right), (bottom, top)) = (frame.across(), frame.upward());
        let places: Vec<f64> = self.hints.iter().map(|(at, _)| x.place(*at)).collect();
        let mut svg = String::from("<g class=\"hints\">");
        for (index, (at, text)) in self.hints.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| places[before]);
            let from = before.map_or(left, |before| f64::midpoint(before, places[index]));
            let next = places.get(index + 1);
            let to = next.map_or(right, |next| f64::midpoint(places[index], *next));
            let (width, height, text) = (to - from, bottom - top, escape(text));
            let _ = write!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"{height:.0}\" \
                 data-at=\"{at:.0}\"><title>{text}</title></rect>"
            );
        }
        svg + "</g>"
    }
}

/// The day of a time in seconds since 1970.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of runs are not negative and far below 2^53"
)]
fn date(at: f64) -> String {
    format::iso_time((at.max(0.0) * 1e9) as u64)
        .map(|time| time.chars().take(10).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::DatesChart;
    use crate::chart::{ChartLine, Ink};

    fn chart(points: &[(f64, f64)]) -> String {
        let line = ChartLine::new("", Ink::Total, points.to_vec());
        let hints = points.iter().map(|point| (point.0, format!("{} <b>", point.1))).collect();
        let (title, description) = ("Transactional IOPS", String::new());
        let (unit, logarithmic) = ("/s", false);
        DatesChart { title, description, unit, logarithmic, lines: vec![line], hints }.svg()
    }

    #[test]
    fn every_run_has_a_dot_a_strip_and_the_axis_its_dates() {
        let svg = chart(&[(1_795_219_200.0, 300.0), (1_797_811_200.0, 310.0)]);
        assert_eq!((svg.matches("<circle").count(), svg.matches("<title>").count()), (2, 2));
        assert!(svg.contains("&lt;b&gt;") && svg.contains(">2026-11-21<"), "{svg}");
    }

    #[test]
    fn one_run_alone_and_none_are_drawn_too() {
        assert_eq!(chart(&[(1_795_219_200.0, 300.0)]).matches("<circle").count(), 1);
        assert_eq!(chart(&[]).matches("<circle").count(), 0);
    }
}
