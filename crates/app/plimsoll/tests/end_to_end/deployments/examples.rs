//! The worked examples of the sizing, proved: the tables of the documents are those of the program.
//! `cargo xtask prove examples` proves all of them and writes both tables to `target/tmp`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::json;
use crate::scene::Scene;

const PAGE: &str = include_str!("../../../../../../docs/worked-examples.md");

const EXAMPLES: [&str; 9] = ["E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9"];

/// Those that take seconds.
const QUICK: [&str; 3] = ["E3", "E4", "E5"];

/// The customer's page takes at most this many printed ones.
const MOST_PRINTED: usize = 8;

/// The claims of the first table, by its columns.
const CLAIMS: [&str; 6] = [
    "normal operation",
    "one server failed",
    "two servers failed",
    "a server of each site failed",
    "a site failed",
    "one disk failed",
];

fn deployments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/deployments")
}

/// Proves an example with these changes of its document.
fn proved(name: &str, changes: &[(&str, &str)]) -> Value {
    let file = deployments().join(format!("{name}.toml"));
    let mut text = std::fs::read_to_string(file).expect("it ships");
    for (from, to) in changes {
        assert!(text.contains(from), "{name} has no {from}");
        text = text.replacen(from, to, 1);
    }
    let scene = Scene::new(&format!("example-{name}"));
    scene.write("d.toml", text.as_bytes());
    let ran = scene.run(["size", "d.toml", "--prove", "--html", "proof.html", "--json"]);
    assert!(ran.code.is_some_and(|code| code <= 2), "{name}: {}", ran.err);
    if let Some(pages) = printed_pages(&scene.path("proof.html")) {
        assert!(pages <= MOST_PRINTED, "{name}: its page prints on {pages}");
    }
    json(ran.out.as_bytes())
}

/// How many pages of paper a browser makes of an HTML page; none without a browser.
fn printed_pages(page: &Path) -> Option<usize> {
    if Command::new("chromium").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: printing {}, which needs chromium", page.display());
        return None;
    }
    let (sheets, profile) = (page.with_extension("pdf"), page.with_extension("profile"));
    let mut command = Command::new("timeout");
    command.args(["120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
    command.args(["--no-first-run", "--no-pdf-header-footer"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("--print-to-pdf={}", sheets.display()));
    command.arg(format!("file://{}", page.display()));
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{} was printed", page.display());
    let bytes = std::fs::read(&sheets).expect("a file of sheets");
    let is_page = |rest: &[u8]| rest.starts_with(b"/Type /Page") && rest.get(11) != Some(&b's');
    Some((0..bytes.len()).filter(|&at| is_page(&bytes[at..])).count())
}

fn claims(proof: &Value) -> &[Value] {
    proof["claims"].as_array().expect("claims")
}

fn claim<'a>(proof: &'a Value, name: &str) -> Option<&'a Value> {
    claims(proof).iter().find(|claim| claim["claim"] == name)
}

/// The played result of a claim and, if they disagree, that of the formulas.
fn words(claim: &Value) -> String {
    let state = match claim["state"].as_str().expect("a state") {
        "holds" => "holds",
        "fails" => "**fails**",
        _ => "**fails** on paper",
    };
    let narrowly = if claim["narrow"] == true { " narrowly" } else { "" };
    let disagrees = !claim["disagreement"].is_null();
    let formulas = claim["formulas"].as_str().filter(|_| disagrees);
    let formulas = formulas.map_or_else(String::new, |of| format!(" (formulas: {of})"));
    format!("{state}{narrowly}{formulas}")
}

/// The row of an example in the first table.
fn row(name: &str, proof: &Value) -> String {
    let design = proof["design"].as_str().expect("a sentence").trim_end_matches('.');
    let load = proof["formulas_disk_load_percent"].as_f64();
    let load = load.map_or_else(|| "-".to_owned(), |load| format!("{load:.0} %"));
    let cells = CLAIMS.map(|of| claim(proof, of).map_or_else(|| "-".to_owned(), words));
    format!("| {name} | {design} | {load} | {} |", cells.join(" | "))
}

/// The rows of an example in the table of disagreements.
fn disagreements(name: &str, proof: &Value) -> Vec<String> {
    let why = |claim: &Value| {
        let why = claim["disagreement"].as_str()?;
        let (of, formulas) = (claim["claim"].as_str()?, claim["formulas"].as_str()?);
        Some(format!("| {name} | {of} | {formulas} | {why} |"))
    };
    claims(proof).iter().filter_map(why).collect()
}

/// A row without its numbers, which each change of the model moves a little.
fn bare(row: &str) -> String {
    row.chars().filter(|of| !of.is_ascii_digit()).collect()
}

