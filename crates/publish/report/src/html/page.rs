//! The page around the content: head, banner, contents, sections, glossary.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::blocks::block;
use super::commands::set_commands;
use super::options::set_options;
use super::{escape, term, tone_class};
use crate::comparison::glance;
use crate::document::{Banner, Document, Figure, Section, running_title};
use crate::glossary::{self, GlossaryEntry};
use crate::sections::what_follows;

/// The style of every page.
pub const STYLE: &str = include_str!("style.css");

/// Samuel Plimsoll's mark: the line on a ship's hull that must stay above water.
const MARK: &str = "<svg class=\"mark\" viewBox=\"0 0 64 48\" aria-hidden=\"true\">\
     <circle cx=\"32\" cy=\"24\" r=\"17\"/><path d=\"M4 24H60\"/></svg>";

/// Script that reads out the charts of a page; see the script itself.
pub const CROSSHAIR: &str = include_str!("crosshair.js");

/// Marks a picture whose hints the script uses.
const READ_OUT: &str = "<g class=\"hints\">";

/// The script inlined in a self-contained page.
fn inline_script() -> String {
    ["<script>\n", CROSSHAIR, "</script>\n"].concat()
}

/// A page for a server that permits no inline scripts: it loads [`CROSSHAIR`] from `/crosshair.js`,
/// and the options in its text are kept whole as in reports.
pub fn served(page: &str) -> String {
    let page = page.replace(&inline_script(), "<script src=\"/crosshair.js\"></script>\n");
    set_options(&page)
}

/// The page of a report.
pub(crate) fn page(document: &Document) -> String {
    let banner = &document.banner;
    let mut html = String::with_capacity(1 << 18);
    let title = escape(&format!("{}: {}", banner.verdict, banner.subject));
    let running = running_title(&banner.subject);
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{running}</style>\n</head>\n<body>\n"
    );
    let body = with_literal_names(body(document), &document.names);
    html.push_str(&set_options(&set_commands(&body)));
    if html.contains(READ_OUT) {
        html.push_str(&inline_script());
    }
    html.push_str("</body>\n</html>\n");
    units::plain(&html).into_owned()
}

/// The page with the backticks of names as references to characters, which mark no command.
fn with_literal_names(page: String, names: &[String]) -> String {
    let marked = names.iter().filter(|name| name.contains('`')).map(|name| escape(name));
    marked.fold(page, |page, name| page.replace(&name, &name.replace('`', "&#96;")))
}

/// Everything between head and scripts.
fn body(document: &Document) -> String {
    let mut html = String::with_capacity(1 << 18);
    push_banner(&mut html, &document.banner);
    for section in document.sections.iter().filter(|section| is_of_verdict(section)) {
        push_section(&mut html, section);
    }
    push_contents(&mut html, &document.sections);
    html.push_str("<main>\n");
    for section in document.sections.iter().filter(|section| !is_of_verdict(section)) {
        push_section(&mut html, section);
    }
    html.push_str(&glossary_html(&document.metrics()));
    html.push_str("</main>\n");
    html
}

/// Whether a section directly follows the verdict, above the contents.
fn is_of_verdict(section: &Section) -> bool {
    [what_follows::ID, glance::ID].contains(&section.id)
}

fn push_banner(html: &mut String, banner: &Banner) {
    let tone = tone_class(banner.tone);
    let meaning = paragraphs(banner.meaning.iter().map(String::as_str));
    let _ = write!(
        html,
        "<header class=\"banner {tone}\">\n\
         <p class=\"colophon\"><span>Plimsoll storage qualification</span><span>{}</span></p>\n\
         <h1>{}</h1>\n\
         <div class=\"answer\">{MARK}<p class=\"verdict\">{}</p>\n\
         <p class=\"headline\"><b>{}</b> {}</p>\n<div class=\"meaning\">{meaning}</div></div>\n",
        escape(&banner.started),
        escape(&banner.subject),
        escape(&banner.verdict),
        escape(&banner.number),
        term(&banner.number_unit, Some(banner.number_metric)),
    );
    if !banner.figures.is_empty() {
        html.push_str("<dl class=\"figures\">\n");
        for figure in &banner.figures {
            push_figure(html, figure);
        }
        html.push_str("</dl>\n");
    }
    html.push_str("</header>\n");
}

fn push_figure(html: &mut String, figure: &Figure) {
    let _ = writeln!(
        html,
        "<div class=\"{}\"><dt>{}</dt><dd><b>{}</b><span>{}</span></dd></div>",
        tone_class(figure.tone),
        term(figure.label, Some(figure.metric)),
        escape(&figure.value),
        escape(&figure.remark),
    );
}

fn push_contents(html: &mut String, sections: &[Section]) {
    html.push_str("<nav aria-label=\"Contents\"><ul>\n");
    let glossary = ("glossary", "Glossary");
    let headings = sections.iter().map(|section| (section.id, section.title));
    for (id, title) in headings.chain([glossary]) {
        let _ = writeln!(html, "<li><a href=\"#{id}\">{}</a></li>", escape(title));
    }
    html.push_str("</ul></nav>\n");
}

fn push_section(html: &mut String, section: &Section) {
    let id = section.id;
    let title = escape(section.title);
    let _ = writeln!(
        html,
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>"
    );
    for content in &section.blocks {
        html.push_str(&block(content));
    }
    html.push_str("</section>\n");
}

/// The glossary entries that a page refers to, in the order of the glossary.
pub fn glossary_html(metrics: &[&str]) -> String {
    let used: BTreeSet<&str> = metrics.iter().copied().collect();
    let mut html = String::from(
        "<section id=\"glossary\" aria-labelledby=\"glossary-title\">\n\
         <h2 id=\"glossary-title\">Glossary</h2>\n<dl class=\"glossary\">\n",
    );
    for entry in glossary::entries().iter().filter(|entry| used.contains(entry.id)) {
        push_entry(&mut html, entry);
    }
    html + "</dl>\n</section>\n"
}

fn push_entry(html: &mut String, entry: &GlossaryEntry) {
    let text = paragraphs(entry.text.split("\n\n"));
    let _ = writeln!(
        html,
        "<div id=\"g-{}\"><dt>{}<small>{} &middot; {}</small></dt><dd>{text}</dd></div>",
        entry.id,
        escape(entry.title),
        escape(entry.unit),
        escape(entry.source),
    );
}

/// Each text as a separate paragraph.
fn paragraphs<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.map(|text| ["<p>", &escape(text), "</p>"].concat()).collect()
}
