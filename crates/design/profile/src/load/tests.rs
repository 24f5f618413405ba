//! Counter logs and traces as production writes them, with everything that goes wrong in them.

use std::fmt::Write as _;

use super::hours::StorageOperation::{LogWrite, Read, Write};
use super::{LoadCollector, LoadOptions, LoadProfile, LoadProfileError};

const READS: &str = r"MSExchange Database ==> Instances(Information Store/DB01)\I/O Database Reads";

/// A log of `columns` of host EX1 with a sample every `minutes`, from Friday 2026-11-20 00:00;
/// `cell` gives each cell from its row and column.
fn log(
    columns: &[&str],
    (rows, minutes): (usize, usize),
    cell: impl Fn(usize, usize) -> String,
) -> String {
    let mut text = "\"(PDH-CSV 4.0) (Eastern Standard Time)(300)\"".to_owned();
    for column in columns {
        let _ = write!(text, ",\"\\\\ex1\\{column}\"");
    }
    for row in 0..rows {
        let at = row * minutes;
        let (day, hour, minute) = (20 + at / 1_440, at / 60 % 24, at % 60);
        let _ = write!(text, "\r\n\"11/{day}/2026 {hour:02}:{minute:02}:00.123\"");
        for column in 0..columns.len() {
            let _ = write!(text, ",\"{}\"", cell(row, column));
        }
    }
    text
}

fn collected(texts: &[&str]) -> Result<LoadProfile, LoadProfileError> {
    let mut collector = LoadCollector::new(LoadOptions::default());
    for (number, text) in texts.iter().enumerate() {
        assert!(LoadCollector::knows(text));
        collector.add(&format!("{number}.csv"), text)?;
    }
    collector.finish()
}

/// A day of DB01 with 100 reads a second of 5 ms each, and 300 of 10 ms from 10:00 to 11:00.
fn day() -> String {
    let columns =
        [&*format!("{READS} (Attached)/sec"), &*format!("{READS} (Attached) Average Latency")];
    log(&columns, (96, 15), |row, column| match (row / 4, column) {
        (10, 0) => "300".to_owned(),
        (10, _) => "10".to_owned(),
        (_, 0) => "100".to_owned(),
        _ => "5".to_owned(),
    })
}

#[test]
fn the_busiest_hour_and_the_day_are_found() {
    let found = collected(&[&day()]).unwrap();
    assert_eq!(found.busiest.hour.to_string(), "2026-11-20, 10:00 to 11:00");
    let reads = found.busiest.load.of(Read).unwrap();
    assert!((reads.iops - 300.0).abs() < 1e-9 && reads.latency_ms == Some(10.0), "{reads:?}");
    assert_eq!(found.busiest.load.of(Write), None, "unknown is not zero");
    assert!((found.day[3].percent - 33.3).abs() < 1e-9 && found.day[10].percent >= 100.0);
    assert_eq!(found.clock, "Eastern Standard Time, UTC-05:00");
    assert_eq!(found.places[0].place.to_string(), "DB01 on EX1");
    assert!(found.unknown_hours().is_empty());
    let text = found.to_text();
    assert!(
        text.contains("Busiest hour: Friday 2026-11-20, 10:00 to 11:00, with 300 IOPS"),
        "{text}"
    );
    assert!(text.contains("Everything in the files was understood."), "{text}");
    let toml = found.to_toml().unwrap();
    assert!(toml.contains("target_iops = 300\n"), "{toml}");
    assert!(toml.contains("33.3, 33.3, 33.3, 33.3, 100.0, 33.3,"), "{toml}");
}