/// Judged: the claims, their results by formulas and when played, and the reasons of differences.
#[test]
fn the_examples_hold_and_fail_as_the_page_says() {
    let asks_all = std::env::var("PLIMSOLL_PROOFS").is_ok_and(|of| of == "all");
    let names: &[&str] = if asks_all { &EXAMPLES } else { &QUICK };
    let (mut rows, mut reasons) = (Vec::new(), Vec::new());
    for name in names {
        let proof = proved(name, &[]);
        rows.push(row(name, &proof));
        reasons.extend(disagreements(name, &proof));
    }
    let tables = format!("{}\n\n{}\n", rows.join("\n"), reasons.join("\n"));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("worked-examples.md");
    std::fs::write(&file, &tables).expect("a file under target");
    let told: Vec<String> = PAGE.lines().map(bare).collect();
    for wanted in reasons.iter().chain(&rows) {
        let is_there = PAGE.contains(wanted) || told.contains(&bare(wanted));
        assert!(is_there, "docs/worked-examples.md differs from {}:\n{tables}", file.display());
    }
    // A claim of which the page says too much is no row of the program.
    let reasoned = |of: &&str| names.iter().any(|name| of.starts_with(&format!("| {name} | ")));
    let documented = PAGE.lines().filter(reasoned).count();
    assert_eq!(documented, rows.len() + reasons.len(), "{tables}");
}

/// Judged: what the formulas call failed fails. Twice the mailboxes of E4 are more than the
/// processors of one server do.
#[test]
fn what_the_formulas_call_failed_fails() {
    let processors = proved("E4", &[("mailboxes = 500", "mailboxes = 1000")]);
    let of_server = claim(&processors, "one server failed").expect("a claim");
    assert_eq!(of_server["state"], "fails_on_paper", "{of_server:#}");
    assert!(of_server["because"].as_str().is_some_and(|why| why.contains("processors")));
    assert!(of_server["disagreement"].as_str().is_some_and(|why| why.contains("cannot refute")));
}

/// Of E5 with 600 mailboxes on single disks the formulas ask more of a disk than its rating. Write
/// memory joins page writes, so that the played claims hold; the design fails all the same.
#[test]
fn a_disk_beyond_its_rating_is_forbidden_and_the_disagreement_explained() {
    let changes = [
        ("mailboxes = 100", "mailboxes = 600"),
        ("symmetrical = true", "symmetrical = true\ndatabases = 4"),
        ("[storage]", "[storage]\nbuild = \"jbod\""),
    ];
    let proof = proved("E5", &changes);
    assert_eq!(proof["verdict"], "simulated_fail", "{proof:#}");
    let violations = proof["violations"].to_string();
    assert!(violations.contains("a volume needs 72 a second"), "{violations}");
    for claim in claims(&proof) {
        assert_eq!((&claim["formulas"], &claim["state"]), (&"fails".into(), &"holds".into()));
        let why = claim["disagreement"].as_str().expect("a reason");
        assert!(why.contains("joins page writes"), "{why}");
    }
}

/// Played by hand (docs/worked-examples.md): E1 loses EX01 and EX03, a server of each site. Each
/// survivor of the group carries 20 active copies of 10.05 IOPS and replays 20.
#[test]
fn a_server_of_each_site_fails_as_it_was_played_by_hand() {
    let scene = Scene::new("example-by-hand");
    let file = deployments().join("E1.toml");
    scene.run(["plan".as_ref(), file.as_os_str(), "-o".as_ref(), "mail".as_ref()]);
    let line = "simulate mail/provision.json --array disk-7200 --each-folder --duration 20min \
                --event host-lost=EX01@10min host-lost=EX03@10min -o out --json";
    scene.run(line.split_whitespace());
    let answer = json(&scene.read("out/deployment.json"));
    let rows = answer["rows"].as_array().expect("rows");
    for (host, copies) in [("EX01", 0_u32), ("EX02", 20), ("EX03", 0), ("EX04", 20)] {
        let own: Vec<&Value> = rows.iter().filter(|row| row["host"] == host).collect();
        let [before, after] = own[..] else { panic!("{own:#?}") };
        assert_eq!((before["active"].as_u64(), before["passive"].as_u64()), (Some(10), Some(30)));
        let carried = (after["active"].as_u64(), after["passive"].as_u64());
        assert_eq!(carried, (Some(copies.into()), Some(copies.into())), "{after:#}");
        for name in ["iops", "replay_iops"] {
            let (found, wanted) = (after["figures"][name].as_f64(), f64::from(copies) * 10.05);
            assert!(found.is_some_and(|of| (of - wanted).abs() < 0.03 * 201.0), "{after:#}");
        }
    }
    assert_eq!(answer["events"][0]["databases_not_active"], 0, "{answer:#}");
}
