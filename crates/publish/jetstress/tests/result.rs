//! Results in the published layout, with numbers made up for these tests.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use jetstress::{JetstressFile, PublishedResult, ResultError, kind_of, parse_result};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use record::{PublishedInstance, PublishedOutcome, TestType};

const PAGE: &str = include_str!("../../../../fuzz/corpus/jetstress/performance.html");
const XML: &str = include_str!("../../../../fuzz/corpus/jetstress/stress.xml");

fn page() -> PublishedResult {
    parse_result(PAGE, "old.html").unwrap()
}

#[test]
fn a_page_becomes_its_figures() {
    let PublishedResult { test, machine, result, .. } = page();
    assert_eq!((test, machine.as_str()), (TestType::Performance, "MAIL-OLD"));
    assert_eq!(result.instrument, "Jetstress 14.01.0180.003");
    assert_eq!(result.engine.as_deref(), Some("ESE 14.01.0218.012"));
    assert_eq!(result.outcome, Some(PublishedOutcome::Pass));
    assert_eq!(result.started_local_ns, Some(1_303_380_601_000_000_000));
    assert_eq!((result.achieved_iops, result.target_iops), (Some(320.0), Some(240.0)));
    assert_eq!(result.initial_database_bytes, Some(2_086_958_956_544));
    assert_eq!(result.load.threads_per_database, Some(3));
    assert_eq!(result.load.cache_maximum_bytes, Some(512 << 20));
    assert_eq!(result.load.mix_percent, Some([40, 20, 5, 35]));
    assert_eq!(result.load.background_maintenance, Some(true));
    assert_eq!(result.counter("Database Page Fault Stalls/sec"), Some(0.0));
    assert_eq!(result.checksums.len(), 1);
    assert_eq!(result.checksums[0].seen_pages, Some(31_852_000));
    assert_eq!(result.test_log.len(), 2);
    assert!(result.test_log[1].ends_with("latencies <= 20 ms & log writes <= 10 ms."));
    assert!(result.lacks.is_empty(), "{:?}", result.lacks);
}

#[test]
fn the_rows_of_a_page_are_those_of_its_databases() {
    let result = page().result;
    let names: Vec<&str> = result.instances.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["Instance4001.1", "Instance4001.2"]);
    let reads = result.all(PublishedInstance::database_reads);
    assert_eq!((reads.latency_ms, reads.per_second), (Some(13.0), Some(199.0)));
    let first = &result.instances[0];
    assert_eq!(first.total.database_reads.per_second, Some(125.25));
    assert_eq!(first.maintenance.bytes, Some(261_718.563));
    assert_eq!(first.replication.per_second, Some(1.125));
    // Without requests there is neither a latency nor a size, although 0 is printed.
    let log_reads = first.transactional.log_reads;
    assert_eq!(
        (log_reads.per_second, log_reads.latency_ms, log_reads.bytes),
        (Some(0.0), None, None)
    );
}

#[test]
fn the_xml_of_2013_has_the_total_alone() {
    let PublishedResult { test, result, .. } = parse_result(XML, "x.xml").unwrap();
    assert_eq!(test, TestType::Stress);
    assert_eq!(result.outcome, Some(PublishedOutcome::Fail));
    assert_eq!(result.load.threads_in_all, Some(12));
    let instance = &result.instances[0];
    assert_eq!(instance.transactional.database_reads.per_second, None);
    assert_eq!(instance.database_reads().per_second, Some(497.5));
    assert_eq!(instance.database_reads().latency_ms, Some(22.5));
    assert_eq!(instance.log_writes().latency_ms, Some(5.25));
    assert!(result.lacks.contains(&"a table of transactional I/O".to_owned()));
    assert!(result.lacks.contains(&"page-fault stalls".to_owned()));
}

#[test]
fn names_and_values_may_be_elements() {
    let text = "<output><test-summary><element><name>Jetstress Version</name>\
                <value>15.00.0995.000</value></element></test-summary><database-sizing><element>\
                <name>Achieved Transactional I/O per Second</name><value>1,903.5</value></element>\
                </database-sizing></output>";
    let result = parse_result(text, "x.xml").unwrap().result;
    assert_eq!(result.achieved_iops, Some(1_903.5));
    assert_eq!(result.instances, []);
}

#[test]
fn a_backup_and_a_recovery_are_known_by_their_statistics() {
    let page = |section: &str| {
        format!(
            "<html><table><tr><td>Jetstress Version</td><td>14.1</td></tr></table>{section}</html>"
        )
    };
    let backup = page(
        "<table><tr><th>Database Instance</th><th>Database Size (MBytes)</th><th>Elapsed Backup \
         Time</th><th>MBytes Transferred/sec</th></tr><tr><td>Instance1.1</td><td>995402.03</td>\
         <td>04:43:57</td><td>58.43</td></tr><tr><td>(Avg)</td><td></td><td></td><td>58.43</td>\
         </tr></table>",
    );
    let backup = parse_result(&backup, "").unwrap();
    assert_eq!((backup.test, backup.result.backups.len()), (TestType::Backup, 1));
    assert_eq!(backup.result.backups[0].mib_per_second, Some(58.43));
    let recovery = page(
        "<table><tr><th>Database Instance</th><th>Log files replayed</th><th>Elapsed seconds</th>\
         </tr><tr><td>Instance1.1</td><td>501</td><td>1114.94</td></tr></table>",
    );
    let recovery = parse_result(&recovery, "").unwrap();
    assert_eq!(recovery.test, TestType::Recovery);
    assert_eq!(recovery.result.replays[0].logs, Some(501));
}

