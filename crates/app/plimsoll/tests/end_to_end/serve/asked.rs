//! Questions to the server that need no storage: deployments sized, arrays simulated.

use super::http::{Request, Server};
use super::{listed, wait_for, wait_for_simulation};
use crate::scene::Scene;

/// Two databases that lie nowhere.
pub(super) const PLAN: &str = "name = \"asked\"\n[databases]\nfolders = [\"/mail/a\"]\ncount = 2\n\
     size = \"1GiB\"\n[workload]\ntarget_iops = 50\n[test]\nduration = \"30s\"\nchecksum = false\n";

/// A folder with a plan, an array and a deployment.
pub(super) fn documents(name: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("plan.toml", PLAN.as_bytes());
    let array = include_str!("../../../../../../arrays/shelf-15k.toml");
    scene.write("own.toml", array.replace("8 x 15K", "OWN 8 x 15K").as_bytes());
    let deployment = scene.run(["size", "--example"]).out;
    scene.write("deployment.toml", deployment.replace("5000", "4321").as_bytes());
    scene
}

#[test]
fn a_deployment_is_sized_from_the_form() {
    let scene = documents("serve-size");
    let server = Server::start(&scene, &["."]);
    let form = server.get("/size").expect(200);
    form.expect_in(&[">deployment.toml</option>", "name=\"tier.1.mailboxes\""]);
    assert!(!form.body.contains("plan.toml") && !form.body.contains("own.toml"));
    let sized = server.get("/sized?tier.1.mailboxes=777&disks.database.size=8TB").expect(200);
    sized.expect_in(&["777", "href=\"/size?tier.1.mailboxes=777&amp;disks.database.size=8TB\""]);
    let own = server.get("/sized?document=deployment.toml").expect(200);
    own.expect_in(&["4,321"]);
    let many = "/sized?scenarios=availability.servers_per_site+%3D+4,6%0Aavailability.copies=2,3";
    server.get(many).expect(200).expect_in(&["availability.copies"]);
    let few = (1..=15).map(|count| count.to_string()).collect::<Vec<String>>().join(",");
    // A second site, with the checks of the command line.
    form.expect_in(&["<select id=\"second_site.model\"", "name=\"second_site.copies\""]);
    let two = "/sized?second_site.model=active%2Fpassive&second_site.copies=1";
    server.get(two).expect(200).expect_in(&["waiting servers, second site"]);
    let one = server.get("/sized?second_site.model=active%2Fpassive").expect(422);
    one.expect_in(&["[second_site]: missing; add `copies = 1`", " selected>active/passive<"]);
    // A mistake is reported above the form, which keeps its values.
    let wrong = server.get("/sized?tier.1.mailboxes=many&servers.cores=8").expect(422);
    wrong.expect_in(&["role=\"alert\"", "mailboxes", "value=\"many\"", "value=\"8\""]);
    for (place, said) in [
        ("/sized?document=absent.toml", "No such deployment"),
        ("/sized?document=../deployment.toml", "No such deployment"),
        ("/sized?document=plan.toml", "plan.toml"),
        ("/sized?scenarios=/etc/hostname", "has no values"),
        ("/sized?further=nonsense", "is no value"),
        (&*format!("/sized?scenarios=io.additional_iops={few}%0Aservers.cores={few}"), "225 comb"),
    ] {
        server.get(place).expect(422).expect_in(&[said]);
    }
}

#[test]
fn arrays_are_simulated_from_the_form_ranked_and_stopped() {
    let scene = documents("serve-simulate");
    let server = Server::start(&scene, &["."]);
    let closed = server.get("/simulate").expect(200);
    closed.expect_in(&["Simulate arrays", "plimsoll serve"]);
    assert!(!closed.body.contains("<form class=\"fields\""), "a POST would be refused");
    let form = server.ask(&Request::get("/simulate").token(&server.token)).expect(200);
    form.expect_in(&[">plan.toml</option>", ">own.toml</option>", ">shelf-15k</option>"]);
    assert!(!form.body.contains("deployment.toml"));
    let asked = |fields: &str| Request::post("/simulate", fields).token(&server.token);
    let fields = "plan=plan.toml&array=own.toml&duration=30s&changes=cache.mode=never,none";
    server.ask(&Request::post("/simulate", fields)).expect(403);
    let wrong = server.ask(&asked(fields)).expect(422);
    wrong.expect_in(&["cache.mode", "role=\"alert\""]);
    for (fields, status) in [
        ("plan=absent.toml&array=own.toml", 404),
        ("plan=plan.toml&array=../own.toml", 404),
        ("plan=plan.toml&array=/etc/hostname", 404),
        ("plan=plan.toml&array=own.toml&changes=/etc/hostname", 422),
        ("plan=deployment.toml&array=own.toml", 422),
        ("plan=plan.toml&array=nvme&changes=a=1,2,3,4,5%0Ab=1,2,3,4,5", 422),
    ] {
        assert_eq!(server.ask(&asked(fields)).status, status, "{fields}");
    }
    assert_eq!(listed(&server, ""), Vec::<String>::new(), "nothing was begun");
    // A file is found however recently the folder was read.
    scene.write("late.toml", b"nonsense");
    assert_eq!(server.ask(&asked("plan=late.toml&array=own.toml")).status, 422);
    let modes = "changes=cache.mode+%3D+write-back,write-through";
    let fields = format!("plan=plan.toml&array=own.toml&duration=30s&{modes}");
    let place = server.ask(&asked(&fields)).expect(303).header("location").unwrap();
    let page = wait_for_simulation("the ranking", || {
        let page = server.get(&place).expect(200);
        page.body.contains("Ranking").then_some(page)
    });
    page.expect_in(&["SIMULATED", "cache.mode=write-back", "cache.mode=write-through", "OWN 8"]);
    assert_eq!(listed(&server, "").len(), 2);
    server.get("/").expect(200).expect_in(&[">ranking</a>"]);
    // One unmodified array: its page leads to the report.
    let single = asked("plan=plan.toml&array=shelf-15k&duration=30s");
    // The process behind a ranking may still be on its way out.
    let begun = || Some(server.ask(&single)).filter(|answer| answer.status != 409);
    let place = wait_for("the next one", begun).expect(303).header("location").unwrap();
    let report = wait_for_simulation("the report", || server.get(&place).header("location"));
    server.get(&report).expect(200).expect_in(&["SIMULATED"]);
    // A long one is asked to stop, and another is refused meanwhile.
    let long = asked("plan=plan.toml&array=shelf-15k&duration=10m&changes=raid.level=10,5");
    let begun = || Some(server.ask(&long)).filter(|answer| answer.status != 409);
    let place = wait_for("the next one", begun).expect(303).header("location").unwrap();
    server.ask(&long).expect(409).expect_in(&["Another run is in progress"]);
    let stop = place.replace("/what-if/", "/stop/");
    server.ask(&Request::post(&stop, "")).expect(403);
    server.ask(&Request::post(&stop, "").token(&server.token)).expect(303);
    wait_for("the end", || (!server.get("/").body.contains("class=\"live\"")).then_some(()));
}
