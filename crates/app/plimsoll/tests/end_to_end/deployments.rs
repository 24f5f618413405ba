//! Deployments in virtual time: hosts alone and together, failures, and claims of a design.

mod examples;
mod physics;

use serde_json::Value;

use crate::scene::Scene;

const PLAN: &str = "[databases]\nfolders = [\"/mail/DB01\"]\nsize = \"64GiB\"\n\
                    [workload]\ntarget_iops = 40\n";

const FLEET: &str = "name = \"dag1\"\n[[host]]\nhost = \"EX01\"\nplan = \"ex01.toml\"\n\
                     [[host]]\nhost = \"EX02\"\nplan = \"ex02.toml\"\n";

const COPIES: &str = "[[database]]\nname = \"DB01\"\ncopies = [\"EX01\", \"EX02\"]\n\
                      [[event]]\nat = \"10min\"\nlose = \"EX01\"\n\
                      [[event]]\nat = \"20min\"\nrejoin = \"EX01\"\n";

/// Two hosts, each with one database.
fn fleet(name: &str, more: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("ex01.toml", PLAN.as_bytes());
    scene.write("ex02.toml", PLAN.as_bytes());
    scene.write("fleet.toml", format!("{FLEET}{more}").as_bytes());
    scene
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("JSON")
}

/// The journals differ in the mark that refers to the deployment, and so in every hash.
#[test]
fn a_host_of_a_fleet_that_shares_nothing_is_the_host_alone() {
    let scene = fleet("deployment-alone", "");
    let words = "--array shelf-15k --duration 60s";
    let run = |words: &str| scene.run(words.split(' '));
    run(&format!("simulate fleet.toml {words} -o both"))
        .expect_code(0)
        .expect_out(&["SIMULATED PASS", "EX02"]);
    run(&format!("simulate ex02.toml {words} -o alone")).expect_code(0);
    let [of_fleet, alone] = ["both/hosts/EX02", "alone"].map(|folder| {
        let mut report = json(&scene.read(format!("{folder}/report.json")));
        let verdict = (report["verdict"].take(), report["next_steps"].take());
        report["simulated"]["is_host_of_deployment"].take();
        report["simulated"]["is_judged_by_hosts"].take();
        for shown in ["headline", "meaning"] {
            report[shown].take();
        }
        report["run"]["seal_hash"].take();
        (report, verdict)
    });
    assert_eq!(of_fleet.0, alone.0, "the results differ");
    assert_eq!(of_fleet.1, (Value::Null, Value::Array(Vec::new())));
    assert_eq!(alone.1.0, "simulated_pass");
    let text = String::from_utf8(scene.read("both/hosts/EX02/report.txt")).expect("text");
    assert!(text.contains("../../report.txt"), "{text}");
}

#[test]
fn a_lost_host_moves_its_database_and_comes_back_in_the_fleet_record() {
    let scene = fleet("deployment-lost", COPIES);
    let words = "simulate fleet.toml --array shelf-15k --duration 40min -o lost --json";
    let ran = scene.run(words.split(' '));
    ran.expect_code(0);
    let answer = json(&scene.read("lost/deployment.json"));
    assert_eq!(answer["kind"], "simulated_deployment");
    // Ten minutes away, five more to catch up.
    assert_eq!(answer["events"][0]["redundant_after_ns"], 900_000_000_000_u64, "{answer:#}");
    let rows = answer["rows"].as_array().expect("rows");
    let active = |host: &str| -> Vec<u64> {
        let own = rows.iter().filter(|row| row["host"] == host);
        own.map(|row| row["active"].as_u64().expect("a count")).collect()
    };
    assert_eq!((active("EX01"), active("EX02")), (vec![1, 0, 0, 0], vec![0, 1, 1, 1]));
    repeats_its_verdict(&scene);
}

/// The fleet record beside it is not judged anew, by rules for real hosts.
fn repeats_its_verdict(scene: &Scene) {
    let passed = ["SIMULATED PASS", "deployment.html"];
    scene.run(["report", "lost"]).expect_code(0).expect_out(&passed);
    assert!(!scene.path("lost/report.txt").exists(), "no second verdict");
    let asked = scene.run(["report", "lost", "--format", "json"]);
    asked.expect_code(0);
    assert_eq!(json(asked.out.as_bytes())["verdict"], "simulated_pass");
    let listed = scene.run(["list"]);
    listed.expect_code(0).expect_out(&["Simulated pass"]);
    assert!(!listed.out.contains("No report"), "{}", listed.out);
}

