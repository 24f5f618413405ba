//! The paper as one HTML page that a browser prints to PDF: cover, contents and appendices begin on
//! separate pages.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use report::escape;

use crate::Picture;
use crate::code::{pieces, unmarked};
use crate::paper::{Chapter, Content, Cover, Paper, PaperTable, Words};

const STYLE: &str = include_str!("paper.css");

/// The whole page, self-contained.
pub fn html(paper: &Paper) -> String {
    let title = escape(&unmarked(&paper.cover.title.text()));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body class=\"paper\">\n",
        report::STYLE
    );
    push_cover(&mut html, &paper.cover);
    push_contents(&mut html, &paper.chapters);
    html.push_str("<main>\n");
    for chapter in &paper.chapters {
        push_chapter(&mut html, chapter);
    }
    html.push_str(&report::glossary_html(&metrics(paper)));
    html.push_str("</main>\n</body>\n</html>\n");
    units::plain(&html).into_owned()
}

/// Every glossary entry that the reports of the appendices refer to.
fn metrics(paper: &Paper) -> Vec<&'static str> {
    paper
        .chapters
        .iter()
        .flat_map(|chapter| &chapter.content)
        .flat_map(|content| match content {
            Content::Report(block) => block.metrics(),
            _ => Vec::new(),
        })
        .collect()
}

fn push_cover(html: &mut String, cover: &Cover) {
    let _ = write!(
        html,
        "<header class=\"cover\">\n<p class=\"vendor\">{}</p>\n<h1>{}</h1>\n<dl>\n",
        words(&cover.vendor),
        words(&cover.title)
    );
    for (name, line) in &cover.lines {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), words(line));
    }
    html.push_str("</dl>\n<div class=\"legal\">");
    for line in &cover.legal {
        let _ = write!(html, "<p>{}</p>", words(line));
    }
    html.push_str("</div>\n</header>\n");
}

fn push_contents(html: &mut String, chapters: &[Chapter]) {
    html.push_str("<nav aria-label=\"Contents\"><h2>Contents</h2><ol>\n");
    for chapter in chapters {
        let _ =
            writeln!(html, "<li><a href=\"#{}\">{}</a></li>", chapter.id, escape(&chapter.title));
    }
    html.push_str("</ol></nav>\n");
}

fn push_chapter(html: &mut String, chapter: &Chapter) {
    let class = if chapter.opens_page { " class=\"opens-page\"" } else { "" };
    let (id, title) = (&chapter.id, escape(&chapter.title));
    let _ = writeln!(
        html,
        "<section id=\"{id}\"{class} aria-labelledby=\"{id}-title\">\n\
         <h2 id=\"{id}-title\">{title}</h2>"
    );
    for content in &chapter.content {
        html.push_str(&piece(content));
    }
    html.push_str("</section>\n");
}

fn piece(content: &Content) -> String {
    match content {
        Content::Heading(text) => format!("<h3>{}</h3>\n", escape(text)),
        Content::Paragraph(said) => format!("<p>{}</p>\n", words(said)),
        Content::List(points) => list(points),
        Content::Table(content) => table(content),
        Content::Figure(picture, caption) => figure(picture, caption),
        Content::Report(block) => report::block_html(block),
    }
}

/// The text, with gaps highlighted and code set as such.
fn words(words: &Words) -> String {
    let text = set(&words.text());
    if words.is_missing() { format!("<mark>{text}</mark>") } else { text }
}

fn set(text: &str) -> String {
    let mut html = String::new();
    for (piece, is_code) in pieces(text) {
        let piece = escape(piece);
        if is_code {
            let _ = write!(html, "<code>{piece}</code>");
        } else {
            html.push_str(&piece);
        }
    }
    html
}

fn list(points: &[Words]) -> String {
    let mut html = String::from("<ol class=\"points\">\n");
    for point in points {
        let _ = writeln!(html, "<li>{}</li>", words(point));
    }
    html + "</ol>\n"
}

fn table(content: &PaperTable) -> String {
    let caption = escape(&content.caption);
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n\
         <table><caption>{caption}</caption>\n"
    );
    if !content.head.is_empty() {
        html += "<thead><tr>";
        for heading in &content.head {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escape(heading));
        }
        html += "</tr></thead>\n";
    }
    html += "<tbody>\n";
    for row in &content.rows {
        html += "<tr>";
        for (index, cell) in row.iter().enumerate() {
            let text = words(cell);
            let _ = match index {
                0 => write!(html, "<th scope=\"row\">{text}</th>"),
                _ => write!(html, "<td>{text}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

fn figure(picture: &Picture, caption: &str) -> String {
    let (data, alt) = (STANDARD.encode(&picture.bytes), escape(&unmarked(caption)));
    let (Picture { width, height, .. }, caption) = (picture, set(caption));
    format!(
        "<figure class=\"vendors\"><img src=\"data:image/png;base64,{data}\" width=\"{width}\" \
         height=\"{height}\" alt=\"{alt}\"><figcaption>{caption}</figcaption></figure>\n"
    )
}
