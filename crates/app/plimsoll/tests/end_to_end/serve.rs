//! `serve`: pages, the live run, and every request that must be refused.

mod asked;
mod browser;
mod fleet;
mod fuzz;
mod http;
mod kept;
mod labels;
mod monitored;
mod packaged;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::Scene;
use crate::sets::copy_folder;
use http::{Request, Server};

/// A folder with two runs of a backup, which take a second each. No verdict is asked for: a machine
/// busy with other work may deny one.
fn two_runs(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    for (name, folder) in [("array a", "runs/one"), ("array b", "runs/two")] {
        let words = ["run", "plan.toml", "--test", "backup", "-o", folder, "--name", name];
        scene.run(words.iter().chain(&["--tag", "rack-3"]));
    }
    scene
}

/// Starts a run of ten minutes by a request; its name.
fn live_run(scene: &Scene, server: &Server) -> String {
    scene.change("plan.toml", |plan| {
        *plan = String::from_utf8(plan.clone()).unwrap().replace("\"2s\"", "\"10min\"").into();
    });
    let start = Request::post("/start", "plan=plan.toml").token(&server.token);
    let place = server.ask(&start).expect(303).header("location").unwrap();
    place.trim_start_matches("/live/").to_owned()
}

/// The ids that `/api/runs` lists.
fn listed(server: &Server, query: &str) -> Vec<String> {
    let answer = server.get(&format!("/api/runs?q={query}"));
    let document: Value = serde_json::from_str(&answer.body).unwrap();
    let runs = document["runs"].as_array().unwrap();
    runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

/// What `look` finds, which may take a while on a machine that is busy.
fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(Duration::from_mins(2), what, look)
}

/// What `look` finds of simulations. They do nothing but compute, and take many times as long on
/// processors that they share with other tests.
fn wait_for_simulation<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(Duration::from_mins(10), what, look)
}

fn wait_within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < limit, "{what} did not come");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn runs_are_listed_searched_shown_and_compared() {
    let scene = two_runs("serve-pages");
    let server = Server::start(&scene, &["."]);
    assert_eq!(listed(&server, ""), ["runs/two", "runs/one"], "the newest first");
    assert_eq!(listed(&server, "array+RACK-3+two"), ["runs/two"]);
    assert_eq!(listed(&server, "rack-4"), Vec::<String>::new());
    let list = server.get("/").expect(200);
    list.expect_in(&["href=\"/run/runs/one\"", ">array a</a>", "<time datetime=", " UTC</time>"]);
    assert!(!list.body.contains("plan.toml"), "without the token nothing can be started");
    let list = server.ask(&Request::get("/").token(&server.token)).expect(200);
    list.expect_in(&["plan.toml", "name=\"test\"", ">backup</option>", "name=\"duration\""]);
    let report = server.get("/run/runs/one").expect(200);
    report.expect_in(&["href=\"/csv/runs/one\"", "href=\"/json/runs/one\""]);
    report.expect_in(&["<!DOCTYPE html>", "array a on ", "Plimsoll storage qualification"]);
    let compared = server.get("/compare?run=runs%2Fone&run=runs/two").expect(200);
    compared.expect_in(&["array a beside array b"]);
    let other = server.get("/compare?run=runs/one&run=runs/two&first=runs/two").expect(200);
    other.expect_in(&["array b beside array a"]);
    let csv = server.get("/csv/runs/one").expect(200);
    assert!(csv.header("content-type").unwrap().starts_with("text/csv"));
    assert!(csv.body.starts_with("phase,"), "{}", csv.body);
    let json: Value = serde_json::from_str(&server.get("/json/runs/one").body).unwrap();
    assert_eq!(json["kind"], "report");
    server.get("/compare?run=runs/one").expect(422).expect_in(&["select at least two"]);
    let scraped = server.get("/metrics").expect(200);
    let counts = scraped.body.lines().filter(|line| line.starts_with("plimsoll_runs{"));
    let count: u32 =
        counts.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap()).sum();
    assert_eq!(count, 2, "{}", scraped.body);
    scraped.expect_in(&["plimsoll_volume_last_verdict{host=", ",run=\"runs/two\",verdict="]);
    scraped.expect_in(&["plimsoll_volume_last_run_timestamp_seconds{"]);
    server.get("/run/runs/three").expect(404).expect_in(&["<h1>Not found</h1>"]);
    // A journal that is no journal hides no other run.
    fs::create_dir(scene.path("broken")).unwrap();
    scene.write("broken/record.jsonl", b"no journal");
    wait_for("the broken run", || listed(&server, "").contains(&"broken".to_owned()).then_some(()));
    server.get("/run/broken").expect(422).expect_in(&["first line"]);
    assert_eq!(listed(&server, "").len(), 3);
}

