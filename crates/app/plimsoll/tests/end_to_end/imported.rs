//! A published result of Jetstress, through a record, beside a run of our own.

use serde_json::Value;

use crate::scene::Scene;

const PAGE: &[u8] = include_bytes!("../../../../../fuzz/corpus/jetstress/performance.html");
const XML: &[u8] = include_bytes!("../../../../../fuzz/corpus/jetstress/stress.xml");

/// A scene with two imported results.
fn imported(name: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("old.html", PAGE);
    scene.write("old.xml", XML);
    scene.run(["import", "old.html", "-o", "runs/page"]).expect_code(0).expect_out(&[
        "IMPORTED PASS  320 transactional IOPS",
        "IMPORTED from old.html, not measured by this program.",
        "Jetstress 14.01.0180.003 (about Exchange Server 2010 SP1 (14.1.218.15), builds",
        "Record: runs/page",
    ]);
    scene.run(["import", "old.xml", "-o", "runs/xml"]).expect_code(0).expect_out(&[
        "IMPORTED FAIL  903 transactional IOPS",
        "Missing in the file: a table of transactional I/O, page-fault stalls, a checksum pass.",
    ]);
    scene
}

#[test]
fn an_imported_result_is_reported_and_listed_as_such() {
    let scene = imported("imported");
    // It was not measured here, so it never passes; a limit that an average breaks fails it.
    scene.run(["report", "runs/page", "--format", "text"]).expect_code(2).expect_out(&[
        "IMPORTED from old.html",
        "Imported, not measured here",
        "Instance4001.2",
        "Transactional I/O Performance",
    ]);
    scene.run(["report", "runs/xml", "--format", "text"]).expect_code(1).expect_out(&["22.5 ms"]);
    let json = scene.run(["report", "runs/page", "--format", "json"]).expect_code(2).out.clone();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["achieved_transactional_iops"], 320.0);
    assert_eq!(json["read_latency_ms"], 13.0);
    assert_eq!(json["imported"]["started_local_ns"], 1_303_380_601_000_000_000_u64);
    assert!(json["sum"].is_null(), "what was not measured is missing");
    let page = String::from_utf8(scene.read("runs/page/report.html")).unwrap();
    assert!(page.contains("IMPORTED from old.html"));

    scene.run(["list"]).expect_code(0).expect_out(&[
        "2011-04-21 10:10  Imported pass           320   13.000    3.750  -  ",
        "  ./runs/page",
        "2014-07-03 08:05  Imported fail           903   22.500    5.250  -  ",
        "  ./runs/xml",
    ]);
    let listed: Value = serde_json::from_str(&scene.run(["list", "--json"]).out).unwrap();
    assert_eq!(listed["runs"][0]["imported"], "Jetstress 15.00.0995.000", "the newest first");
    assert_eq!(listed["runs"][0]["started"], "2014-07-03T08:05:09", "no time zone is made up");
    scene
        .run(["import", "old.html", "-o", "runs/page"])
        .expect_refusal(&["runs/page: holds a run already"]);
    scene.run(["import", "old.html"]).expect_code(0).expect_out(&["plimsoll-import-old"]);
}

#[test]
fn an_imported_result_stands_beside_a_run_without_any_margin() {
    let scene = Scene::prepared("imported-compare");
    scene.run(["run", "plan.toml", "--target-iops", "100", "--duration", "6s", "-o", "new"]);
    scene.write("old.html", PAGE);
    scene.run(["import", "old.html", "-o", "old"]).expect_code(0);
    scene.run(["compare", "old", "new"]).expect_code(0).expect_out(&[
        "NO MARGINS: IMPORTED",
        "old: IMPORTED from old.html (Jetstress 14.01.0180.003, about Exchange Server 2010 SP1",
        "has a margin. Its means are over databases, not over requests. It does not state",
        "imported: no margin",
        "beside an imported result no change can be told from noise",
    ]);
    let json = scene.run(["compare", "old", "new", "--json"]).expect_code(0).out.clone();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["runs"][0]["imported"], "Jetstress 14.01.0180.003");
    assert!(json["runs"][0]["started"].is_null() && json["runs"][1]["imported"].is_null());
    let metric = &json["metrics"][0]["values"];
    assert_eq!(metric[0]["value"], 320.0);
    assert_eq!(
        (&metric[1]["margin_percent"], &metric[1]["difference"]),
        (&Value::Null, &"imported".into())
    );
    scene.run(["compare", "new", "old", "--format", "html", "-o", "page.html"]).expect_code(0);
    let words = ["run", "--resume", "old"];
    scene.run(words).expect_code(2);
}

