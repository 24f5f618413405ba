//! Facts, tables, charts and text as HTML.

use std::fmt::Write as _;

use super::options::set_options;
use super::{escape, term, tone_class};
use crate::document::{Block, Cell, Column, ColumnRole, Fact, Picture, Table};

/// Renders a piece of report content, for pages that have [`super::STYLE`].
pub fn block(content: &Block) -> String {
    set_options(&match content {
        Block::Facts(list) => facts(list),
        Block::Table(content) => table(content),
        Block::Pictures(list) => pictures(list),
        Block::Note(text) => format!("<p class=\"note\">{}</p>\n", escape(text)),
        Block::Log(lines) => log(lines),
        Block::Verbatim(text) => format!("<pre>{}</pre>\n", escape(text)),
    })
}

fn facts(list: &[Fact]) -> String {
    let mut html = String::from("<dl class=\"facts\">\n");
    for fact in list {
        let _ = writeln!(
            html,
            "<div><dt>{}</dt><dd class=\"{}\">{}</dd></div>",
            term(fact.label, fact.metric),
            tone_class(fact.value.tone),
            escape(&fact.value.text),
        );
    }
    html + "</dl>\n"
}

fn table(content: &Table) -> String {
    let caption = escape(content.caption);
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n\
         <table{}><caption>{caption}</caption>\n<thead>\n",
        if is_narrow(content) { " class=\"narrow\"" } else { "" }
    );
    html += &group_headings(&content.columns);
    html += "<tr>";
    for column in &content.columns {
        let class = match (column.numeric, column.role) {
            (true, _) => " class=\"number\"",
            (false, ColumnRole::Key) => " class=\"key\"",
            (false, _) => "",
        };
        let label = match column.metric {
            // A key without spaces may be broken at underscores, so that its column is no wider
            // than its values.
            None => escape(&column.label).replace('_', "_<wbr>"),
            metric => term(&column.label, metric),
        };
        let _ = write!(html, "<th scope=\"col\"{class}>{label}</th>");
    }
    html += "</tr>\n</thead>\n<tbody>\n";
    for row in &content.rows {
        html += if row.sum { "<tr class=\"sum\">" } else { "<tr>" };
        for (index, (cell, column)) in row.cells.iter().zip(&content.columns).enumerate() {
            html += &table_cell(cell, column, index == 0);
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// Whether a table is small enough that stretching it over the page would tear its rows apart.
fn is_narrow(content: &Table) -> bool {
    content.columns.len() <= 4 && content.columns[1..].iter().all(|column| column.numeric)
}

/// The row of shared headings; empty if no columns share one.
fn group_headings(columns: &[Column]) -> String {
    if columns.iter().all(|column| column.group.is_empty()) {
        return String::new();
    }
    let mut html = String::from("<tr class=\"groups\">");
    for run in columns.chunk_by(|left, right| left.group == right.group) {
        let (group, span) = (run[0].group, run.len());
        if group.is_empty() {
            let _ = write!(html, "<td colspan=\"{span}\"></td>");
        } else {
            let group = escape(group);
            let _ = write!(html, "<th scope=\"colgroup\" colspan=\"{span}\">{group}</th>");
        }
    }
    html + "</tr>\n"
}

fn table_cell(cell: &Cell, column: &Column, heads_row: bool) -> String {
    let mut class = String::from(tone_class(cell.tone));
    if column.numeric {
        class.push_str(" number");
    }
    let text = match column.role {
        ColumnRole::Shown => term(&cell.text, cell.metric),
        ColumnRole::Key => linked(&cell.text),
        ColumnRole::Formula => format!("<span id=\"key-{0}\">{0}</span>", escape(&cell.text)),
    };
    if column.role == ColumnRole::Key {
        class.push_str(" key");
    }
    let bar = cell.share.map(share_bar).unwrap_or_default();
    if heads_row {
        format!("<th scope=\"row\" class=\"{class}\">{text}{bar}</th>")
    } else {
        // On a narrow screen each row is a card, so every value carries its label.
        let label = escape(format!("{} {}", column.group, column.label).trim());
        format!("<td class=\"{class}\" data-label=\"{label}\"><span>{text}{bar}</span></td>")
    }
}

/// A key with the link to its formula.
fn linked(key: &str) -> String {
    let key = escape(key);
    format!("<a href=\"#key-{key}\">{key}</a>")
}

/// A bar that shows the used share of a limit; its full width is the limit.
fn share_bar(share: f64) -> String {
    let percent = (share * 100.0).clamp(0.0, 100.0);
    let said = format!("{:.0} percent of the limit", share * 100.0);
    format!(
        "<i class=\"share\" role=\"img\" aria-label=\"{said}\">\
         <i style=\"width:{percent:.1}%\"></i></i>"
    )
}

fn pictures(list: &[Picture]) -> String {
    let mut html = String::from("<div class=\"charts\">\n");
    for picture in list {
        let class = if picture.is_wide { " class=\"wide\"" } else { "" };
        let title = term(&picture.title, picture.metric);
        let _ = write!(html, "<figure{class}>\n<figcaption><b>{title}</b><span class=\"legend\">");
        for (class, label) in &picture.legend {
            let _ = write!(html, "<span><i class=\"{class}\"></i>{}</span>", escape(label));
        }
        html += "</span></figcaption>\n";
        html += &picture.svg;
        html += "\n</figure>\n";
    }
    html + "</div>\n"
}

fn log(lines: &[(String, String)]) -> String {
    let mut html = String::from("<ol class=\"log\">\n");
    for (time, text) in lines {
        let (time, text) = (escape(time), escape(text));
        let _ = writeln!(html, "<li><time>{time}</time><span>{text}</span></li>");
    }
    html + "</ol>\n"
}
