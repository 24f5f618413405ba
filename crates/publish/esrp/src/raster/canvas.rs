//! A pixel canvas, and the strokes and areas drawn on it.

/// A colour and its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paint {
    pub colour: [u8; 3],
    /// From 0 to 1.
    pub alpha: f64,
}

impl Paint {
    /// The colour that it has on white paper.
    pub(super) fn on_paper(self) -> [u8; 3] {
        self.colour.map(|part| mixed(u8::MAX, part, self.alpha))
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub paint: Paint,
    /// In units of the chart.
    pub width: f64,
    /// Lengths of a dash and of the gap after it, in units of the chart; `None` for a solid line.
    pub dash: Option<(f64, f64)>,
}

/// A point, in units of the chart.
pub(super) type Point = (f64, f64);

/// Upper limit of width and height: no chart needs a larger picture.
const MOST_PIXELS: usize = 4_000;

const WHITE: [u8; 3] = [255; 3];

/// A canvas that starts white.
pub(super) struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Rows of pixels.
    pub pixels: Vec<[u8; 3]>,
    scale: f64,
}

impl Canvas {
    /// A canvas in units of `scale` pixels each; `None` if it would be empty or huge.
    pub(super) fn new(width: f64, height: f64, scale: f64) -> Option<Self> {
        let [width, height] = [width, height].map(|size| pixel(size * scale, MOST_PIXELS + 1));
        [width, height].iter().all(|size| (1..=MOST_PIXELS).contains(size)).then(|| Self {
            width,
            height,
            pixels: vec![WHITE; width * height],
            scale,
        })
    }

    /// Draws a line from point to point.
    pub(super) fn line(&mut self, points: &[Point], stroke: Stroke) {
        for pair in points.windows(2) {
            match stroke.dash {
                None => self.segment(pair[0], pair[1], stroke),
                Some(dash) => self.dashes((pair[0], pair[1]), dash, stroke),
            }
        }
    }

    fn dashes(&mut self, (from, to): (Point, Point), (dash, gap): (f64, f64), stroke: Stroke) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut at = 0.0;
        while at < length {
            let [begin, end] = [at, at + dash].map(|along| {
                let share = (along / length).min(1.0);
                (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
            });
            self.segment(begin, end, stroke);
            at += dash + gap;
        }
    }

    /// Covers each pixel by its distance to the segment.
    fn segment(&mut self, from: Point, to: Point, stroke: Stroke) {
        let [(x1, y1), (x2, y2)] = [from, to].map(|(x, y)| (x * self.scale, y * self.scale));
        let half = (stroke.width * self.scale / 2.0).max(0.5);
        let (left, right) = (x1.min(x2) - half - 1.0, x1.max(x2) + half + 1.0);
        let (top, bottom) = (y1.min(y2) - half - 1.0, y1.max(y2) + half + 1.0);
        let (dx, dy) = (x2 - x1, y2 - y1);
        let square = dx.mul_add(dx, dy * dy);
        for row in pixel(top, self.height)..pixel(bottom, self.height) {
            for column in pixel(left, self.width)..pixel(right, self.width) {
                let (x, y) = (column as f64 + 0.5 - x1, row as f64 + 0.5 - y1);
                let share = if square > 0.0 { (x * dx + y * dy) / square } else { 0.0 };
                let share = share.clamp(0.0, 1.0);
                let distance = (x - share * dx).hypot(y - share * dy);
                let cover = (half + 0.5 - distance).clamp(0.0, 1.0);
                self.blend((column, row), stroke.paint, cover);
            }
        }
    }

    /// Fills a rectangle.
    pub(super) fn area(&mut self, (x, y): Point, (width, height): (f64, f64), paint: Paint) {
        let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        self.polygon(&corners, paint);
    }

    /// Fills the area that the points enclose.
    pub(super) fn polygon(&mut self, points: &[Point], paint: Paint) {
        for row in 0..self.height {
            let y = (row as f64 + 0.5) / self.scale;
            let mut crossed: Vec<f64> = Vec::new();
            for (at, &(x1, y1)) in points.iter().enumerate() {
                let (x2, y2) = points[(at + 1) % points.len()];
                if (y1 <= y) != (y2 <= y) {
                    crossed.push(x1 + (y - y1) / (y2 - y1) * (x2 - x1));
                }
            }
            crossed.sort_by(f64::total_cmp);
            for inside in crossed.chunks_exact(2) {
                let [from, to] =
                    [inside[0], inside[1]].map(|x| pixel((x * self.scale).round(), self.width));
                for column in from..to {
                    self.blend((column, row), paint, 1.0);
                }
            }
        }
    }

    fn blend(&mut self, (column, row): (usize, usize), paint: Paint, cover: f64) {
        let alpha = paint.alpha * cover;
        let below = &mut self.pixels[row * self.width + column];
        for (below, above) in below.iter_mut().zip(paint.colour) {
            *below = mixed(*below, above, alpha);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of two bytes is a byte"
)]
fn mixed(below: u8, above: u8, alpha: f64) -> u8 {
    (f64::from(below) + (f64::from(above) - f64::from(below)) * alpha).round() as u8
}

/// The pixel that contains a place, at most `end`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the width of a picture"
)]
fn pixel(place: f64, end: usize) -> usize {
    place.clamp(0.0, end as f64) as usize
}