#[test]
fn a_set_of_tests_is_one_entry_with_one_page() {
    let scene = Scene::prepared("serve-set");
    scene.replay_logs(3);
    let words = ["run", "plan.toml", "--test", "all", "--duration", "1s", "-q", "-o", "runs/set"];
    scene.run(words);
    copy_folder(&scene, "runs/set", "runs/other");
    let server = Server::start(&scene, &["."]);
    let mut ids = listed(&server, "");
    ids.sort_unstable();
    assert_eq!(ids, ["runs/other", "runs/set"]);
    // A list waits for new journals for a tenth of a second.
    wait_for("the rate of the backup", || {
        let answer: Value = serde_json::from_str(&server.get("/api/runs").body).unwrap();
        let tests = answer["runs"][0]["tests"].as_array().unwrap();
        assert_eq!(tests.len(), 4);
        let rate = tests[2]["backup_mib_per_second"].as_f64();
        rate.map(|rate| assert!(rate > 0.0, "{answer}"))
    });
    let list = server.get("/").expect(200);
    list.expect_in(&[
        "href=\"/run/runs/set\"",
        " of 4 passed",
        "<tr class=\"part\">",
        " MiB/s</td>",
    ]);
    let page = server.get("/run/runs/set").expect(200);
    page.expect_in(&["tests passed", "href=\"/run/runs/set/3-backup\"", "Log Recovery/Replay"]);
    server.get("/run/runs/set/3-backup").expect(200);
    let compared = server.get("/compare?run=runs/set&run=runs/other").expect(200);
    compared.expect_in(&["runs/set beside runs/other"]);
    let mixed = server.get("/compare?run=runs/set&run=runs/other/2-stress").expect(422);
    mixed.expect_in(&["only with sets"]);
}

#[test]
fn foreign_hosts_origins_and_missing_tokens_are_refused() {
    let scene = two_runs("serve-refused");
    let server = Server::start(&scene, &["."]);
    let before = scene.snapshot();
    for host in ["evil.example", "evil.example:80", "127.0.0.1:1", "", "localhost.evil.example"] {
        let answer = server.ask(&Request::get("/").host(host));
        assert!([400, 403].contains(&answer.status), "{host}: {}", answer.status);
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let request = Request::get("/api/runs").header("Origin", origin);
        server.ask(&request).expect(403);
        let start = Request::post("/start", "plan=plan.toml").header("Origin", origin);
        server.ask(&start.token(&server.token)).expect(403);
    }
    for path in ["/start", "/stop/runs/one", "/", "/api/runs"] {
        server.ask(&Request::post(path, "plan=plan.toml")).expect(403);
        server.ask(&Request::post(path, "plan=plan.toml").token("0123")).expect(403);
    }
    let query = format!("/start?token={}", server.token);
    server.ask(&Request::post(&query, "plan=plan.toml")).expect(403);
    assert!(scene.snapshot() == before, "a refused request has changed a file");
    let entered = server.get(&format!("/?token={}", server.token)).expect(303);
    assert!(entered.head.contains("HttpOnly; SameSite=Strict"), "{}", entered.head);
    assert!(entered.head.to_lowercase().contains("frame-ancestors 'none'"), "{}", entered.head);
    // A run that has ended cannot be stopped, with the token neither.
    server.ask(&Request::post("/stop/runs/one", "").token(&server.token)).expect(404);
}

