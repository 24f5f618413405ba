//! A fleet run as people see it: followed while it is live, listed as one run, compared, and in a
//! paper.

use serde_json::Value;

use super::Fleet;
use crate::contract::expect_described;
use crate::scene::Ran;

#[test]
fn a_fleet_run_is_watched_listed_compared_and_told_in_a_paper() {
    let Some(mut fleet) = Fleet::up("fleet-views") else { return };
    for host in ["ex01", "ex02"] {
        fleet.join(host, 4);
    }
    fleet.plan(&["ex01", "ex02"]);
    let run = fleet.scene.start(["fleet", "run", "fleet.toml", "-o", "one", "--json"]);
    fleet.wait_for("ex01", "\"event\":\"start\"");
    let watched = fleet.scene.run(["watch", "one"]);
    let ran = Ran::of(&run.wait_with_output().unwrap());
    let scene = &fleet.scene;
    watched.expect_out(&["Fleet: measuring", "ex02: measuring", "2 hosts together"]);
    assert_eq!(watched.code, ran.code, "{}\n{}", watched.out, watched.err);
    for (file, part) in [("report.html", "id=\"fleet-hosts\""), ("report.csv", "ex01,")] {
        let text = String::from_utf8(scene.read(format!("one/{file}"))).unwrap();
        assert!(text.contains(part), "{file} lacks {part}");
    }
    let within = scene.run(["compare", "one", "--json"]);
    assert_eq!(answer(&within)["runs"].as_array().map(Vec::len), Some(2), "{}", within.out);
    scene.run(["compare", "one/hosts/ex01"]).expect_code(64);
    let two = answer(&scene.run(["fleet", "run", "fleet.toml", "-o", "two", "--json"]));
    let both = scene.run(["compare", "one", "two", "--json"]);
    let both = answer(&both);
    assert_eq!(both["kind"], "fleet_comparison", "{both:#}");
    let schema = answer(&scene.run(["schema", "answers"]));
    for found in [&two, &both, &answer(&scene.run(["fleet", "hosts", "--json"]))] {
        expect_described(&schema, found);
    }
    for (at, host) in ["ex01", "ex02"].into_iter().enumerate() {
        assert_eq!(both["hosts"][at]["host"], host, "{both:#}");
        assert!(both["hosts"][at]["comparison"].is_object(), "{both:#}");
    }
    for (form, part) in [("text", "Host ex02:"), ("html", "compared-hosts"), ("csv", "ex02,")] {
        let ran = scene.run(["compare", "one", "two", "--format", form]);
        ran.expect_code(0).expect_out(&[part]);
    }
    let mixed = scene.run(["compare", "one", "two/hosts/ex01"]);
    mixed.expect_refusal(&["compare fleets with fleets"]);
    let paper = scene.run(["report", "one", "--format", "esrp"]);
    paper.expect_out(&["ex01", "ex02"]);
    let listed = answer(&scene.run(["list", ".", "--json"]));
    expect_described(&schema, &listed);
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "a fleet is one run: {listed:#}");
    assert_eq!(runs[0]["hosts"].as_array().map(Vec::len), Some(2), "{listed:#}");
}

fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err))
}
