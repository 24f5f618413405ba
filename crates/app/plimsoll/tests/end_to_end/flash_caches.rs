//! A cache on flash, sized from a trace and a plan, and in a run.

use std::fmt::Write as _;

use serde_json::Value;

use crate::scene::Scene;

/// Two thirds of the reads go to 200 of 3,000 pages; every tenth line is no request.
fn trace() -> String {
    let mut text = "time,op,offset,length\n".to_owned();
    let mut draw = 1_u64;
    for at in 0..20_000_u64 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = draw >> 33;
        let page = if random.is_multiple_of(3) { random / 3 % 3_000 } else { random / 3 % 200 };
        let _ = writeln!(text, "{}.{:03},R,{},32768", at / 100, at % 100 * 10, page * 32_768);
        if at % 10 == 0 {
            text += "0,trim,0,1\n";
        }
    }
    text
}

#[test]
fn a_trace_gives_a_curve_a_knee_and_an_advice() {
    let scene = Scene::new("cache-size");
    scene.write("trace.csv", trace().as_bytes());
    let ran = scene.run(["cache", "size", "--trace", "trace.csv"]);
    ran.expect_code(0);
    for expected in ["2,001 (lines that are no read or write)", "The curve bends at", "Take "] {
        assert!(ran.out.contains(expected), "{expected}: {}", ran.out);
    }
    let words = ["cache", "size", "--trace", "trace.csv", "--size", "8MiB", "--json"];
    let answer: Value = serde_json::from_str(&scene.run(words).expect_code(0).out).unwrap();
    assert_eq!(answer["kind"], "cache_curve");
    let ratio = answer["points"][0]["database_hit_ratio"].as_f64().unwrap();
    // 256 blocks hold the 200 hot pages and little else.
    assert!((0.6..0.75).contains(&ratio), "{ratio}");
    let once: Vec<String> =
        (0..9_000).map(|at| format!("{at},R,{},32768\n", at * 98_304)).collect();
    let once = once.concat();
    scene.write("once.csv", once.as_bytes());
    let ran = scene.run(["cache", "size", "--trace", "once.csv"]);
    ran.expect_code(0);
    assert!(ran.out.contains("Do not buy a cache"), "{}", ran.out);
}

#[test]
fn what_is_no_trace_is_refused_with_the_reason() {
    let scene = Scene::prepared("cache-size-refused");
    scene.run("run plan.toml -o run".split(' '));
    for (given, expected) in [
        ("run", "counts requests and their latencies, but not which pages"),
        ("run/record.jsonl", "counts requests and their latencies, but not which pages"),
        ("plan.toml", "no trace: pass the text of blkparse"),
        ("missing", "missing"),
    ] {
        let ran = scene.run(["cache", "size", "--trace", given]);
        ran.expect_code(2);
        assert!(ran.err.contains(expected), "{given}: {}", ran.err);
    }
    scene.run(["cache", "size"]).expect_code(64);
    scene.run(["cache", "size", "plan.toml"]).expect_code(64);
}

#[test]
fn a_plan_on_an_array_gains_and_says_how_long_it_takes() {
    let scene = Scene::new("cache-gain");
    let plan = "[databases]\nfolders = [\"/mnt/a\"]\ncount = 1\nsize = \"100GiB\"\n\
                [workload]\nthreads = 6\n[test]\nduration = \"1min\"\n";
    scene.write("plan.toml", plan.as_bytes());
    let words = "cache size plan.toml --array disk-7200 --size 30GiB --size 100GiB --json";
    let ran = scene.run(words.split(' '));
    ran.expect_code(0);
    let answer = ran.out;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["kind"], "cache_gain");
    let of = |at: usize, name: &str| answer["points"][at][name].as_f64().unwrap();
    assert!((of(1, "hit_ratio") - 0.32).abs() < 0.04, "30 GiB of 100: {answer}");
    assert!(of(2, "hit_ratio") > 0.97 && of(2, "iops") > of(0, "iops") * 1.5, "{answer}");
    assert!(of(2, "read_ms") < of(0, "read_ms") / 3.0, "{answer}");
    let hours = answer["points"][2]["warm_up"].as_array().unwrap().last().unwrap();
    assert!(hours["hours"].as_f64().unwrap() > 1.0, "{answer}");
    assert_eq!(answer["advice"]["buy"], true);
    assert_eq!(scene.listing().len(), 1, "nothing stays but the plan");
}

