//! Parses the shapes of the charts (lines, areas and words, each with a class) and draws them in
//! the colours of the page. Shapes that the page shows only on hover are skipped.

use super::canvas::{Canvas, Paint, Point, Stroke};
use super::font::{Anchor, clear_behind, write};

const PAPER: [u8; 3] = [255, 255, 255];
const PANEL: [u8; 3] = [0xf3, 0xf1, 0xea];
const SOFT: [u8; 3] = [0x5c, 0x66, 0x6c];
const FAINT: [u8; 3] = [0x8b, 0x93, 0x98];
const RULE: [u8; 3] = [0xdc, 0xd8, 0xcd];
const LIMIT: [u8; 3] = [0xa5, 0x2a, 0x20];
/// The ink colours of the page's light theme, by class.
const INKS: [(&str, [u8; 3]); 5] = [
    ("ink-read", [0x1f, 0x5a, 0x8c]),
    ("ink-write", [0xb4, 0x58, 0x1a]),
    ("ink-log", [0x2a, 0x7d, 0x6f]),
    ("ink-total", [0x1b, 0x22, 0x26]),
    ("ink-tail", [0x87, 0x95, 0xa1]),
];
/// Opacity of the shades of a heat map, by class.
const SHADES: [(&str, f64); 4] =
    [("heat-1", 0.22), ("heat-2", 0.38), ("heat-3", 0.56), ("heat-4", 0.76)];
/// Opacity of the band between the fastest and the slowest.
const BAND: f64 = 0.16;

/// An element of a chart.
pub(super) struct ChartShape<'a> {
    name: &'a str,
    attributes: &'a str,
    text: &'a str,
}

/// Width and height of the chart, in its own units.
pub(super) fn view_box(svg: &str) -> Option<(f64, f64)> {
    let element = elements(svg).next().filter(|element| element.name == "svg")?;
    let mut sizes = element.attribute("viewBox")?.split(' ').skip(2);
    Some((size(sizes.next()?)?, size(sizes.next()?)?))
}

fn size(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|size| *size > 0.0)
}

/// The elements of a chart in the order in which they are drawn.
pub(super) fn elements(svg: &str) -> impl Iterator<Item = ChartShape<'_>> {
    let shown = svg.split("<g class=\"hints\">").next().unwrap_or_default();
    shown.split('<').filter_map(|part| {
        let (tag, text) = part.split_once('>')?;
        let (name, attributes) = tag.split_once(' ')?;
        Some(ChartShape { name, attributes, text })
    })
}

impl<'a> ChartShape<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let named = self.attributes.split_once(&format!("{name}=\""));
        let (_, value) = named.filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
        value.split('"').next()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.attribute(name)?.parse().ok()
    }

    fn point(&self, x: &str, y: &str) -> Option<Point> {
        Some((self.number(x)?, self.number(y)?))
    }

    fn points(&self) -> Vec<Point> {
        self.attribute("points").unwrap_or_default().split_whitespace().filter_map(pair).collect()
    }

    fn class(&self) -> &'a str {
        self.attribute("class").unwrap_or_default()
    }

    fn has_class(&self, class: &str) -> bool {
        has(self.class(), class)
    }

    fn ink(&self) -> [u8; 3] {
        ink(self.class())
    }
}

/// Whether `class` is one of the words in `all`.
fn has(all: &str, class: &str) -> bool {
    all.split(' ').any(|of| of == class)
}

fn ink(classes: &str) -> [u8; 3] {
    INKS.iter().find(|(class, _)| has(classes, class)).map_or(SOFT, |(_, colour)| *colour)
}

/// Opacity of a shade; 1 for the darkest or if there is none.
fn shade(classes: &str) -> f64 {
    SHADES.iter().find(|(class, _)| has(classes, class)).map_or(1.0, |(_, alpha)| *alpha)
}

/// The paint of an entry of a legend.
pub(super) fn legend_paint(classes: &str) -> Paint {
    match () {
        () if has(classes, "idle") => solid(RULE),
        () if has(classes, "band") => Paint { colour: ink(classes), alpha: 2.0 * BAND },
        () => Paint { colour: ink(classes), alpha: shade(classes) },
    }
}

fn pair(text: &str) -> Option<Point> {
    let (x, y) = text.split_once(',')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

const fn solid(colour: [u8; 3]) -> Paint {
    Paint { colour, alpha: 1.0 }
}

/// Draws an element; invisible ones draw nothing.
pub(super) fn draw(element: &ChartShape<'_>, canvas: &mut Canvas) {
    match element.name {
        "line" => {
            let ends = (element.point("x1", "y1"), element.point("x2", "y2"));
            if let (Some(from), Some(to)) = ends {
                canvas.line(&[from, to], rule(element));
            }
        }
        "polyline" => canvas.line(&element.points(), line(element)),
        "polygon" => {
            canvas.polygon(&element.points(), Paint { colour: element.ink(), alpha: BAND });
        }
        "rect" if element.has_class("idle") => {
            let size = (element.number("width"), element.number("height"));
            if let (Some(at), (Some(width), Some(height))) = (element.point("x", "y"), size) {
                canvas.area(at, (width, height), solid(PANEL));
            }
        }
        "path" => heat(element, canvas),
        "text" => words(element, canvas),
        _ => {}
    }
}

/// The stroke of a straight line: an axis or a reference value.
fn rule(element: &ChartShape<'_>) -> Stroke {
    let (colour, width, dash) = match element.attribute("class") {
        Some("grid") => (RULE, 0.7, None),
        Some("limit") => (LIMIT, 1.0, Some((5.0, 4.0))),
        Some("goal") => (SOFT, 1.0, Some((2.0, 3.0))),
        _ => (FAINT, 1.0, None),
    };
    Stroke { paint: solid(colour), width, dash }
}

/// The stroke of measured values.
fn line(element: &ChartShape<'_>) -> Stroke {
    let (width, alpha) = match () {
        () if element.has_class("each") => (0.7, 0.55),
        () if element.has_class("ink-tail") => (1.1, 1.0),
        () if element.has_class("ink-total") => (2.0, 1.0),
        () => (1.7, 1.0),
    };
    Stroke { paint: Paint { colour: element.ink(), alpha }, width, dash: None }
}

/// Draws the rectangles of one shade: `Mx yhWvHh-Wz`, repeated.
fn heat(element: &ChartShape<'_>, canvas: &mut Canvas) {
    let paint = Paint { colour: element.ink(), alpha: shade(element.class()) };
    for one in element.attribute("d").unwrap_or_default().split('M') {
        let numbers: Vec<f64> =
            one.split([' ', 'h', 'v', 'z']).filter_map(|number| number.parse().ok()).collect();
        if let [x, y, width, height, ..] = numbers[..] {
            canvas.area((x, y), (width, height), paint);
        }
    }
}

fn words(element: &ChartShape<'_>, canvas: &mut Canvas) {
    let Some(at) = element.point("x", "y") else {
        return;
    };
    let anchor = match element.attribute("text-anchor") {
        Some("end") => Anchor::End,
        Some("middle") => Anchor::Middle,
        _ => Anchor::Start,
    };
    let said = unescaped(element.text);
    let is_label = element.has_class("limit-label") || element.has_class("goal-label");
    if is_label {
        clear_behind(canvas, (at, anchor), &said, Paint { colour: PAPER, alpha: 0.8 });
    }
    let colour = if element.has_class("limit-label") { LIMIT } else { SOFT };
    write(canvas, (at, anchor), &said, solid(colour));
}

fn unescaped(text: &str) -> String {
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    names.iter().fold(text.to_owned(), |text, (name, letter)| text.replace(name, letter))
}
