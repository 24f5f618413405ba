//! Names, tags and descriptions that runs are given afterwards.

use std::fs;

use serde_json::Value;

use super::http::{Request, Server};
use super::{listed, two_runs};

const TYPED: &str = "name=Array+B&tags=rack-9%2C+new+cache&description=after+%3Ci%3Ethe+swap";

#[test]
fn a_run_is_labelled_beside_its_journal_which_stays_as_it_was() {
    let scene = two_runs("serve-labels");
    let journal = fs::read(scene.path("runs/one/record.jsonl")).unwrap();
    let server = Server::start(&scene, &["."]);
    let give = |body: &str| Request::post("/labels/runs/one", body);
    server.ask(&give(TYPED)).expect(403);
    server.get("/").expect(200).expect_in(&["<main class=\"read-only\">"]);
    let form = server.ask(&Request::get("/labels/runs/one").token(&server.token)).expect(200);
    form.expect_in(&["value=\"array a\"", "value=\"rack-3\"", "action=\"/labels/runs/one\""]);
    assert!(!server.get("/labels/runs/one").expect(200).body.contains("<form"));
    server.ask(&give(TYPED).token(&server.token)).expect(303);
    assert_eq!(listed(&server, "rack-9+swap"), ["runs/one"]);
    let list = server.get("/").expect(200);
    list.expect_in(&[">Array B</a>", "new cache</i>", "after &lt;i&gt;the swap"]);
    server.get("/compare?run=runs/one&run=runs/two").expect(200).expect_in(&["Array B beside"]);
    server.get("/run/runs/one").expect(200).expect_in(&["array a on "]);
    let told = scene.run(["list", ".", "--json", "--tag", "rack-9"]);
    let told: Value = serde_json::from_str(&told.expect_code(0).out).unwrap();
    assert_eq!(told["runs"][0]["name"], "Array B");
    assert_eq!(told["runs"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read(scene.path("runs/one/record.jsonl")).unwrap(), journal);
    let long = format!("name={}", "x".repeat(65));
    let refused = server.ask(&give(&long).token(&server.token)).expect(422);
    refused.expect_in(&["the name is longer than 64 characters; shorten it"]);
    // Another server finds them, by its history and without.
    drop(server);
    assert_eq!(listed(&Server::start(&scene, &["."]), "rack-9"), ["runs/one"]);
}

#[test]
fn labels_of_something_else_are_named_and_stay() {
    let scene = two_runs("serve-labels-foreign");
    scene.write("runs/one/labels.json", b"[1]");
    let server = Server::start(&scene, &["."]);
    let request = Request::post("/labels/runs/one", TYPED).token(&server.token);
    server.ask(&request).expect(422).expect_in(&["labels.json", "move the file away"]);
    assert_eq!(fs::read(scene.path("runs/one/labels.json")).unwrap(), b"[1]");
    scene.run(["list", ".", "--json"]).expect_code(0).expect_out(&["move the file away"]);
}
