//! Deployments against arithmetic, through the program: shared arrays, degraded sets, rebuilds.

use std::path::Path;

use serde_json::Value;

use super::{fleet, json};
use crate::scene::Scene;

/// Seven disks of 144 GB behind a controller without memory, in the order of arrival.
const SET: [(&str, &str); 5] = [
    ("level = 0", "level = 5"),
    ("disks = 1", "disks = 7"),
    ("capacity_gb = 4000", "capacity_gb = 144"),
    ("mode = \"write-back\"", "mode = \"pass-through\""),
    ("stripe_kib = 256", "stripe_kib = 64"),
];

const DISKS: f64 = 7.0;

/// Almost only reads of single pages: a hundred messages are read for each that is replaced, and
/// no scan reads whole stripes.
const READS: &str = "[databases]\nfolders = [\"/mail/DB01\"]\nsize = \"64GiB\"\n[workload]\n\
    threads = 8\ntarget_iops = 150\ninsert = 0\ndelete = 0\nreplace = 1\nbatch_updates = 1\n\
    commits_per_batch = 1\n[test]\nmaintenance = false\n";

/// An array file with these changes of the one-disk array that ships.
fn write_array(scene: &Scene) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../arrays/disk-7200.toml");
    let mut text = std::fs::read_to_string(file).expect("an array that ships");
    for (from, to) in SET {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    scene.write("set.toml", text.as_bytes());
}

/// The rows of EX01, and the answer.
fn rows(scene: &Scene, folder: &str) -> (Vec<Value>, Value) {
    let answer = json(&scene.read(format!("{folder}/deployment.json")));
    let rows = answer["rows"].as_array().expect("rows").iter();
    (rows.filter(|row| row["host"] == "EX01").cloned().collect(), answer)
}

/// Requests of a kind that EX01 made, by its report.
fn count(scene: &Scene, folder: &str, kind: &str) -> f64 {
    let report = json(&scene.read(format!("{folder}/hosts/EX01/report.json")));
    report["sum"]["series"][kind]["count"].as_f64().unwrap_or(0.0)
}

/// Judged: with a disk missing, a small read takes 2 (n - 1) / n requests of drives instead of 1,
/// and a small write (5 n - 8) / n instead of 4. n - 1 drives share them instead of n; within 5 %
/// in the mean of three seeds. Single seeds differ by more (seed 4 by 9 %), supposedly because
/// the log and its checkpoint are written in one place, of which
/// the missing disk holds the data, the parity or nothing.
#[test]
fn a_degraded_set_is_as_busy_as_its_service_demand_says() {
    let scene = fleet("deployment-degraded", "");
    scene.write("ex01.toml", READS.as_bytes());
    write_array(&scene);
    let off = ["1", "2", "3"].map(|seed| busier(&scene, seed) - 1.0);
    let mean = off.iter().sum::<f64>() / 3.0;
    assert!(mean.abs() < 0.05, "{off:?}: busier than the service demand says");
}

/// How much busier the drives of EX01 become than their service demand says, as a factor.
fn busier(scene: &Scene, seed: &str) -> f64 {
    let words = "simulate fleet.toml --array set.toml --event disk-failed=EX01@30min \
                 --rebuild-rate 64KiB --duration 1h --json";
    let out = format!("out-{seed}");
    scene.run(words.split_whitespace().chain(["--seed", seed, "-o", &out]));
    let (rows, _) = rows(scene, &out);
    let busy = |is_degraded: bool| {
        let row = rows.iter().find(|row| row["is_degraded"] == is_degraded).expect("a row");
        row["busy_percent"]["disks"].as_f64().expect("a share")
    };
    let made = |kind: &str| count(scene, &out, kind);
    let writes: f64 = ["database_write", "log_write", "header_write"].map(made).iter().sum();
    let reads = made("database_read");
    assert!(reads > 10.0 * writes, "{reads} reads, {writes} writes");
    let whole = (reads + 4.0 * writes) / DISKS;
    let missing = reads * 2.0 * (DISKS - 1.0) / DISKS + writes * (5.0 * DISKS - 8.0) / DISKS;
    let wanted = missing / (DISKS - 1.0) / whole;
    busy(true) / busy(false) / wanted
}

