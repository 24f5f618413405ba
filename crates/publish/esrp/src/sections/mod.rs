//! The chapters in the order of published papers, one file each.

mod conclusion;
mod deployment;
mod mailboxes;
mod prose;
mod results;

use crate::Picture;
use crate::appendices;
use crate::paper::{Chapter, Content, Paper, PaperTable, Words};
use crate::roles::Server;
use crate::vendor::{FigurePlace, Vendor};

/// The whole paper.
pub(crate) fn paper(servers: &[Server<'_>], vendor: &Vendor, pictures: Vec<Picture>) -> Paper {
    let mut figures: Vec<(FigurePlace, Content)> = Vec::new();
    for (figure, picture) in vendor.figures.iter().zip(pictures) {
        let caption = format!("Figure {}: {}", figures.len() + 1, figure.caption);
        figures.push((figure.place, Content::Figure(picture, caption)));
    }
    let mut chapters = vec![
        prose::overview(servers, vendor),
        prose::disclaimer(servers),
        prose::features(servers, vendor),
        prose::description(
            vendor,
            at(&figures, FigurePlace::Architecture),
            at(&figures, FigurePlace::Layout),
        ),
        prose::customer(servers, vendor),
        deployment::chapter(servers, vendor),
        prose::practices(vendor),
        prose::contact(vendor),
        results::chapter(servers, vendor),
        conclusion::chapter(servers, vendor),
        mailboxes::appendix(servers, vendor),
    ];
    chapters.extend(appendices::chapters(servers));
    Paper { cover: prose::cover(servers, vendor), chapters }
}

/// The figures of one place.
fn at(figures: &[(FigurePlace, Content)], place: FigurePlace) -> Vec<Content> {
    figures.iter().filter(|(of, _)| *of == place).map(|(_, content)| content.clone()).collect()
}

/// A chapter within the text.
fn chapter(id: &str, title: &str, content: Vec<Content>) -> Chapter {
    Chapter { id: id.to_owned(), title: title.to_owned(), opens_page: false, content }
}

/// A table whose first column names each row.
fn facts(caption: &str, rows: Vec<(&'static str, Words)>) -> Content {
    Content::Table(PaperTable {
        caption: caption.to_owned(),
        head: Vec::new(),
        rows: rows.into_iter().map(|(name, words)| vec![Words::said(name), words]).collect(),
    })
}

/// A paragraph of text.
fn said(text: impl Into<String>) -> Content {
    Content::Paragraph(Words::said(text))
}

/// The distinct values, each listed once.
fn listed<'a>(values: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut each: Vec<&str> = Vec::new();
    for value in values.filter(|value| !value.is_empty()) {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    (!each.is_empty()).then(|| each.join("; "))
}
