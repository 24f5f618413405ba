//! Destinations of answers: nothing is overwritten unless requested, and foreign text cannot
//! control the terminal.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use crate::scene::{Scene, small_plan};

const DEPLOYMENT: &str = "name = \"office\"\n\
    [[tier]]\nmailboxes = 200\nmessages_per_day = 100\nsize_limit = \"1GiB\"\n\
    [availability]\nservers_per_site = 2\ncopies = 2\n\
    [data]\nlargest_database = \"200GiB\"\n";
const MAILBOXES: &str = "Identity,TotalItemSize,ItemCount\na,1 GB (1073741824 bytes),10000\n";
const MESSAGES: &str = "#Fields: date-time,source,event-id,recipient-address,\
    total-bytes,sender-address\r\n\
    2026-11-20T09:15:00.100Z,STOREDRIVER,DELIVER,a@x,10240,b@x\r\n";

fn is_file(scene: &Scene, name: &str) -> bool {
    fs::symlink_metadata(scene.path(name)).unwrap().is_file()
}

/// `words`, which answer to `out`: refused where it is there, whatever it is; with `--force` it is
/// replaced and nothing else is touched.
fn expect_careful(scene: &Scene, words: &[&str]) {
    let forced: Vec<&str> = words.iter().copied().chain(["--force"]).collect();
    scene.write("precious", b"precious");
    scene.write("out", b"there before");
    scene.run(words).expect_refusal(&["out", "--force"]);
    assert_eq!(scene.read("out"), b"there before");
    scene.run(&forced);
    assert_ne!(scene.read("out"), b"there before", "{words:?}");
    for target in ["precious", "nowhere"] {
        fs::remove_file(scene.path("out")).unwrap();
        symlink(target, scene.path("out")).unwrap();
        scene.run(words).expect_refusal(&["out", "--force"]);
        scene.run(&forced);
        assert!(is_file(scene, "out"), "{words:?}");
        assert_eq!(scene.read("precious"), b"precious", "{words:?}");
    }
    assert!(!scene.path("nowhere").exists());
    fs::remove_file(scene.path("out")).unwrap();
    fs::create_dir(scene.path("out")).unwrap();
    scene.run(&forced).expect_refusal(&["out", "name a file"]);
    fs::remove_dir(scene.path("out")).unwrap();
}

#[test]
fn no_answer_is_written_over_anything_unasked() {
    let scene = Scene::prepared("answers");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    scene.write("boxes.csv", MAILBOXES.as_bytes());
    scene.write("MSGTRK.LOG", MESSAGES.as_bytes());
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]);
    expect_careful(&scene, &["report", "run", "-o", "out"]);
    expect_careful(&scene, &["size", "deployment.toml", "-o", "out"]);
    expect_careful(&scene, &["profile", "MSGTRK.LOG", "boxes.csv", "-o", "out"]);
    for (words, input) in [
        ("report run --format text -o run/record.jsonl --force", "run/record.jsonl"),
        ("size deployment.toml -o deployment.toml --force", "deployment.toml"),
        ("profile MSGTRK.LOG boxes.csv -o boxes.csv --force", "boxes.csv"),
    ] {
        let before = scene.read(input);
        scene.run(words.split(' ')).expect_refusal(&[input, "name another file"]);
        assert_eq!(scene.read(input), before);
    }
    scene.write("precious", b"precious");
    fs::remove_file(scene.path("run/report.html")).unwrap();
    symlink("../precious", scene.path("run/report.html")).unwrap();
    scene.run(["report", "run"]);
    assert!(is_file(&scene, "run/report.html"));
    assert_eq!(scene.read("precious"), b"precious");
}

#[test]
fn a_laid_out_deployment_is_replaced_only_with_force() {
    let scene = Scene::new("answers-plan");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    scene.run(["plan", "deployment.toml", "-o", "out"]).expect_code(0);
    scene.write("out/plan.toml", b"changed by hand");
    scene.run(["plan", "deployment.toml", "-o", "out"]).expect_refusal(&["out/", "--force"]);
    assert_eq!(scene.read("out/plan.toml"), b"changed by hand");
    scene.run(["plan", "deployment.toml", "-o", "out", "--force"]).expect_code(0);
    assert_ne!(scene.read("out/plan.toml"), b"changed by hand");
    let words = "plan deployment.toml -o tables --export all --export csv-v6";
    scene.run(words.split(' ')).expect_refusal(&["csv-v6", "same names"]);
    assert!(!scene.path("tables").exists());
}

#[test]
fn what_has_no_end_is_not_read_to_it() {
    let scene = Scene::new("endless");
    let long = format!("name = \"{}\"\n", "x".repeat(2 << 20));
    scene.write("long.toml", long.as_bytes());
    for verb in ["prepare", "run", "size", "plan"] {
        scene.run([verb, "/dev/zero"]).expect_refusal(&["/dev/zero", "name a file"]);
        scene.run([verb, "long.toml"]).expect_refusal(&[
            "long.toml",
            "longer than",
            "name the right file",
        ]);
    }
    scene.run(["profile", "/dev/zero"]).expect_refusal(&["/dev/zero", "name a file"]);
    let name = format!("name = \"{}\"\n", "x".repeat(100_000));
    scene.write("name.toml", (name + &small_plan(&scene.folder)).as_bytes());
    let ran = scene.run(["prepare", "name.toml"]);
    ran.expect_code(2);
    assert!(ran.err.len() < 10_000, "{} bytes", ran.err.len());
}

#[test]
fn complaints_are_counted_where_they_are_many() {
    let scene = Scene::new("many-keys");
    let mut plan = String::new();
    for number in 0..40_000 {
        writeln!(plan, "key{number} = 1").unwrap();
    }
    plan.push_str(&small_plan(&scene.folder));
    scene.write("plan.toml", plan.as_bytes());
    let ran = scene.run(["prepare", "plan.toml"]);
    ran.expect_refusal(&["key0: unknown key", "and 39980 more"]);
    assert!(ran.err.len() < 20_000, "{} bytes", ran.err.len());
}

#[test]
fn names_of_others_steer_nothing() {
    let scene = Scene::prepared("steering");
    let evil = "\\u001b[2J\\u202egnp.exe\\u009b31m";
    let plan = small_plan(&scene.folder);
    let plan = format!("description = \"{evil}\"\n{plan}");
    scene.write("plan.toml", plan.as_bytes());
    scene.write("bad.toml", format!("\"{evil}\" = 1\n{plan}").as_bytes());
    let obeyed = ['\u{1b}', '\u{202e}', '\u{9b}'];
    let refused = scene.run(["prepare", "bad.toml"]);
    refused.expect_refusal(&["\\u{1b}[2J\\u{202e}gnp.exe"]);
    assert!(!refused.err.contains(obeyed), "{:?}", refused.err);
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]);
    for form in ["report.txt", "report.html", "report.json"] {
        let text = String::from_utf8(scene.read(format!("run/{form}"))).unwrap();
        assert!(text.contains("gnp.exe"), "{form}");
        assert!(!text.contains(obeyed), "{form}");
    }
    for form in ["text", "html", "json"] {
        let text = scene.run(["report", "run", "--format", form]).out;
        assert!(text.contains("gnp.exe") && !text.contains(obeyed), "{form}");
    }
}
