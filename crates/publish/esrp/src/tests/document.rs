//! The Word document says what the page says.

use record::TestType;

use super::agreement::short_set;
use super::{SAID, made, picture, vendor};
use crate::{Paper, docx, html, paper};

/// Tags of a page with text, of which none contains another.
const TAGS: [&str; 7] = ["p", "li", "td", "th", "dt", "h2", "h3"];

/// The text of markup, without tags; what `separator` closes ends a line.
fn plain(markup: &str, separator: &str) -> String {
    let mut text = String::new();
    for piece in markup.replace(separator, "\n").split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&apos;", "'").replace("&amp;", "&")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of a page in the order of its tags.
fn texts(page: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for tag in TAGS {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        for piece in page.split(&open).skip(1).filter(|piece| piece.starts_with([' ', '>'])) {
            let (inside, _) = piece.split_once(&close).expect("every tag is closed");
            let inside = plain(&format!("<{}", inside.replace('\n', " ")), "</time>");
            texts.extend(inside.lines().map(one_line));
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// The paragraphs of a document, each on a line.
fn paragraphs(document: &[u8]) -> String {
    // The package is not compressed.
    let package = String::from_utf8_lossy(document);
    let (_, body) = package.split_once("<w:body>").expect("a body");
    let (body, _) = body.split_once("</w:body>").expect("its end");
    plain(body, "</w:p>").lines().map(one_line).collect::<Vec<_>>().join("\n")
}

/// Texts of the page that the document of the same paper lacks. The glossary is on the page alone.
fn lacking(made: &Paper) -> Vec<String> {
    let page = html(made);
    let (page, _) = page.split_once("id=\"glossary\"").expect("a glossary");
    let document = paragraphs(&docx(made).expect("a document"));
    let mut texts = texts(page);
    assert!(texts.len() > 200, "{}", texts.len());
    texts.retain(|text| !document.contains(text));
    texts
}

#[test]
fn every_text_of_a_page_is_in_the_document() {
    let kinds = [TestType::Performance, TestType::Stress, TestType::Backup, TestType::Recovery];
    let runs = kinds.map(|kind| made(kind.name(), kind));
    let made = paper(&runs, &vendor(SAID), vec![picture()]).expect("a paper");
    assert_eq!(lacking(&made), [""; 0]);
    let drawn = (0..40).map(short_set).map(|runs| paper(&runs, &vendor(SAID), vec![picture()]));
    let mut papers = 0;
    for made in drawn.flatten().take(3) {
        assert_eq!(lacking(&made), [""; 0]);
        papers += 1;
    }
    assert_eq!(papers, 3);
}

#[test]
fn the_cover_of_the_document_names_customer_author_and_date() {
    let runs = [made("load", TestType::Performance)];
    let made = paper(&runs, &vendor(SAID), Vec::new()).expect("a paper");
    let document = paragraphs(&docx(&made).expect("a document"));
    let (cover, _) = document.split_once("\nContents").expect("a cover");
    for said in ["Contoso", "Jane Doe", "November 2026"] {
        assert!(cover.lines().any(|line| line == said), "{said} is not on it:\n{cover}");
    }
}