/// Judged: a rebuild takes the capacity of a disk divided by its rate, within 2 %.
#[test]
fn a_rebuild_takes_the_capacity_divided_by_its_rate() {
    let scene = fleet("deployment-rebuild", "");
    write_array(&scene);
    let words = "simulate fleet.toml --array set.toml --event disk-failed=EX01@10min \
                 --rebuild-rate 20000000B --duration 4h -o out --json";
    scene.run(words.split_whitespace());
    let (rows, answer) = rows(&scene, "out");
    let after = answer["events"][0]["redundant_after_ns"].as_f64().expect("it is rebuilt") / 1e9;
    let wanted = 144e9 / 20e6;
    assert!((after / wanted - 1.0).abs() < 0.02, "{after} s, not {wanted}");
    let degraded: Vec<bool> = rows.iter().filter_map(|row| row["is_degraded"].as_bool()).collect();
    assert_eq!(degraded, [false, true, false]);
}

/// Judged: two hosts on one array are one host with the databases of both, within 3 %.
#[test]
fn two_hosts_on_one_array_are_one_host_with_both_plans() {
    let scene = fleet("deployment-shared", "");
    let plan = |count: u32, target: u32| {
        format!(
            "[databases]\nfolders = [\"/mail\"]\ncount = {count}\nsize = \"200GiB\"\n[workload]\n\
             threads = 4\ntarget_iops = {target}\n[test]\nmaintenance = false\n"
        )
    };
    for host in ["ex01", "ex02"] {
        scene.write(&format!("{host}.toml"), plan(1, 200).as_bytes());
    }
    scene.write("both.toml", plan(2, 400).as_bytes());
    let length = "--array shelf-15k --duration 30min";
    let run = |words: &str| scene.run(words.split_whitespace());
    run(&format!("simulate fleet.toml --shared-array {length} -o two"));
    run(&format!("simulate both.toml --level 2 {length} -o one"));
    let figures = |reports: &[&str]| {
        let (mut iops, mut reads, mut took) = (0.0, 0.0, 0.0);
        for report in reports {
            let report = json(&scene.read(report));
            let series = &report["sum"]["series"]["database_read"];
            let count = series["count"].as_f64().expect("reads");
            iops += report["achieved_transactional_iops"].as_f64().expect("requests");
            reads += count;
            took += count * series["average_ms"].as_f64().expect("a mean");
        }
        (iops, took / reads)
    };
    let two = figures(&["two/hosts/EX01/report.json", "two/hosts/EX02/report.json"]);
    let one = figures(&["one/report.json"]);
    assert!((two.0 / one.0 - 1.0).abs() < 0.03, "IOPS: {two:?}, {one:?}");
    assert!((two.1 / one.1 - 1.0).abs() < 0.03, "ms: {two:?}, {one:?}");
}

/// A backup of two hosts with a database each is that of one host with both in their own folders,
/// and each host has its own record.
#[test]
fn passes_of_hosts_on_one_array_share_it() {
    let scene = fleet("deployment-passes", "");
    scene.write("fleet.toml", format!("shared_storage = true\n{}", super::FLEET).as_bytes());
    let plan = |folders: &str| format!("[databases]\nfolders = [{folders}]\nsize = \"64GiB\"\n");
    let own = plan("\"/m\"");
    for host in ["ex01", "ex02"] {
        scene.write(&format!("{host}.toml"), own.as_bytes());
    }
    scene.write("both.toml", plan("\"/a\", \"/b\"").as_bytes());
    let run = |words: &str| scene.run(words.split_whitespace());
    run("simulate fleet.toml --array shelf-15k --test backup -o two").expect_out(&["EX02"]);
    run("simulate both.toml --array shelf-15k --test backup -o one");
    let pace = |reports: &[&str]| -> f64 {
        let passes = |report: &&str| json(&scene.read(report))["backups"].as_array().cloned();
        let all = reports.iter().filter_map(passes).flatten();
        all.map(|of| of["bytes"].as_f64().unwrap() / of["elapsed_ns"].as_f64().unwrap()).sum()
    };
    let two = pace(&["two/hosts/EX01/report.json", "two/hosts/EX02/report.json"]);
    let one = pace(&["one/report.json"]);
    assert!((two / one - 1.0).abs() < 1e-6, "{two} and {one} bytes a nanosecond");
    scene.write("ex02.toml", own.replace("64GiB", "32GiB").as_bytes());
    run("simulate fleet.toml --array shelf-15k --test backup -o no")
        .expect_refusal(&["EX02", "EX01"]);
}