#[test]
fn blanks_resets_gaps_and_strange_columns_are_counted_and_named() {
    let columns = [
        r"LogicalDisk(E:)\Disk Reads/sec",
        r"LogicalDisk(E:)\Avg. Disk sec/Read",
        r"LogicalDisk(E:)\Lesevorg\u00e4nge",
        r"Processor(_Total)\% Processor Time",
    ];
    let text = log(&columns, (96, 15), |row, column| match (row, column) {
        (0, _) => " ".to_owned(),
        (5, 0) => "-1".to_owned(),
        (6, 0) => "18446744073709551615".to_owned(),
        (7, 0) => "no".to_owned(),
        (_, 1) => "0,0125".to_owned(),
        _ => "1.000,5".to_owned(),
    });
    // Nothing from 12:00 to 20:00; one row twice; one with an impossible date.
    let kept = text.split("\r\n").filter(|line| {
        let hour = line.split(' ').nth(1).and_then(|time| time.get(..2)?.parse::<u32>().ok());
        !hour.is_some_and(|hour| (12..20).contains(&hour))
    });
    let mut lines: Vec<&str> = kept.collect();
    let last = lines[lines.len() - 1];
    lines.push(last);
    lines.push("\"13/32/2026 25:00:00\",\"1\"");
    let found = collected(&[&lines.join("\r\n")]).unwrap();
    let file = &found.files[0];
    assert_eq!(file.skipped["blank samples"], 2);
    assert_eq!(file.skipped["values that no counter has (it was reset)"], 2);
    assert_eq!(file.skipped["cells that are no number"], 1);
    assert_eq!(file.skipped["rows out of order or repeated"], 1);
    assert_eq!(file.skipped["rows without a moment"], 1);
    assert_eq!((file.other_columns, file.gaps), (2, (1, 8 * 3_600 + 900)));
    // Three of the four samples of 01:00 could not be used.
    assert_eq!(found.unknown_hours(), [1, 12, 13, 14, 15, 16, 17, 18, 19]);
    assert!(found.day[12].percent >= 100.0, "unknown is as busy as the busiest");
    let reads = found.busiest.load.of(Read).unwrap();
    assert!((reads.iops - 1_000.5).abs() < 1e-9, "{reads:?}");
    assert!((reads.latency_ms.unwrap() - 12.5).abs() < 1e-9, "{reads:?}");
    let text = found.to_text();
    for wanted in ["2 columns of other counters", "1 gap, the longest of 29700 s", "12:00  unknown"]
    {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    assert!(found.to_toml().unwrap().contains("count as the busiest: 01:00, 12:00"));
}

#[test]
fn databases_count_before_volumes_and_parts_before_their_sum() {
    let columns = [
        r"MSExchange Database(Information Store)\I/O Database Reads/sec",
        &format!("{READS} (Attached)/sec"),
        &format!("{READS} (Recovery)/sec"),
        r"MSExchange Database ==> Instances(Information Store/DB01/_Total)\I/O Log Writes/sec",
        r"MSExchange Database ==> Instances(edgetransport/Mail)\I/O Database Reads/sec",
        r"LogicalDisk(_Total)\Disk Reads/sec",
    ];
    let text = log(&columns, (8, 15), |_, column| {
        ["900", "60", "40", "30", "7", "1000"][column].to_owned()
    });
    let found = collected(&[&text]).unwrap();
    let load = found.busiest.load;
    assert!((load.of(Read).unwrap().iops - 100.0).abs() < 1e-9, "{load:?}");
    assert!((load.of(LogWrite).unwrap().iops - 30.0).abs() < 1e-9, "{load:?}");
    assert!((load.transactional_iops() - 100.0).abs() < 1e-9);
    let others: Vec<String> = found.other_places.iter().map(ToString::to_string).collect();
    assert_eq!(others, ["all databases on EX1", "_Total on EX1"]);
    assert_eq!(found.files[0].other_columns, 1, "the queue of the transport service");
}

#[test]
fn hours_of_several_hosts_are_summed_by_one_clock_and_only_if_all_have_samples() {
    let first = day();
    // The same day on another host, one hour to the west, which was switched on at 06:00.
    let second = day().replace(r"\\ex1\", r"\\ex2\").replace("(300)", "(360)");
    let second: Vec<&str> = second
        .split("\r\n")
        .filter(|line| {
            !["00:", "01:", "02:"].iter().any(|hour| line.contains(&format!("2026 {hour}")))
        })
        .collect();
    let found = collected(&[&first, &second.join("\r\n")]).unwrap();
    assert_eq!(found.busiest.hour.to_string(), "2026-11-20, 10:00 to 11:00");
    assert!((found.busiest.load.iops() - 400.0).abs() < 1e-9, "{:?}", found.busiest);
    // 00:00 to 04:00 of the first clock, and the hour after midnight of the second.
    assert_eq!(found.hours_without_a_host, 5);
    assert_eq!(found.unknown_hours(), [0, 1, 2, 3]);
}

#[test]
fn a_log_without_counters_of_storage_or_without_samples_is_refused() {
    let other = log(&[r"Processor(_Total)\% Processor Time"], (3, 15), |_, _| "1".to_owned());
    let error = collected(&[&other]).unwrap_err().to_string();
    assert!(error.contains("% Processor Time") && error.contains("relog"), "{error}");
    let latency = format!("{READS} (Attached) Average Latency");
    let blank = log(&[&latency], (3, 15), |_, _| "5".to_owned());
    let error = collected(&[&blank]).unwrap_err().to_string();
    assert!(error.contains("1 columns of latencies or bytes without"), "{error}");
    let short = log(&[r"LogicalDisk(C:)\Disk Reads/sec"], (20, 1), |_, _| "1".to_owned());
    assert_eq!(collected(&[&short]), Err(LoadProfileError::NoHour));
}

#[test]
fn files_that_come_twice_count_once_and_only_the_places_asked_for_count() {
    let found = collected(&[&day(), &day()]).unwrap();
    assert_eq!(found.files[1].skipped["whole files"], 1);
    assert_eq!(found.files[1].used, 0);
    let only = |name: &str| {
        let options = LoadOptions { only: vec![name.to_owned()], ..LoadOptions::default() };
        let mut collector = LoadCollector::new(options);
        collector.add("a.csv", &day()).unwrap();
        collector.finish()
    };
    assert!(only("db01").is_ok());
    let error = only("DB02").unwrap_err().to_string();
    assert!(error.contains("DB01 on EX1"), "{error}");
}

#[test]
fn a_block_trace_gives_rates_latencies_and_hours_by_the_clock_that_is_given() {
    let mut text = String::new();
    // Two hours: 10 reads a second in the first, 20 in the second, each of 2 ms.
    for second in 0..7_200 {
        let rate = if second < 3_600 { 10 } else { 20 };
        for number in 0..rate {
            let (at, sector) = (number * 40, second * 1_000 + number * 10);
            let _ = writeln!(text, "8,0 1 1 {second}.{at:03}000000 9 Q R {sector} + 8 [mail]");
            let _ = writeln!(text, "8,0 1 1 {second}.{:03}000000 9 C R {sector} + 8 [0]", at + 2);
        }
    }
    let with = |start: Option<&str>| {
        let trace_start = start.map(|start| start.parse().unwrap());
        let mut collector =
            LoadCollector::new(LoadOptions { trace_start, ..LoadOptions::default() });
        collector.add("trace", &text).unwrap();
        collector.finish().unwrap()
    };
    let found = with(Some("2026-11-20T09:00"));
    assert_eq!(found.busiest.hour.to_string(), "2026-11-20, 10:00 to 11:00");
    let reads = found.busiest.load.of(Read).unwrap();
    assert!((reads.iops - 20.0).abs() < 0.01, "{reads:?}");
    assert!((reads.latency_ms.unwrap() - 2.0).abs() < 1e-6, "{reads:?}");
    assert!((reads.bytes_per_second.unwrap() - 20.0 * 4_096.0).abs() < 100.0, "{reads:?}");
    assert!(found.to_toml().is_some());
    let unknown = with(None);
    assert!(unknown.is_relative && unknown.to_toml().is_none());
    assert!("2026-11-20".parse::<super::TraceStart>().is_err());
}

#[test]
fn an_iolog_without_times_has_no_rates() {
    let text = "fio version 2 iolog\n/dev/a add\n/dev/a read 0 4096\n";
    let error = collected(&[text]).unwrap_err().to_string();
    assert!(error.contains("version 3"), "{error}");
}
