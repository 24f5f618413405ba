//! The appendices from B on: the report of each test as the instrument prints it.

use report::document::{Block, Section};

use crate::TestedRun;
use crate::paper::{Chapter, Content, Words};
use crate::roles::{PaperTest, Server};

/// One for each test; none for an optional test that no server has made.
pub(crate) fn chapters(servers: &[Server<'_>]) -> Vec<Chapter> {
    ('B'..='G')
        .zip(PaperTest::ALL)
        .filter_map(|(letter, test)| chapter(servers, letter, test))
        .collect()
}

fn chapter(servers: &[Server<'_>], letter: char, test: PaperTest) -> Option<Chapter> {
    let runs = servers.iter().filter_map(|server| Some((server, server.run_of(test)?)));
    let mut content = Vec::new();
    content.extend(runs.flat_map(|(server, run)| report_of(&server.name, run)));
    if content.is_empty() {
        let wanted = test.wanted()?;
        content.push(Content::Paragraph(Words::Missing { what: "the report", wanted }));
    }
    Some(Chapter {
        id: format!("appendix-{}", letter.to_ascii_lowercase()),
        title: format!("Appendix {letter}: {}", test.name()),
        opens_page: true,
        content,
    })
}

fn report_of(server: &str, run: &TestedRun) -> Vec<Content> {
    let document = report::document(&run.record, &run.verdict);
    let banner = document.banner;
    let mut content = vec![Content::Heading(format!(
        "{server}: {}, {} {}",
        banner.verdict, banner.number, banner.number_unit
    ))];
    let meaning = banner.meaning.into_iter().map(|text| Content::Paragraph(Words::Said(text)));
    content.extend(meaning);
    content.extend(document.sections.into_iter().flat_map(section));
    content
}

fn section(section: Section) -> Vec<Content> {
    let heading = Content::Heading(section.title.to_owned());
    let blocks = section.blocks.into_iter();
    let shown = blocks.filter(|of| !matches!(of, Block::Pictures(all) if all.is_empty()));
    [heading].into_iter().chain(shown.map(Content::Report)).collect()
}
