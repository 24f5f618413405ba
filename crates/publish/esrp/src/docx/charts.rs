//! The charts of a report: side by side if the page is wide enough, each below its title and
//! legend.

use docx_rs::{Paragraph, Run, Table, TableCell, TableRow, WidthType};
use report::document::Picture as Chart;

use super::piece::{Piece, text};
use super::{TABLE_SIZE, UPRIGHT_WIDTH, image};
use crate::raster::picture_of;

/// Twentieths of a point in a pixel of 1/96 inch.
const TWENTIETHS_PER_PIXEL: usize = 15;
/// Space between two charts, in the same unit.
const GAP: usize = 300;

/// Lays out the charts in rows, in text of this width.
pub(super) fn charts(charts: &[Chart], width: usize) -> Vec<Piece> {
    let beside = if width > UPRIGHT_WIDTH { 2 } else { 1 };
    let mut pieces = Vec::new();
    for row in rows(charts, beside) {
        let columns = if row.iter().any(|chart| chart.is_wide) { 1 } else { beside };
        let each = width / columns;
        let cells = row.iter().map(|chart| cell(chart, each));
        let table = Table::without_borders(vec![TableRow::new(cells.collect()).cant_split()]);
        let grid = vec![each; row.len()];
        let table = table.width(each * row.len(), WidthType::Dxa).set_grid(grid);
        pieces.push(Piece::Table(Box::new(table)));
        pieces.push(Piece::Paragraph(Box::new(Paragraph::new())));
    }
    pieces
}

/// Rows of at most `beside` charts; a wide chart gets its own row.
fn rows(charts: &[Chart], beside: usize) -> Vec<Vec<&Chart>> {
    let mut rows: Vec<Vec<&Chart>> = Vec::new();
    for chart in charts {
        match rows.last_mut() {
            Some(row) if row.len() < beside && !chart.is_wide && !row[0].is_wide => row.push(chart),
            _ => rows.push(vec![chart]),
        }
    }
    rows
}

fn cell(chart: &Chart, width: usize) -> TableCell {
    let title = Paragraph::new().add_run(text(&chart.title).bold().size(TABLE_SIZE));
    let widest = u32::try_from((width - GAP) / TWENTIETHS_PER_PIXEL).unwrap_or(u32::MAX);
    let drawn = match picture_of(&chart.svg) {
        Some(picture) => Run::new().add_image(image(&picture, widest)),
        None => text("This chart is in the HTML edition of this paper."),
    };
    TableCell::new()
        .width(width, WidthType::Dxa)
        .add_paragraph(title.keep_next(true))
        .add_paragraph(legend(chart).keep_next(true))
        .add_paragraph(Paragraph::new().add_run(drawn))
}

/// What each colour means, in that colour.
fn legend(chart: &Chart) -> Paragraph {
    chart.legend.iter().fold(Paragraph::new(), |legend, (class, meaning)| {
        let mark = text("\u{25a0} ").color(colour(class)).size(TABLE_SIZE - 2);
        let meaning = text(&format!("{meaning}    ")).size(TABLE_SIZE - 2);
        legend.add_run(mark).add_run(meaning)
    })
}

/// The colour of a legend entry: its ink, blended with the white of the paper.
fn colour(class: &str) -> String {
    let [red, green, blue] = crate::raster::colour_of(class);
    format!("{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use report::document::Picture as Chart;

    use super::rows;

    #[test]
    fn a_wide_chart_stands_alone() {
        let chart = |is_wide| Chart {
            title: String::new(),
            metric: None,
            is_wide,
            svg: String::new(),
            legend: Vec::new(),
        };
        let charts = [true, false, false, false, true, false].map(chart);
        let lengths = |beside| rows(&charts, beside).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(2), [1, 2, 1, 1, 1]);
        assert_eq!(lengths(1), [1; 6]);
    }
}