/// The plan of a scene with a cache.
fn cached_plan(scene: &Scene, cache: &str) {
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    scene.write("cached.toml", format!("{plan}[cache]\n{cache}\n").as_bytes());
}

fn database_reads(report: &Value) -> (u64, u64) {
    let class = &report["flash_cache"]["database"];
    (class["reads"].as_u64().unwrap(), class["hits"].as_u64().unwrap())
}

#[test]
fn a_run_fills_its_cache_and_the_next_one_finds_it_warm() {
    let scene = Scene::prepared("cached-run");
    scene.load_fully();
    let file = scene.path("flash.cache");
    cached_plan(&scene, &format!("file = {file:?}\nsize = \"128MiB\""));
    let report = |name: &str| -> Value {
        scene.run(["run", "cached.toml", "-o", name]);
        let text = scene.read(format!("{name}/report.json"));
        serde_json::from_slice(&text).unwrap()
    };
    let cold = report("cold");
    let warm = report("warm");
    let ((cold_reads, _), (warm_reads, warm_hits)) = (database_reads(&cold), database_reads(&warm));
    assert!(cold_reads > 0 && warm_reads > 0, "{cold}");
    assert!(warm_hits * 10 >= warm_reads * 9, "the databases fit: {warm}");
    let log = warm["log"].to_string();
    assert!(log.contains("cached from earlier runs") && !log.contains(" 0 B of"), "{log}");
    let text = String::from_utf8(scene.read("warm/report.txt")).unwrap();
    assert!(text.contains("Flash Cache") && text.contains("Reads Answered by Flash"), "{text}");
    assert!(warm["issues"].to_string().contains("the flash cache"), "same device: {warm}");
    assert_eq!(warm["checksums"][0]["bad_pages"], 0);
    let compared = scene.run(["compare", "cold", "warm"]).out;
    assert!(compared.contains("Flash cache: page reads answered"), "{compared}");
    // Filled anew behind the cache's back: nothing of before is served.
    scene.run(["prepare", "plan.toml", "--reset"]).expect_code(0);
    let anew = report("anew");
    assert!(anew["log"].to_string().contains(" 0 B of"), "{}", anew["log"]);
    assert_eq!(anew["checksums"][0]["bad_pages"], 0);
}

#[test]
fn a_file_that_is_no_cache_is_left_as_it_is() {
    let scene = Scene::prepared("cached-run-refused");
    let file = scene.path("foreign");
    let content = vec![7; 128 << 20];
    scene.write("foreign", &content);
    cached_plan(&scene, &format!("file = {file:?}\nsize = \"128MiB\""));
    let ran = scene.run(["run", "cached.toml", "-o", "run"]);
    ran.expect_code(2);
    ran.expect_err(&["exists and is no flash cache; it was left as it is"]);
    assert!(scene.read("foreign") == content);
    cached_plan(&scene, &format!("file = {file:?}\nsize = \"256MiB\""));
    let ran = scene.run(["run", "cached.toml", "-o", "run"]);
    ran.expect_code(2);
    ran.expect_err(&["[cache] size says 256.0 MiB"]);
    cached_plan(&scene, &format!("file = {:?}\nsize = \"15TiB\"", scene.path("large")));
    let ran = scene.run(["run", "cached.toml", "-o", "run"]);
    ran.expect_code(2);
    ran.expect_err(&["has no room"]);
    assert!(!scene.path("large").exists() && !scene.path("run").exists());
}