#[test]
fn events_that_name_nothing_or_come_too_late_are_refused() {
    let scene = fleet("deployment-refused", "");
    let refused = |event: &str, words: &[&str]| {
        let line = format!("simulate fleet.toml --array shelf-15k --event {event} -o no");
        scene.run(line.split(' ')).expect_refusal(words);
    };
    refused("host-lost=EX09@1h", &["EX09", "EX01, EX02"]);
    refused("host-lost", &["KIND=NAME@TIME"]);
    refused("host-lost=EX01@25h", &["after the end", "--duration"]);
    let one = "simulate ex01.toml --array shelf-15k --event failback@1h -o no";
    scene.run(one.split(' ')).expect_refusal(&["--event", "provision.json"]);
    assert!(!scene.path("no").exists());
}

#[test]
fn the_servers_of_a_provision_are_simulated_with_a_failed_disk() {
    let scene = Scene::new("deployment-provision");
    // A database for each server: a replay takes as long as there are databases.
    let few = super::size::SHORT.replace("mailboxes = 5000", "mailboxes = 800");
    scene.write("d.toml", format!("{few}[data]\ndatabases = 4\n").as_bytes());
    scene.run(["plan", "d.toml", "-o", "mail"]);
    let words = "simulate mail/provision.json --array disk-7200 --each-folder \
                 --event disk-failed=EX01@1h --duration 96h -o out";
    // The heading of the column is broken over two lines.
    scene.run(words.split_whitespace()).expect_out(&["disk-failed=EX01@1h", "again after"]);
    let answer = json(&scene.read("out/deployment.json"));
    assert!(answer["events"][0]["redundant_after_ns"].as_u64().is_some(), "{answer:#}");
}

#[test]
fn a_design_is_proved_claim_by_claim_and_a_page_is_written() {
    let scene = Scene::new("deployment-proof");
    let small = super::size::SHORT
        .replace("mailboxes = 5000", "mailboxes = 400")
        .replace("servers_per_site = 4", "servers_per_site = 2")
        .replace("copies = 3", "copies = 2");
    scene.write("d.toml", format!("{small}[data]\ndatabases = 2\n").as_bytes());
    let ran = scene.run(["size", "d.toml", "--prove", "--html", "proof.html", "--json"]);
    assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
    let answer = json(ran.out.as_bytes());
    let claims: Vec<&str> = answer["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .filter_map(|claim| claim["claim"].as_str())
        .collect();
    assert!(
        claims.contains(&"one server failed") && claims.contains(&"one disk failed"),
        "{claims:?}"
    );
    let page = String::from_utf8(scene.read("proof.html")).expect("text");
    assert!(page.contains("What It Survives"));
    // The page is refused before the first claim is played.
    let again = scene.run(["size", "d.toml", "--prove", "--html", "proof.html"]);
    assert!(!again.err.contains("to play"), "{}", again.err);
    again.expect_refusal(&["proof.html: is there already", "--force"]);
}

/// Judged: two servers of a published test, each with one database on the array that they share,
/// are within the bands of the published figures (329.5 IOPS within 5 %, reads 12.77 ms within
/// 8 %, database writes 8.47 ms within 20 %).
#[test]
fn two_published_servers_on_one_array_are_within_their_bands() {
    let plan = "preset = \"exchange2010\"\n[databases]\nfolders = [\"/vnx\"]\ncount = 1\n\
                size = \"900GiB\"\n[test]\nmaintenance_throttle = \"23400us\"\n";
    let scene = fleet("deployment-published", "");
    scene.write("fleet.toml", format!("shared_storage = true\n{FLEET}").as_bytes());
    scene.write("ex01.toml", plan.as_bytes());
    scene.write("ex02.toml", plan.as_bytes());
    let words = "simulate fleet.toml --array vnxe3300 --threads 3 --rest 122 --duration 2h -o t1";
    scene.run(words.split(' ')).expect_out(&["EX01", "EX02"]);
    let answer = json(&scene.read("t1/deployment.json"));
    let rows = answer["rows"].as_array().expect("rows");
    let sum =
        |name: &str| -> f64 { rows.iter().filter_map(|row| row["figures"][name].as_f64()).sum() };
    let (iops, reads) = (sum("iops"), sum("reads_ms") / rows.len() as f64);
    assert!((iops / 329.5 - 1.0).abs() < 0.05, "{iops} IOPS");
    assert!((reads / 12.77 - 1.0).abs() < 0.08, "{reads} ms");
    let writes = ["EX01", "EX02"].map(|host| {
        let report = json(&scene.read(format!("t1/hosts/{host}/report.json")));
        report["sum"]["series"]["database_write"]["average_ms"].as_f64().expect("writes")
    });
    let writes = f64::midpoint(writes[0], writes[1]);
    assert!((writes / 8.47 - 1.0).abs() < 0.2, "{writes} ms");
}
