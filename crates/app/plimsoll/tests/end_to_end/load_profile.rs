//! `profile` of counter logs and traces: from what production measured to a day that is simulated.

use std::fmt::Write as _;

use serde_json::Value;

use crate::scene::Scene;

const DATABASE: &str = r"\\EX1\MSExchange Database ==> Instances(Information Store/DB01)";

/// A day of one database in UTF-16, as relog writes it on a German server: 40 reads and 20 writes a
/// second, five times as many from 09:00 to 10:00.
fn counters() -> Vec<u8> {
    let names =
        ["Reads (Attached)/sec", "Reads (Attached) Average Latency", "Writes (Attached)/sec"];
    let mut text = "\"(PDH-CSV 4.0) (Mitteleurop\u{e4}ische Zeit)(-60)\"".to_owned();
    for name in names {
        let _ = write!(text, ",\"{DATABASE}\\I/O Database {name}\"");
    }
    for sample in 0..96 {
        let (hour, minute) = (sample / 4, sample % 4 * 15);
        let times = if hour == 9 { 5.0 } else { 1.0 };
        let _ = write!(text, "\r\n\"11/20/2026 {hour:02}:{minute:02}:00.000\"");
        for value in [40.5 * times, 12.25, 19.5 * times] {
            let _ = write!(text, ",\"{}\"", value.to_string().replace('.', ","));
        }
    }
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn the_day_of_a_counter_log_is_found_and_simulated() {
    let scene = Scene::new("load-profile");
    scene.write("perf.csv", &counters());
    scene.run(["profile", "perf.csv", "-o", "load.toml"]).expect_code(0).expect_out(&[
        "Busiest hour: Friday 2026-11-20, 09:00 to 10:00, with 300 IOPS",
        "203 reads of 12.25 ms",
        "Mitteleurop\u{e4}ische Zeit, UTC+01:00",
        "Everything in the files was understood.",
    ]);
    let json = scene.run(["profile", "perf.csv", "--json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["kind"], "load");
    assert_eq!(json["busiest_hour"]["hour"], "2026-11-20T09:00");
    assert_eq!(json["day"][8]["percent"], 20.0);
    assert!(json["day"][8]["load"]["log_writes"].is_null());

    let workload = String::from_utf8(scene.read("load.toml")).unwrap();
    let plan = "[databases]\nfolders = [\"/mail/a\", \"/mail/b\"]\nsize = \"100GiB\"\n[test]\n\
        interval = \"5min\"\nmaintenance = false\n";
    scene.write("plan.toml", format!("name = \"day\"\n{plan}\n{workload}threads = 4\n").as_bytes());
    scene.run(["simulate", "plan.toml", "--array", "shelf-15k", "-o", "out"]).expect_code(0);
    let report: Value = serde_json::from_slice(&scene.read("out/report.json")).unwrap();
    assert_eq!(
        report["run"]["settings"]["measure_ns"].as_u64(),
        Some(86_400_000_000_000),
        "{report}"
    );
    let by_hour = iops_by_hour(&scene.run(["report", "out", "--format", "csv"]).out);
    assert_eq!(by_hour.len(), 24);
    for (hour, iops) in by_hour.iter().enumerate() {
        let wanted = if hour == 9 { 300.0 } else { 60.0 };
        assert!((iops - wanted).abs() < 0.03 * wanted, "{hour}: {iops} of {wanted}");
    }
}

/// Database reads and writes per second in each hour of the measurement.
fn iops_by_hour(csv: &str) -> Vec<f64> {
    let rows: Vec<(f64, f64)> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[0] == "measurement")
        .filter(|fields| ["Database reads", "Database writes"].contains(&fields[5]))
        .map(|fields| [1, 6].map(|at| fields[at].parse::<f64>().unwrap()))
        .map(|[from, count]| (from, count))
        .collect();
    let begun = rows.iter().map(|(from, _)| *from).fold(f64::MAX, f64::min);
    let mut hours = vec![0.0; 24];
    for (hour, sum) in (0_u32..).zip(&mut hours) {
        let from_seconds = begun + f64::from(hour) * 3_600.0;
        let within =
            rows.iter().filter(|(from, _)| (0.0..3_600.0).contains(&(from - from_seconds)));
        *sum = within.map(|(_, count)| count / 3_600.0).sum();
    }
    hours
}

#[test]
fn a_trace_without_a_clock_names_no_hour_of_the_day() {
    let scene = Scene::new("load-trace");
    let mut text = String::new();
    for second in 0..2_400 {
        let _ = writeln!(text, "8,16 0 1 {second}.5 7 Q W {} + 16 [mail]", second * 99);
    }
    scene.write("trace.txt", text.as_bytes());
    scene.run(["profile", "trace.txt"]).expect_code(0).expect_out(&["since the start", "8,16"]);
    let refused = scene.run(["profile", "trace.txt", "-o", "load.toml"]);
    refused.expect_refusal(&["load.toml", "--trace-start"]);
    let started = ["profile", "trace.txt", "--trace-start", "2026-11-20T09:00", "-o", "load.toml"];
    scene.run(started).expect_code(0).expect_out(&["2026-11-20, 09:00 to 10:00"]);
    let written = String::from_utf8(scene.read("load.toml")).unwrap();
    assert!(written.contains("these hours count as the busiest: 00:00"), "{written}");
    scene.run(["profile", "trace.txt", "--only", "8,0"]).expect_refusal(&["8,16"]);
    scene
        .write("MSGTRK.LOG", b"#Fields: date-time,source,event-id,total-bytes,recipient-address\n");
    scene.run(["profile", "trace.txt", "MSGTRK.LOG"]).expect_refusal(&["two commands"]);
}
