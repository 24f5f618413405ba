//! The appendices from B on: the report of each test as the instrument prints it.

use report::document::{Block, Fact, Section};

use crate::TestedRun;
use crate::paper::{Chapter, Content, Words};
use crate::roles::{PaperTest, Server};

/// One chapter per test, lettered without a gap; omits an optional test that was run on no server.
pub(crate) fn chapters(servers: &[Server<'_>]) -> Vec<Chapter> {
    let written = PaperTest::ALL.into_iter();
    let written = written.filter_map(|test| Some((test, content(servers, test)?)));
    ('B'..='G').zip(written).map(|(letter, of)| chapter(letter, of)).collect()
}

/// The reports of a test, or the gap that it leaves; `None` if it is optional.
fn content(servers: &[Server<'_>], test: PaperTest) -> Option<Vec<Content>> {
    let runs = servers.iter().filter_map(|server| Some((server, server.run_of(test)?)));
    let mut content = Vec::new();
    content.extend(runs.flat_map(|(server, run)| report_of(&server.name, run)));
    if content.is_empty() {
        let wanted = test.wanted()?;
        content.push(Content::Paragraph(Words::Missing { what: "the report", wanted }));
    }
    Some(content)
}

fn chapter(letter: char, (test, content): (PaperTest, Vec<Content>)) -> Chapter {
    Chapter {
        id: format!("appendix-{}", letter.to_ascii_lowercase()),
        title: format!("Appendix {letter}: {}", test.name()),
        opens_page: true,
        content,
    }
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
    for of_run in document.sections {
        content.extend(section(naming_folder(without_steps(of_run), &run.name)));
    }
    content
}

/// A section that names the folder of the run: a paper may be far from its journal.
fn naming_folder(mut section: Section, folder: &str) -> Section {
    for block in &mut section.blocks {
        if let Block::Facts(facts) = block {
            for fact in facts.iter_mut().filter(|fact| fact.label == "Performance Log") {
                *fact = Fact::new("Performance Log", format!("record.jsonl in {folder}"));
            }
        }
    }
    section
}

/// A section without next steps, which are advice to the testers and not to the paper's readers.
fn without_steps(mut section: Section) -> Section {
    if section.id == "what-follows" {
        section.title = "Limits of This Result";
        for block in &mut section.blocks {
            if let Block::Facts(facts) = block {
                facts.retain(|fact: &Fact| fact.label != "Next step");
            }
        }
    }
    section
}

fn section(section: Section) -> Vec<Content> {
    let shown: Vec<Block> = section.blocks.into_iter().filter(has_content).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let heading = Content::Heading(section.title.to_owned());
    [heading].into_iter().chain(shown.into_iter().map(Content::Report)).collect()
}

/// Whether a block prints anything.
const fn has_content(block: &Block) -> bool {
    match block {
        Block::Pictures(all) => !all.is_empty(),
        Block::Log(lines) => !lines.is_empty(),
        Block::Facts(facts) => !facts.is_empty(),
        Block::Table(_) | Block::Note(_) | Block::Verbatim(_) => true,
    }
}
