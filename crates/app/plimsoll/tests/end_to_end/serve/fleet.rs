//! A live fleet run in the browser: its hosts, the button that stops all of them, its report.

use super::http::{Request, Server};
use super::wait_for;
use crate::fleets::Fleet;
use crate::scene::Ran;

#[test]
fn a_fleet_run_is_shown_live_and_stopped_and_then_its_report() {
    let Some(mut fleet) = Fleet::up("serve-fleet") else { return };
    for host in ["ex01", "ex02"] {
        fleet.join(host, 300);
    }
    fleet.plan(&["ex01", "ex02"]);
    let server = Server::start(&fleet.scene, &["."]);
    let run = fleet.scene.start(["fleet", "run", "fleet.toml", "-o", "out", "--json"]);
    let page = || {
        let page = server.ask(&Request::get("/fleet/out").token(&server.token));
        let measures = page.body.contains("ex02</th><td>measuring");
        // Its first interval is over.
        (measures && page.body.contains(" ms</td>")).then_some(page)
    };
    let live = wait_for("the rates of the measurement", page);
    live.expect_in(&[
        "<b>measuring</b>",
        "data-label=\"IOPS\"",
        "action=\"/stop-fleet/out\"",
        "refresh",
    ]);
    server.get("/").expect(200).expect_in(&["Fleet runs", "href=\"/fleet/out\"", "measuring"]);
    let status = fleet.scene.run(["fleet", "status", "--json"]);
    status.expect_code(0).expect_out(&["\"load\":{", "\"requests\":"]);
    assert!(!server.get("/fleet/out").body.contains("/stop-fleet/"), "no button without the token");
    server.ask(&Request::post("/stop-fleet/out", "")).expect(403);
    server.ask(&Request::post("/stop-fleet/out", "").token(&server.token)).expect(303);
    let ran = Ran::of(&run.wait_with_output().unwrap());
    ran.expect_code(2).expect_out(&["stopped by a person"]);
    let report = server.get("/fleet/out").expect(200);
    report.expect_in(&["id=\"fleet-hosts\"", "Plimsoll runs", "stopped by a person"]);
    server.ask(&Request::post("/stop-fleet/out", "").token(&server.token)).expect(404);
    let listed = server.get("/").expect(200);
    listed.expect_in(&["href=\"/fleet/out\"", "INCONCLUSIVE"]);
    let (_, runs) = listed.body.split_once("<h1>Runs</h1>").expect("a list");
    assert!(!runs.contains("href=\"/run/out/hosts"), "hosts are part of their fleet");
}
