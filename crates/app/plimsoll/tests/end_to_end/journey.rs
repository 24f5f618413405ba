//! From nothing to a report, as a person does it.

use std::fs;

use crate::scene::Scene;

#[test]
fn quick_leads_from_nothing_to_a_report() {
    let scene = Scene::new("quick");
    fs::create_dir(scene.path("disk")).unwrap();
    // The load leaves processors to the tests beside it.
    let quick = ["quick", "disk", "--duration", "4s", "--target-iops", "10"];
    let ran = scene.run(quick.iter().chain(&["--size", "16MiB"]));
    // Four seconds prove nothing, and it says so.
    ran.expect_code(2).expect_out(&[
        "CANNOT JUDGE",
        "Report: ",
        "Measured time 4.",
        " s, at least 30 s",
        // Which advice comes first depends on how much these seconds carried.
        "Next: ",
        ": plimsoll quick disk --",
    ]);
    assert!(!ran.out.contains("plan"), "no plan was written: {}", ran.out);
    ran.expect_err(&["Would the disk under", "remove Plimsoll00*, E0*.plg, "]);
    // The answer lists all files that the program made, and no other file of the folder.
    let ours = |name: &str| {
        let is_log = [".plg", ".pck", ".owner.json"].iter().any(|end| name.ends_with(end));
        name.starts_with("Plimsoll00")
            || name.starts_with("run-")
            || (name.starts_with("E0") && is_log)
    };
    for entry in fs::read_dir(scene.path("disk")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(ours(&name), "{name}");
    }
    let runs: Vec<_> = fs::read_dir(scene.path("disk"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(runs.len(), 1);
    for file in ["record.jsonl", "report.html", "report.txt", "report.json"] {
        assert!(runs[0].join(file).exists(), "{file}");
    }
    scene.run(["check", "disk/Plimsoll001.edb", "disk/Plimsoll002.edb"]).expect_code(0);
    // Databases of another size go only if they may.
    let larger = [&quick[..], &["--size", "24MiB"]].concat();
    scene.run(&larger).expect_refusal(&[
        "to 16.0 MiB each",
        "leave out --size",
        "--reset",
        "24.0 MiB",
    ]);
    let reset = scene.run(larger.iter().chain(&["--reset", "-o", "out", "--tag", "a"]));
    reset.expect_code(2).expect_out(&["Plimsoll001.edb: 24.0 MiB", "CANNOT JUDGE"]);
    reset.expect_out(&[" --tag a --output out-2", "Report: out/report.html"]);
    assert!(scene.path("out/record.jsonl").exists());
    // Existing databases are kept, and shown with their present length.
    let again = scene.run(quick.iter().chain(&["-o", "out-2"]));
    again.expect_code(2).expect_err(&["that it filled there earlier, to 24.0 MiB each"]);
    // A refusal ends with 2 too.
    again.expect_out(&["CANNOT JUDGE", "Report: out-2/report.html"]);
    let bytes = fs::metadata(scene.path("disk/Plimsoll001.edb")).unwrap().len();
    assert!(bytes >= 24 << 20, "{bytes}");
}

#[test]
fn the_number_of_sessions_is_found_and_reported() {
    let scene = Scene::prepared("tune");
    scene.load_fully();
    let words = ["run", "plan.toml", "-o", "run", "--threads", "auto", "--quiet"];
    // Two seconds prove nothing; the findings depend on the disk.
    scene.run(words).expect_code(2);
    let report: serde_json::Value = serde_json::from_slice(&scene.read("run/report.json")).unwrap();
    let found = &report["run"]["tuned"]["sessions_per_database"];
    let found = found.as_u64().expect("a number");
    let text = String::from_utf8(scene.read("run/report.txt")).unwrap();
    let line = format!("{found} (per database, found by tuning)");
    assert!(text.contains(&line), "{text}");
    let tried = format!(" {found} sessions per database: ");
    assert!(text.contains(&tried), "{text}");
}

#[test]
fn a_target_is_judged_and_held() {
    let scene = Scene::prepared("target");
    let judged = |folder: &str, target: &str| {
        let words = format!("run plan.toml -o {folder} -q --duration 4s --target-iops {target}");
        // Four seconds prove nothing, and it says so.
        scene.run(words.split(' ')).expect_code(2);
        let report = scene.read(format!("{folder}/report.json"));
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let mut found = findings.iter().filter(|one| one["rule"] == "target-iops");
        let finding = found.next().unwrap();
        let number = |key: &str| finding[key].as_f64().unwrap();
        let outcome = finding["outcome"].as_str().unwrap().to_owned();
        (outcome, number("measured"), number("limit"))
    };
    // A load that no machine carries, of so few seconds that its growth finds room on the volume.
    let (outcome, measured, limit) = judged("impossible", "2000000");
    assert_eq!(outcome, "cannot_judge");
    assert!(measured < limit, "{measured}");
    // A machine busy with other tests may not reach even this. After a stall one second of it may
    // be caught up, a quarter of the four, and batches that have begun end: twice is beyond that.
    let (outcome, measured, limit) = judged("modest", "500");
    let expected = ["cannot_judge", "pass"][usize::from(measured >= limit)];
    assert_eq!(outcome, expected, "{measured}");
    assert!(measured < 1_000.0, "the load is held, not let go: {measured}");
}

#[test]
fn a_report_can_be_rendered_again_from_the_journal() {
    let scene = Scene::prepared("report");
    let code = scene.run(["run", "plan.toml", "-o", "run", "--quiet"]).code;
    let page = scene.read("run/report.html");
    fs::remove_file(scene.path("run/report.html")).unwrap();
    assert_eq!(scene.run(["report", "run"]).code, code);
    assert!(scene.read("run/report.html") == page, "the same journal, the same page");
    let text = scene.run(["report", "run", "--format", "text"]).out;
    assert_eq!(text.as_bytes(), scene.read("run/report.txt"));
    scene.run(["report", "run", "--format", "json", "-o", "copy.json"]);
    assert_eq!(scene.read("copy.json"), scene.read("run/report.json"));
    serde_json::from_slice::<serde_json::Value>(&scene.read("copy.json")).unwrap();
}

#[test]
fn a_journal_cut_off_by_a_crash_still_reports() {
    let scene = Scene::prepared("torn");
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]);
    scene.change("run/record.jsonl", |bytes| {
        bytes.truncate(bytes.len() * 2 / 3);
    });
    scene.run(["report", "run"]).expect_code(2);
}

#[test]
fn an_interrupted_fill_is_started_over() {
    let scene = Scene::prepared("refill");
    let manifest = String::from_utf8(scene.read("Plimsoll002.manifest.json")).unwrap();
    scene.write(
        "Plimsoll002.manifest.json",
        manifest.replace("\"complete\"", "\"filling\" ").as_bytes(),
    );
    scene.change("Plimsoll002.edb", |bytes| bytes.truncate(1 << 20));
    scene
        .run(["run", "plan.toml"])
        .expect_refusal(&["Plimsoll002.edb", "its fill was interrupted"]);
    scene.run(["prepare", "plan.toml"]).expect_code(0).expect_out(&["was complete already"]);
    scene.run(["check", "Plimsoll001.edb", "Plimsoll002.edb"]).expect_code(0);
}