#[test]
fn nothing_outside_the_folder_is_read_or_started() {
    let outside = two_runs("serve-outside");
    let scene = Scene::new("serve-inside");
    fs::create_dir(scene.path("linked-journal")).unwrap();
    symlink(outside.path("runs/one"), scene.path("linked")).unwrap();
    symlink(outside.path("runs/one/record.jsonl"), scene.path("linked-journal/record.jsonl"))
        .unwrap();
    symlink(outside.path("plan.toml"), scene.path("linked.toml")).unwrap();
    let server = Server::start(&scene, &["."]);
    assert_eq!(listed(&server, ""), Vec::<String>::new());
    let other = outside.folder.file_name().unwrap().to_str().unwrap();
    let ways = [
        "linked".to_owned(),
        "linked-journal".to_owned(),
        format!("../{other}/runs/one"),
        format!("..%2f{other}%2fruns%2fone"),
        format!("%2e%2e/{other}/runs/one"),
        format!("x/..//../{other}/runs/one"),
        outside.path("runs/one").display().to_string(),
        format!("%2f{}", outside.path("runs/one").display()),
        format!("..%5c{other}%5cruns%5cone"),
    ];
    for way in &ways {
        for page in ["run", "live", "events"] {
            let answer = server.get(&format!("/{page}/{way}"));
            assert!([400, 404].contains(&answer.status), "{way}: {}", answer.status);
        }
        let compare = server.get(&format!("/compare?run={way}&run={way}"));
        assert_eq!(compare.status, 404, "{way}");
    }
    let before = (scene.listing(), outside.snapshot());
    let plan = outside.path("plan.toml").display().to_string();
    for plan in ["linked.toml", &format!("../{other}/plan.toml"), &plan, "/etc/hostname", ""] {
        let start = Request::post("/start", &format!("plan={plan}")).token(&server.token);
        server.ask(&start).expect(404);
    }
    assert!((scene.listing(), outside.snapshot()) == before, "a refused plan was started");
}

#[test]
fn a_run_is_started_watched_and_stopped() {
    let scene = Scene::prepared("serve-live");
    let server = Server::start(&scene, &["."]);
    let id = live_run(&scene, &server);
    assert!(id.starts_with("run-small-"), "{id}");
    let place = format!("/live/{id}");
    let live = Request::get(&place).token(&server.token);
    server.ask(&live).expect(200).expect_in(&["Stop the run", "href=\"/stop/"]);
    assert!(!server.get(&place).body.contains("/stop/"), "without the token nothing is offered");
    let asked = server.ask(&Request::get(&format!("/stop/{id}")).token(&server.token)).expect(200);
    asked.expect_in(&["<h1>Stop small?</h1>", "Keep it running", "<form method=\"post\""]);
    let start = Request::post("/start", "plan=plan.toml").token(&server.token);
    server.ask(&start).expect(409).expect_in(&["<h1>Another run is in progress</h1>"]);
    server.ask(&Request::post(&format!("/stop/{id}"), "")).expect(403);
    let seen = server.watch(&format!("/events/{id}"), |event| {
        event["points"].as_array().is_some_and(|points| !points.is_empty())
    });
    assert_eq!(seen["read"]["limit_ms"], 20.0);
    assert!(seen["iops"].as_f64().unwrap() > 0.0, "{seen}");
    let scraped = server.get("/metrics").expect(200);
    scraped.expect_in(&["plimsoll_run_transactional_iops{run=\"run-small-", "plimsoll_run_phase"]);
    scraped.expect_in(&["plimsoll_run_left_seconds{", "plimsoll_run_latency_limit_seconds{"]);
    scraped.expect_in(&["plimsoll_database_iops{", "database=\"", "Plimsoll002.edb\""]);
    let stop = Request::post(&format!("/stop/{id}"), "").token(&server.token);
    server.ask(&stop).expect(303);
    let ended = || server.get(&place).header("location").filter(|to| to.starts_with("/run/"));
    let report = wait_for("the end of the run", ended);
    let page = server.get(&report).expect(200);
    page.expect_in(&["(interrupted)", "stopped by the user"]);
    assert!(!scene.path(&id).join("stop-requested").exists(), "the request is taken away");
    resumed_there(&server, &id, &report);
    scene.run(["run", "plan.toml", "-o", "other", "--duration", "1s"]);
    let overtaken = server.ask(&Request::get(&report).token(&server.token)).expect(200);
    assert!(!overtaken.body.contains("Resume this run"), "another run opened its databases");
}

