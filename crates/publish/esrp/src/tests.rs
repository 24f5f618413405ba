//! A whole paper of made-up runs, as HTML and as a Word document.

mod agreement;
mod demand;
mod document;

use record::{
    Phase, RunRecord, Series, StorageFinding, StorageRuling, TestType, synthetic::Synthetic,
};
use verdict::judge;

use crate::{PaperError, Picture, TestedRun, Vendor, docx, html, paper, template};

fn made(name: &str, test: TestType) -> TestedRun {
    let mut record: RunRecord = Synthetic::default().run();
    record.start.test = test;
    TestedRun { name: name.to_owned(), verdict: judge(&record), record }
}

const SAID: &str = "[cover]\nvendor = \"Example <Storage>\"\nsolution = \"Shelf 7\"\n\
     customer = \"Contoso\"\nauthor = \"Jane Doe\"\ndate = \"November 2026\"\n\
     [customer]\nmailboxes = 1000\n[configuration]\niops_per_mailbox = 0.12\n\
     active_mailboxes_per_server = 1000\n[[disks]]\ncapacity_gb = 600\ncount = 7\n\
     formatted_gb = 3209\n[[figures]]\ncaption = \"The array\"\nfile = \"array.png\"\n";

/// The smallest picture: the header with its size, the only part that is read.
fn picture() -> Picture {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend([0, 0, 2, 0, 0, 0, 1, 0]);
    Picture::from_png(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn vendor(text: &str) -> Vendor {
    Vendor::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn page(runs: &[TestedRun], text: &str) -> String {
    let made = paper(runs, &vendor(text), vec![picture()]);
    html(&made.unwrap_or_else(|error| panic!("{error}")))
}

/// A gap asks for a test; no test measures the latency of requests that are never made.
#[test]
fn what_other_figures_answer_is_no_gap() {
    let mut run = made("load", TestType::Performance);
    for totals in run.record.totals.values_mut() {
        totals.series.remove(&Series::LogWrite);
    }
    let page = page(&[run], SAID);
    assert!(page.contains("<td>none made</td>"), "{page}");
    assert!(page.contains("The tested solution has 7 disks for 1,000 mailboxes"), "{page}");
    let stated = SAID.replace("[[disks]]", "[hardware]\ndisks_tested = 9\n[[disks]]");
    assert!(self::page(&[made("load", TestType::Performance)], &stated).contains("has 9 disks"));
}

#[test]
fn every_chapter_and_table_of_the_papers_is_there() {
    let runs = [made("load", TestType::Performance), made("day", TestType::Stress)];
    let page = page(&runs, SAID);
    for title in [
        "Overview",
        "Disclaimer",
        "Features",
        "Solution Description",
        "Targeted Customer Profile",
        "Tested Deployment",
        "Table 1: Simulated Exchange Configuration",
        "Table 2: Storage Hardware",
        "Table 3: Storage Software",
        "Table 4: Disks of the Databases",
        "Table 5: Disks of the Logs",
        "Best Practices",
        "Contact for Additional Information",
        "Test Result Summary",
        "Reliability",
        "Table 6: Storage performance of each server",
        "Table 7: Backup of all databases at once",
        "Table 8: Replay of logs",
        "Conclusion",
        "Appendix A: User Mailbox Sizing",
        "Appendix B: Stress test",
        "Appendix C: Performance test",
        "Appendix D: Read-only backup test",
        "Appendix E: Soft recovery test",
        "Figure 1: The array",
    ] {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.contains("Example &lt;Storage&gt;") && !page.contains("<Storage>"));
    let cover = page.split_once("</header>").map_or("", |(cover, _)| cover);
    for part in ["<dt>Customer</dt><dd>Contoso", "Jane Doe", "November 2026"] {
        assert!(cover.contains(part), "{part} is not on the cover");
    }
    assert!(!page.contains("Maximum solution"), "no load beyond the usual one was made");
    assert!(page.contains("3,209 GB") && page.contains("76.4 %"), "what follows is computed");
}

/// A browser's title and a picture's description show marks as they are.
#[test]
fn what_the_vendor_sets_between_backticks_is_code() {
    let said = SAID.replace("Shelf 7", "A `9000` array").replace("The array", "The `9000`");
    let runs = [made("load", TestType::Performance)];
    let page = page(&runs, &said);
    for part in [
        "<title>A 9000 array</title>",
        "<h1>A <code>9000</code> array</h1>",
        "alt=\"Figure 1: The 9000\"",
        "<figcaption>Figure 1: The <code>9000</code></figcaption>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// On paper, the head of a table repeats on each page, a few rows stay with it, no row is split,
/// and a table without a head is not split at all.
#[test]
fn printed_tables_keep_head_and_rows_together() {
    let page = page(&[made("load", TestType::Performance)], SAID);
    for rule in [
        "thead { display: table-header-group; }",
        "tr, figure { break-inside: avoid; }",
        "tbody tr:nth-child(-n+3), tbody tr:last-child { break-before: avoid; }",
        ".paper table:not(:has(thead)) { break-inside: avoid; }",
    ] {
        assert!(page.contains(rule), "{rule}");
    }
}

/// The printer knows whether its paper is A4 or Letter.
#[test]
fn a_printed_page_takes_the_paper_that_is_there() {
    let page = page(&[made("load", TestType::Performance)], SAID);
    for rule in page.split("@page").skip(1) {
        let rule = rule.split('}').next().unwrap_or_default();
        let size = rule.split_once("size: ").map(|(_, rest)| rest.split(';').next());
        assert!(matches!(size, None | Some(Some("portrait" | "landscape"))), "{rule}");
    }
    assert!(page.contains("@page { size: portrait;"), "no page is laid out");
}

#[test]
fn tables_of_results_say_over_what_their_figures_are_taken() {
    let mut backup = made("backup", TestType::Backup);
    backup.record.backups = std::mem::take(&mut backup.record.checksums);
    backup.record.backups[0].elapsed_ns *= 2;
    let rate = record::Checksum::together(&backup.record.backups).mib_per_second();
    let page = page(&[made("load", TestType::Performance), backup], SAID);
    let rate = format!("<td>{}</td>", units::three_digits(rate.unwrap_or(0.0)));
    for part in [
        "Of all: their bytes over the time until the last was read",
        "Log files of 1 MiB, all databases",
        "the time for one as the mean over databases",
        &rate,
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn what_is_missing_is_marked_and_nothing_is_invented() {
    let runs = [made("load", TestType::Performance)];
    let made = paper(&runs, &vendor(template()), Vec::new());
    let Ok(made) = made else { panic!("{made:?}") };
    let gaps = made.gaps();
    for gap in ["cover.vendor", "text.features", "hardware.switch", "disks.raid"] {
        assert!(gaps.iter().any(|of| of == gap), "{gap} is not named in {gaps:?}");
    }
    for test in ["a run of the stress test, 24 hours", "a run of the test of backup"] {
        assert!(gaps.iter().any(|of| of == test), "{test} is not named in {gaps:?}");
    }
    let page = html(&made);
    assert_eq!(page.matches("<mark>").count(), page.matches("</mark>").count());
    assert!(page.contains("<mark>[Missing: the features of the product (text.features)]</mark>"));
    assert!(!page.contains("every test was passed"), "most tests are missing");
}

/// Every key named by a gap must exist in the template.
#[test]
fn a_gap_names_a_key_of_the_template() {
    let keys: toml::Table = toml::from_str(template()).unwrap_or_default();
    let has = |path: &str| {
        let Some((part, key)) = path.split_once('.') else { return false };
        match keys.get(part) {
            Some(toml::Value::Table(table)) => table.contains_key(key),
            Some(toml::Value::Array(blocks)) => blocks.iter().any(|of| of.get(key).is_some()),
            _ => false,
        }
    };
    let runs = [made("load", TestType::Performance)];
    let empty = paper(&runs, &vendor(template()), Vec::new()).map(|paper| paper.gaps());
    let gaps = empty.unwrap_or_default();
    let named: Vec<&String> = gaps.iter().filter(|gap| !gap.starts_with("a run of")).collect();
    assert!(named.len() > 40, "{named:?}");
    for gap in named {
        assert!(has(gap), "{gap} is no key of the template");
    }
}

#[test]
fn a_failed_test_is_said_where_the_conclusion_stands() {
    let mut slow = made("slow", TestType::Performance);
    slow.record = Synthetic { read_median_ns: 40_000_000, ..Synthetic::default() }.run();
    slow.verdict = judge(&slow.record);
    let page = page(&[slow], SAID);
    let conclusion = conclusion(&page);
    assert!(conclusion.contains("performance test of mbx-01: fail"), "{conclusion}");
    assert!(!conclusion.contains("establish suitability for"), "{conclusion}");
}

/// The conclusion's first sentence.
fn conclusion(page: &str) -> &str {
    let chapter = page.split_once("id=\"conclusion-title\"").map_or("", |(_, after)| after);
    let paragraph = chapter.split_once("<p>").map_or("", |(_, after)| after);
    paragraph.split_once("</p>").map_or("", |(paragraph, _)| paragraph)
}

/// All tests of a paper, passed, with loads of the required length.
fn whole() -> Vec<TestedRun> {
    let long = |name: &str, test, measure_intervals| {
        let mut run = made(name, test);
        let made = Synthetic { measure_intervals, ..Synthetic::default() };
        let start = run.record.start.clone();
        run.record = made.run();
        run.record.start = start;
        run.verdict.outcome = verdict::Ruling::Pass;
        run.record.start.settings.mailboxes = Some(1_000);
        run.record.start.settings.iops_per_mailbox = Some(0.12);
        run.record.start.settings.mailbox_bytes = Some(2 << 30);
        run
    };
    vec![
        long("load", TestType::Performance, 2 * 240),
        long("day", TestType::Stress, 24 * 240),
        long("backup", TestType::Backup, 1),
        long("recovery", TestType::Recovery, 1),
    ]
}

#[test]
fn the_conclusion_is_one_sentence_that_never_contradicts_itself() {
    let mut runs = whole();
    let said = page(&runs, SAID);
    let expected = "The tests establish suitability for these mailboxes: every test was passed; \
                    mbx-01 achieved";
    assert!(conclusion(&said).starts_with(expected), "{}", conclusion(&said));
    assert!(conclusion(&said).contains("take 2.0 TiB"), "{}", conclusion(&said));
    // More mail than fits on the volumes, with all tests passed.
    for run in &mut runs {
        run.record.start.settings.mailbox_bytes = Some(20 << 30);
    }
    let little = page(&runs, SAID);
    let refused =
        "This paper does not establish suitability: the volumes of mbx-01 have room for 2.18 TiB";
    assert!(conclusion(&little).starts_with(refused), "{}", conclusion(&little));
    assert!(conclusion(&little).contains("NOT enough"), "{}", conclusion(&little));
    // A failed test despite enough IOPS: the paper must not say "enough".
    runs[1].verdict.outcome = verdict::Ruling::Fail;
    let failed = page(&runs, SAID);
    assert!(conclusion(&failed).contains("stress test of mbx-01: fail"));
    assert!(!conclusion(&failed).contains("is enough") && !conclusion(&failed).contains("every"));
    // The demand is not known.
    for run in &mut runs {
        run.verdict.outcome = verdict::Ruling::Pass;
        run.record.start.settings.mailbox_bytes = None;
    }
    let unknown = page(&runs, SAID);
    assert!(conclusion(&unknown).contains("does not follow without the room asked of mbx-01"));
}

#[test]
fn tests_on_one_volume_at_the_same_time_are_named() {
    let mut runs = vec![made("load", TestType::Performance), made("day", TestType::Stress)];
    runs[1].record.start.started_epoch_ns += 60_000_000_000;
    let said = page(&runs, SAID);
    let expected = "NOTE: the performance test of mbx-01 and the stress test of mbx-01 were on ";
    assert!(said.contains(expected), "{said}");
    runs[1].record.start.started_epoch_ns += 86_400_000_000_000;
    assert!(!page(&runs, SAID).contains("NOTE: "));
}

#[test]
fn a_short_load_is_no_day_and_proves_no_suitability() {
    let day = page(&[made("day", TestType::Stress)], SAID);
    assert!(day.contains("LESS than the 24 hours that papers ask for"));
    let mut recovery = made("recovery", TestType::Recovery);
    recovery.verdict.outcome = verdict::Ruling::Pass;
    let mut runs =
        vec![made("load", TestType::Performance), made("day", TestType::Stress), recovery];
    let without_backup = page(&runs, SAID);
    let said = conclusion(&without_backup);
    assert!(said.ends_with("tests are missing above."), "{said}: papers have a backup");
    let mut backup = made("backup", TestType::Backup);
    backup.verdict.outcome = verdict::Ruling::Pass;
    runs.push(backup);
    let all = page(&runs, SAID);
    let said = conclusion(&all);
    assert!(said.contains("stress test of mbx-01 took less than 24 hours"), "{said}");
    assert!(!said.contains("every test was passed"), "ten minutes are no day");
    runs[1].record.checksums[0].lost_flush_pages = 3;
    assert!(page(&runs, SAID).contains("and 3 were damaged, lost or another page"));
}

/// A paper is not beside the journal, as a report is.
#[test]
fn the_log_of_a_test_is_named_with_its_folder() {
    let page = page(&[made("runs/load", TestType::Performance)], SAID);
    assert!(page.contains("record.jsonl in runs/load") && !page.contains("beside this report"));
}

#[test]
fn predictions_and_altered_records_are_refused() {
    let empty = paper(&[], &Vendor::default(), Vec::new()).map(|_| ());
    assert_eq!(empty, Err(PaperError::NoRun));
    let mut predicted = made("predicted", TestType::Performance);
    predicted.record.start.simulated = Some(Box::default());
    let refused = paper(&[predicted], &Vendor::default(), Vec::new()).map(|_| ());
    assert_eq!(refused, Err(PaperError::Simulated { run: "predicted".to_owned() }));
    let mut altered = made("altered", TestType::Performance);
    altered.record.seal = record::Seal::Altered { line: 7 };
    let refused = paper(&[altered], &Vendor::default(), Vec::new()).map(|_| ());
    assert_eq!(refused, Err(PaperError::Altered { run: "altered".to_owned(), line: 7 }));
}

#[test]
fn the_document_is_a_package_and_the_page_the_same_each_time() {
    let runs = [made("load", TestType::Performance)];
    let made = paper(&runs, &vendor(SAID), vec![picture()]);
    let bytes = made.ok().and_then(|paper| docx(&paper).ok()).unwrap_or_default();
    assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() > 8_192, "{}", bytes.len());
    // A local header and a directory entry for each picture: the vendor's and seven charts.
    let named = bytes.windows(11).filter(|name| name == b"word/media/").count();
    assert!(named >= 2 * 8, "{named}: charts as pictures");
    assert_eq!(page(&runs, SAID), page(&runs, SAID));
}

#[test]
fn several_servers_stand_beside_one_another_and_together() {
    let one = made("one", TestType::Performance);
    let mut other = one.clone();
    other.record.start.machine.name = "mbx-02".to_owned();
    let page = page(&[one.clone(), other], SAID);
    let all = 2.0 * one.record.sum_of(Phase::Measure).transactional_iops();
    let all = report::format::number(all, 2);
    assert!(page.contains("All servers") && page.contains(&all), "{all}");
}

/// Findings from inspecting the storage before a test are in that test's appendix.
#[test]
fn findings_of_the_storage_are_in_the_appendix_of_their_test() {
    let mut run = made("one", TestType::Performance);
    assert!(!page(std::slice::from_ref(&run), SAID).contains("Storage before the Run"));
    run.record.start.storage.push(StorageFinding {
        check: "write-cache".to_owned(),
        title: "Write cache of the device".to_owned(),
        subject: "sda".to_owned(),
        outcome: StorageRuling::Fail,
        seen: "on".to_owned(),
        reason: "it loses its content with power".to_owned(),
        remedy: Some("sdparm --clear=WCE --save /dev/sda".to_owned()),
    });
    let paper = page(&[run], SAID);
    let appendix = paper.split_once("Appendix B").map_or("", |(_, after)| after);
    let remedy = "<span class=\"option\">--save</span> /dev/sda";
    for part in ["Storage before the Run", remedy] {
        assert!(appendix.contains(part), "{part}");
    }
}