#[test]
fn what_a_file_lacks_stays_missing() {
    let text = PAGE.replace("12.500", "").replace("320.000", "N/A");
    let result = parse_result(&text, "").unwrap().result;
    assert_eq!(result.achieved_iops, None);
    assert_eq!(result.instances[0].database_reads().latency_ms, None);
    assert_eq!(result.all(PublishedInstance::database_reads).latency_ms, None);
    assert!(result.lacks.iter().any(|what| what.starts_with("the achieved")));
}

#[test]
fn hostile_input_is_refused_with_a_reason() {
    let refused = |text: &str| parse_result(text, "x").unwrap_err();
    assert_eq!(refused(PAGE.strip_suffix("</html>\n").unwrap()), ResultError::CutOff);
    assert_eq!(refused(&PAGE[..PAGE.len() / 2]), ResultError::CutOff);
    assert!(matches!(refused(&XML[..XML.len() / 2]), ResultError::NotXml(_)));
    let bomb = "<!DOCTYPE output [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
                <output>&b;</output>";
    assert!(matches!(refused(bomb), ResultError::NotXml(_)));
    assert_eq!(refused("<output><other/></output>"), ResultError::Other);
    assert_eq!(refused("<html><p>A page</p></html>"), ResultError::Other);
    assert_eq!(refused("<configuration/>"), ResultError::Other);
    assert_eq!(refused(""), ResultError::Other);
    assert_eq!(refused(&format!("<html>{}", " ".repeat(5 << 20))), ResultError::TooLong);
    let empty = "<output><test-summary><element name=\"Jetstress Version\" value=\"14.1\"/>\
                 </test-summary></output>";
    assert_eq!(refused(empty), ResultError::NoFigures);
    let comma = PAGE.replace("12.500", "12,500");
    let error = refused(&comma);
    assert!(matches!(error, ResultError::Value { .. }));
    assert!(error.to_string().contains("could be two"), "{error}");
}

#[test]
fn more_databases_than_any_server_has_are_refused() {
    let rows: Vec<String> =
        (0..1_100).map(|n| format!("<tr><td>I{n}</td><td>1.0</td></tr>")).collect();
    let rows = rows.concat();
    let text =
        format!("<html><table><tr><td>x</td><td>I/O Log Reads/sec</td></tr>{rows}</table></html>");
    assert_eq!(parse_result(&text, ""), Err(ResultError::TooMany));
}

#[test]
fn files_are_told_apart_by_their_first_element() {
    assert_eq!(kind_of(PAGE), Some(JetstressFile::HtmlResult));
    assert_eq!(kind_of(XML), Some(JetstressFile::XmlResult));
    let configuration = "\u{feff}<?xml version=\"1.0\"?><!-- <html> --> <configuration>";
    assert_eq!(kind_of(configuration), Some(JetstressFile::Configuration));
    assert_eq!(kind_of("Jetstress <html>"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A page with one part exchanged never ends the program, and gives no number below zero.
    #[test]
    fn damaged_pages_are_read_or_refused(
        at in any::<proptest::sample::Index>(),
        length in 0_usize..200,
        put in "[<>/a-z0-9&;.,\" ]{0,12}",
        is_page in any::<bool>(),
    ) {
        let text = if is_page { PAGE } else { XML };
        let from = at.index(text.len());
        let to = (from + length).min(text.len());
        let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
        if let Ok(read) = parse_result(&damaged, "x") {
            let reads = read.result.all(PublishedInstance::database_reads);
            prop_assert!(reads.latency_ms.is_none_or(|ms| ms >= 0.0));
            prop_assert!(reads.per_second.is_none_or(|rate| rate >= 0.0));
        }
    }

    /// Figures are read as printed, in whatever order the columns come.
    #[test]
    fn columns_are_found_by_name(
        values in proptest::collection::vec(0_u32..1_000_000, 3),
        turn in 0_usize..3,
    ) {
        let mut columns: Vec<(&str, u32)> = COLUMNS.into_iter().zip(values.clone()).collect();
        columns.rotate_left(turn);
        let result = parse_result(&table(&columns), "").unwrap().result;
        let writes = result.instances[0].transactional.log_writes;
        let stated = |value: u32| printed(value).parse::<f64>().ok();
        prop_assert_eq!(writes.per_second, stated(values[1]));
        if values[1] > 0 {
            prop_assert_eq!(writes.latency_ms, stated(values[0]));
            prop_assert_eq!(writes.bytes, stated(values[2]));
        }
    }
}

const COLUMNS: [&str; 3] =
    ["I/O Log Writes Average Latency (msec)", "I/O Log Writes/sec", "I/O Log Writes Average Bytes"];

/// With three decimals, as results print figures.
fn printed(value: u32) -> String {
    format!("{}.{:03}", value / 1_000, value % 1_000)
}

/// A page with one table of one row.
fn table(columns: &[(&str, u32)]) -> String {
    let head = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("</th><th>");
    let row: Vec<String> = columns.iter().map(|(_, value)| printed(*value)).collect();
    let row = row.join("</td><td>");
    format!(
        "<html><fieldset><legend>Transactional I/O Performance</legend><table>\
         <tr><th>Instances</th><th>{head}</th></tr>\
         <tr><td>I1</td><td>{row}</td></tr></table></fieldset></html>"
    )
}
