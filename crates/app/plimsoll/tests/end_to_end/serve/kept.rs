//! What outlives the server: tokens, and what a page has started.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::http::{Request, Server};
use super::{two_runs, wait_for};
use crate::scene::Scene;

#[test]
fn the_token_survives_a_restart_and_may_be_given() {
    let scene = Scene::new("serve-token");
    let first = Server::start(&scene, &["."]).token.clone();
    assert_eq!(Server::start(&scene, &["."]).token, first, "kept for this folder");
    let file = scene.path("below/token");
    let words = [".", "--token-file", "below/token"];
    let given = Server::start(&scene, &words).token.clone();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), given);
    assert_eq!(Server::start(&scene, &words).token, given);
    let variable = ("PLIMSOLL_TOKEN", "a-token-of-the-environment");
    assert_eq!(Server::start_with(&scene, &["."], &[variable]).token, variable.1);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    scene.run(["serve"].iter().chain(&words)).expect_refusal(&["below/token", "chmod 600"]);
    scene.write("short", b"secret");
    fs::set_permissions(scene.path("short"), fs::Permissions::from_mode(0o600)).unwrap();
    let short = scene.run(["serve", ".", "--token-file", "short"]);
    short.expect_refusal(&["short", "16 to 256"]);
}

#[test]
fn a_scraper_has_a_token_that_reads_metrics_alone() {
    let scene = Scene::new("serve-metrics-token");
    let words = [".", "--listen", "0.0.0.0:0"];
    let variable = ("PLIMSOLL_METRICS_TOKEN", "a-token-of-the-scraper");
    let server = Server::start_with(&scene, &words, &[variable]);
    server.get("/metrics").expect(403).expect_in(&["<h1>Token needed</h1>"]);
    server.ask(&Request::get("/metrics").token(variable.1)).expect(200);
    for path in ["/", "/api/runs"] {
        server.ask(&Request::get(path).token(variable.1)).expect(403);
    }
    server.ask(&Request::post("/start", "plan=plan.toml").token(variable.1)).expect(403);
}

#[test]
fn lists_of_the_server_and_of_the_command_are_one_contract() {
    let scene = two_runs("serve-contract");
    let words = ["simulate", "plan.toml", "--array", "nvme", "--duration", "2s", "-q", "-o", "sim"];
    scene.run(words);
    fs::create_dir(scene.path("broken")).unwrap();
    scene.write("broken/record.jsonl", b"no journal");
    let server = Server::start(&scene, &["."]);
    let answer = wait_for("all runs", || {
        let answer: Value = serde_json::from_str(&server.get("/api/runs").body).unwrap();
        let runs = answer["runs"].as_array().unwrap();
        let are_read = runs.len() == 4 && runs.iter().all(|run| run["state"] != "unread");
        are_read.then_some(answer)
    });
    let listed: Value = serde_json::from_str(&scene.run(["list", "--json"]).out).unwrap();
    assert_eq!((&answer["kind"], &answer["schema"]), (&listed["kind"], &listed["schema"]));
    for run in listed["runs"].as_array().unwrap() {
        let mut run = run.clone();
        run.as_object_mut().unwrap().remove("folder");
        let served = answer["runs"].as_array().unwrap();
        let same = served.iter().find(|of| of["id"] == run["id"]).unwrap();
        assert_eq!(same, &run);
    }
    let broken = answer["runs"].as_array().unwrap().iter().find(|run| run["id"] == "broken");
    assert_eq!(broken.unwrap()["state"], "unreadable");
    // Simulated runs stand apart from real ones.
    let list = server.get("/").body;
    let (measured, simulated) = list.split_once("<h2>Simulated runs</h2>").expect(&list);
    assert!(measured.contains("/run/runs/one") && !measured.contains("/run/sim\""));
    assert!(simulated.contains("/run/sim\"") && !simulated.contains("/run/runs/one"));
}

/// A folder and a size lead to a filled database and a run, and nothing is overwritten on the way.
#[test]
fn a_disk_is_tested_without_a_plan_of_ones_own() {
    let scene = Scene::new("serve-guide");
    let server = Server::start(&scene, &["."]);
    let folder = scene.path("disk");
    let post =
        |place: &str, form: &str| server.ask(&Request::post(place, form).token(&server.token));
    let form = |folder: &std::path::Path, name: &str, size: &str| {
        format!("folder={}&name={name}&size={size}&duration=20s", folder.display())
    };
    for (form, said) in [
        (form(&folder, "first", "64MiB"), "no such folder"),
        (form("disk".as_ref(), "first", "64MiB"), "not an absolute path"),
        (form(&scene.folder, "..%2Fup", "64MiB"), "This name cannot be taken"),
        (form(&scene.folder, "first", "much"), "size"),
    ] {
        let refused = post("/guide", &form);
        assert!(refused.status == 409 && refused.body.contains(said), "{form}: {}", refused.body);
    }
    std::fs::create_dir(&folder).unwrap();
    server.ask(&Request::post("/guide", &form(&folder, "first", "64MiB"))).expect(403);
    assert!(!scene.path("first.toml").exists());
    post("/guide", &form(&folder, "first", "64MiB")).expect(303);
    wait_for("the database", || {
        let page = server.ask(&Request::get("/prepare").token(&server.token)).expect(200).body;
        assert!(!page.contains("Not prepared"), "{page}");
        page.contains("Start the run").then_some(())
    });
    let again = post("/guide", &form(&folder, "first", "64MiB"));
    assert!(again.status == 409 && again.body.contains("first.toml"), "{}", again.body);
    let place = post("/start", "plan=first.toml").expect(303).header("location").unwrap();
    assert!(place.starts_with("/live/run-first-"), "{place}");
    post(&place.replace("/live/", "/stop/"), "").expect(303);
}

#[test]
fn a_page_prepares_databases_and_starts_a_run_as_it_is_told() {
    let scene = Scene::new("serve-start");
    scene.write("plan.toml", crate::scene::small_plan(&scene.folder).as_bytes());
    let server = Server::start(&scene, &["."]);
    server.get("/prepare").expect(404);
    let post =
        |place: &str, form: &str| server.ask(&Request::post(place, form).token(&server.token));
    post("/prepare", "plan=plan.toml").expect(303);
    wait_for("the databases", || {
        let page = server.get("/prepare").expect(200).body;
        assert!(!page.contains("Not prepared"), "{page}");
        page.contains("<h1>Prepared plan.toml</h1>").then_some(())
    });
    let bad = [
        ("duration=0s", "no duration"),
        ("test=speed", "speed"),
        ("name=..%2Fup", "This name cannot be taken"),
        ("duration=--help", "no duration"),
    ];
    for (form, said) in bad {
        let refused = post("/start", &format!("plan=plan.toml&{form}"));
        assert!(refused.status == 409 && refused.body.contains(said), "{form}: {}", refused.body);
    }
    let form = "plan=plan.toml&test=stress&duration=3s&name=from+page";
    let place = post("/start", form).expect(303).header("location").unwrap();
    assert!(place.starts_with("/live/run-from-page-"), "{place}");
    let report = place.replace("/live/", "/json/");
    wait_for("the report", || {
        let answer: Value = serde_json::from_str(&server.get(&report).body).ok()?;
        assert_eq!(answer["run"]["name"], "from page", "{answer}");
        let told = (&answer["run"]["test"], &answer["run"]["settings"]["measure_ns"]);
        assert_eq!(told, (&"stress".into(), &3_000_000_000_u64.into()), "{answer}");
        Some(())
    });
}
