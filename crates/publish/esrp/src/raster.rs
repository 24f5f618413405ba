//! Charts of the reports as PNG, for documents: word processors differ in their support of SVG, and
//! a general rasteriser is more code than the few shapes that our charts use.

mod canvas;
mod font;
mod png;
mod shapes;

use canvas::Canvas;
use shapes::{elements, view_box};

use crate::Picture;

/// Pixels per unit of a chart: sharp in print at half the width of a page.
const SCALE: f64 = 2.0;

/// Renders a chart; `None` if `svg` is not one of this project's charts.
pub(crate) fn picture_of(svg: &str) -> Option<Picture> {
    let (width, height) = view_box(svg)?;
    let mut canvas = Canvas::new(width, height, SCALE)?;
    for element in elements(svg) {
        shapes::draw(&element, &mut canvas);
    }
    Picture::from_png(png::encoded(&canvas).ok()?).ok()
}

/// The colour that an entry of a chart's legend has on paper.
pub(crate) fn colour_of(class: &str) -> [u8; 3] {
    shapes::legend_paint(class).on_paper()
}

#[cfg(test)]
mod tests;