/// Decision 091: the run is a separate process, which the next server finds by its journal.
#[test]
fn a_run_outlives_a_server_that_is_killed() {
    let scene = Scene::prepared("serve-killed");
    let mut killed = Server::start(&scene, &["."]);
    let id = live_run(&scene, &killed);
    killed.said();
    let server = Server::start(&scene, &["."]);
    let live = Request::get(&format!("/live/{id}")).token(&server.token);
    server.ask(&live).expect(200).expect_in(&["Stop the run"]);
    server.ask(&Request::post(&format!("/stop/{id}"), "").token(&server.token)).expect(303);
    let ended = || {
        let answer = server.get(&format!("/live/{id}"));
        answer.header("location").filter(|to| to.starts_with("/run/"))
    };
    let report = wait_for("the end of the run", ended);
    server.get(&report).expect(200).expect_in(&["stopped by the user"]);
}

/// The report of a stopped run has a button that completes it.
fn resumed_there(server: &Server, id: &str, report: &str) {
    let resume = format!("/resume/{id}");
    assert!(!server.get(report).body.contains(&resume), "without the token nothing is offered");
    let offered = server.ask(&Request::get(report).token(&server.token)).expect(200);
    offered.expect_in(&[&resume, "Resume this run"]);
    let resumed = server.ask(&Request::post(&resume, "").token(&server.token)).expect(303);
    assert_eq!(resumed.header("location"), Some(format!("/live/{id}")));
    let live = server.ask(&Request::get(&format!("/live/{id}")).token(&server.token)).expect(200);
    live.expect_in(&["Stop the run"]);
    server.ask(&Request::post(&format!("/stop/{id}"), "").token(&server.token)).expect(303);
    let ended = || {
        let answer = server.get(&format!("/live/{id}"));
        answer.header("location").filter(|to| to.starts_with("/run/"))
    };
    let report = wait_for("the end of the resumed run", ended);
    server.get(&report).expect(200).expect_in(&["Cut Off And Resumed"]);
}

#[test]
fn a_plan_that_cannot_be_run_is_refused_with_its_reason() {
    let scene = Scene::prepared("serve-bad-plan");
    scene.write("bad.toml", b"[databases]\nfolders = 7\n");
    let server = Server::start(&scene, &["."]);
    let start = Request::post("/start", "plan=bad.toml").token(&server.token);
    server.ask(&start).expect(409).expect_in(&["bad.toml:2", "folders"]);
}

#[test]
fn what_cannot_be_served_is_said_in_one_sentence_and_ctrl_c_ends_cleanly() {
    let scene = Scene::new("serve-errors");
    scene.run(["serve", "absent"]).expect_refusal(&["absent", "name a folder"]);
    scene.write("file", b"");
    scene.run(["serve", "file"]).expect_refusal(&["file", "name a folder"]);
    let mut server = Server::start(&scene, &["."]);
    let taken = scene.run(["serve", ".", "--listen", &server.address]);
    taken.expect_refusal(&[&server.address, "another program listens there", "--listen"]);
    let elsewhere = scene.run(["serve", ".", "--listen", "192.0.2.1:8437"]);
    elsewhere.expect_refusal(&["192.0.2.1:8437", "an address of this machine"]);
    let process = server.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    let ended = wait_for("the end", || server.child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn on_an_address_of_others_everything_needs_the_token() {
    let scene = Scene::new("serve-public");
    let server = Server::start(&scene, &[".", "--listen", "0.0.0.0:0"]);
    for path in ["/", "/api/runs", "/metrics", "/style.css"] {
        server.get(path).expect(403);
        server.ask(&Request::get(path).token(&server.token)).expect(200);
        let cookie = format!("plimsoll-token-{}={}", server.port(), server.token);
        server.ask(&Request::get(path).header("Cookie", &cookie)).expect(200);
    }
    let named = Request::get("/").host(&format!("evil.example:{}", server.port()));
    server.ask(&named.token(&server.token)).expect(403);
}