/// What the XML of a run says of a counter of transactional I/O, database by database.
fn transactional_averages(xml: &str, counter: &str) -> Vec<f64> {
    let section = xml.split_once("</disk-subsystem-transactional>").unwrap().0;
    let lines = section.lines().filter(|line| line.contains(&format!("name=\"{counter}\"")));
    let averages = lines.filter_map(|line| line.split_once("average=\"")?.1.split('"').next());
    averages.map(|average| average.parse().unwrap()).collect()
}

#[test]
fn the_xml_of_a_run_comes_back_with_its_figures() {
    let scene = Scene::prepared("imported-xml");
    scene.run(["run", "plan.toml", "--target-iops", "1000", "--duration", "6s", "-o", "new"]);
    // The exit status is the verdict of the run, which six seconds need not give.
    let words = ["report", "new", "--format", "xml", "-o", "new.xml"];
    assert_ne!(scene.run(words).code, None);
    scene
        .run(["import", "new.xml", "-o", "again"])
        .expect_code(0)
        .expect_out(&["Measured by plimsoll 0.1.0 (", "), by way of XML"]);
    let listed: Value = serde_json::from_str(&scene.run(["list", "--json"]).out).unwrap();
    let runs = listed["runs"].as_array().unwrap();
    let figure = |folder: &str, member: &str| {
        let run = runs.iter().find(|run| run["folder"].as_str().unwrap().ends_with(folder));
        run.unwrap()[member].as_f64().unwrap()
    };
    let [new, again] = ["new", "again"].map(|run| figure(run, "achieved_transactional_iops"));
    assert!((new - again).abs() <= 0.01 * new, "{new} and {again} IOPS");
    let xml = String::from_utf8(scene.read("new.xml")).unwrap();
    for (member, counter) in [
        ("read_latency_ms", "I/O Database Reads Average Latency"),
        ("log_write_latency_ms", "I/O Log Writes Average Latency"),
    ] {
        // Ours weighs latencies by requests, theirs are plain means over databases.
        let of_databases = transactional_averages(&xml, counter);
        assert_eq!(of_databases.len(), 2, "{counter}");
        let [new, again] = ["new", "again"].map(|run| figure(run, member));
        let mean = of_databases.iter().sum::<f64>() / 2.0;
        assert!((again - mean).abs() < 0.001, "{member}: {again} of {of_databases:?}");
        let (least, most) =
            (of_databases[0].min(of_databases[1]), of_databases[0].max(of_databases[1]));
        assert!(
            (least - 0.001..=most + 0.001).contains(&new),
            "{member}: {new} of {of_databases:?}"
        );
    }
    let words = ["report", "again", "--format", "xml"];
    scene.run(words).expect_refusal(&["only a load measured here"]);
}

#[test]
fn what_is_no_whole_result_is_refused_and_leaves_nothing() {
    let scene = Scene::new("imported-refused");
    let bomb =
        b"<!DOCTYPE output [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><output>&b;</output>";
    let page = String::from_utf8(PAGE.to_vec()).unwrap();
    let cases: [(Vec<u8>, &str); 7] = [
        (PAGE[..PAGE.len() / 2].to_vec(), "it was cut off"),
        (XML[..XML.len() / 2].to_vec(), "is no whole XML"),
        (bomb.to_vec(), "is no whole XML"),
        (b"<output><other/></output>".to_vec(), "neither a result of Jetstress"),
        (b"<html><p>a page</p></html>".to_vec(), "neither a result of Jetstress"),
        (vec![b' '; 17 << 20], "is longer than 16.0 MiB"),
        (page.replace("12.500", "12,500").into_bytes(), "could be two"),
    ];
    for (bytes, why) in cases {
        scene.write("bad", &bytes);
        scene.run(["import", "bad", "-o", "run"]).expect_refusal(&["bad: ", why]);
        assert!(!scene.path("run").exists(), "{why}");
    }
}
