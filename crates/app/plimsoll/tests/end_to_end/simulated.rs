//! Runs that are predicted on arrays which do not exist.

use std::fs;

use serde_json::Value;

use crate::scene::Scene;

const PLAN: &str = "name = \"predicted\"\n[databases]\nfolders = [\"/mail/a\", \"/mail/b\"]\n\
    size = \"100GiB\"\n[workload]\nthreads = 3\n[test]\nduration = \"40s\"\nchecksum = false\n";

fn scene(name: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("plan.toml", PLAN.as_bytes());
    scene
}

#[test]
fn the_same_simulation_gives_the_same_journal_and_says_what_it_is() {
    let scene = scene("simulated");
    let simulate = |folder: &str, level: &str| {
        let command = ["simulate", "plan.toml", "--array", "shelf-15k", "-o", "out"];
        scene.run(command.iter().chain(&["--level", level])).expect_code(0);
        // The journal has the options of its command, the folder among them.
        fs::rename(scene.path("out"), scene.path(folder)).unwrap();
        scene.read(format!("{folder}/record.jsonl"))
    };
    let report = |folder: &str| -> Value {
        serde_json::from_slice(&scene.read(format!("{folder}/report.json"))).unwrap()
    };
    assert!(simulate("one", "1") == simulate("two", "1"), "the journals differ");
    assert!(report("one")["simulated"]["stretch"].as_f64().unwrap() > 100.0);
    assert!(simulate("three", "auto") == simulate("four", "auto"), "the journals differ");
    let report = report("three");
    assert_eq!(report["simulated"]["stretch"].as_f64(), Some(1.0));
    assert_eq!(report["verdict"], "simulated_pass", "{}", report["findings"]);
    assert!(report["achieved_transactional_iops"].as_f64().unwrap() > 100.0);
    scene.run(["list", "."]).expect_out(&["Simulated pass"]);
    scene.run(["report", "one", "--format", "xml"]).expect_code(2);
    assert!(!scene.path("mail").exists(), "nothing was written but the report");
}

/// Database reads and writes per second of all databases before the measurement.
fn iops_before_the_measurement(csv: &str) -> f64 {
    let (mut requests, mut spans) = (0.0, std::collections::BTreeMap::new());
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [from, to, count] = [1, 2, 6].map(|at| fields[at].parse::<f64>().unwrap());
        let is_of_load = ["Database reads", "Database writes"].contains(&fields[5]);
        if ["warm-up", "tuning"].contains(&fields[0]) && is_of_load {
            requests += count;
            spans.insert(fields[1], to - from);
        }
    }
    requests / spans.values().sum::<f64>()
}

#[test]
fn a_simulated_load_is_held_from_its_first_request_at_both_levels() {
    let scene = scene("simulated-held");
    let plan = PLAN.replace("threads = 3", "target_iops = 150").replace(
        "duration = \"40s\"",
        "duration = \"40s\"\ninterval = \"10s\"\nwarm_up_limit = \"40s\"",
    );
    for (word, is_held) in [("held", true), ("full", false)] {
        let pace = format!("[test]\nwarm_up = \"{word}\"");
        scene.write("plan.toml", plan.replace("[test]", &pace).as_bytes());
        for level in ["1", "2"] {
            let out = format!("{word}-{level}");
            let words = ["simulate", "plan.toml", "--array", "shelf-15k", "--level", level];
            scene.run(words.iter().chain(&["-o", &out]));
            let report: Value =
                serde_json::from_slice(&scene.read(format!("{out}/report.json"))).unwrap();
            assert_eq!(report["run"]["settings"]["warm_up_held"], is_held, "{out}");
            let text = String::from_utf8(scene.read(format!("{out}/report.txt"))).unwrap();
            let words = text.split_whitespace().collect::<Vec<&str>>().join(" ");
            assert_eq!(words.contains("in all from the first request"), is_held, "{out}: {text}");
            let csv = scene.run(["report", &out, "--format", "csv"]).out;
            let iops = iops_before_the_measurement(&csv);
            // Level 2 records no requests of its search, and warms up with the load it found.
            let is_near = (75.0..190.0).contains(&iops);
            assert_eq!(is_near, is_held || level == "2", "{out}: {iops} IOPS");
        }
    }
}

/// Each seed's run is the one that the seed alone gives, and the means have intervals.
#[test]
fn seeds_give_means_with_intervals() {
    let scene = scene("seeds");
    let simulate = ["simulate", "plan.toml", "--array", "shelf-15k", "--duration", "20s"];
    let run = |more: &[&str]| {
        let ran = scene.run(simulate.iter().chain(&["--level", "2"]).chain(more));
        assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
        ran
    };
    run(&["--seed", "7", "--seeds", "3", "-o", "three"]).expect_out(&["+- "]);
    run(&["--seed", "8", "-o", "one"]);
    // Each line ends with the chain of hashes, which begins with the options of the command.
    let lines = |folder: &str| -> Vec<String> {
        let journal = String::from_utf8(scene.read(format!("{folder}/record.jsonl"))).unwrap();
        let intervals = journal.lines().filter(|line| line.contains("\"event\":\"interval\""));
        intervals.map(|line| line.split("\"chain\"").next().unwrap().to_owned()).collect()
    };
    assert!(lines("three/what-if-02") == lines("one"), "the second seed's run is another");
    assert!(lines("three/what-if-01") != lines("one"), "two seeds give the same run");
    let answer: Value = serde_json::from_slice(&scene.read("three/what-if.json")).unwrap();
    let array = &answer["predictions"][0];
    assert_eq!(array["seeds"], 3);
    let half = array["half_width_95"]["achieved_transactional_iops"].as_f64().unwrap();
    let mean = array["achieved_transactional_iops"].as_f64().unwrap();
    assert!(half > 0.0 && half < mean / 4.0, "{mean} +- {half}");
}

#[test]
fn arrays_are_ranked_and_one_without_a_write_cache_fails_by_its_log() {
    let scene = scene("what-if");
    let what_if = ["--what-if", "raid.level=10,5", "cache.mode=write-back,write-through"];
    let command = ["simulate", "plan.toml", "--array", "shelf-15k", "-o", "out"];
    scene.run(command.iter().chain(&what_if)).expect_code(0);
    // The newest of the runs below it fails.
    let ran = scene.run(["report", "out"]);
    ran.expect_code(0);
    ran.expect_out(&["SIMULATED PASS", "Ranking", "Report: out/what-if.html"]);
    let answer: Value = serde_json::from_slice(&scene.read("out/what-if.json")).unwrap();
    let found = |rank: usize, key: &str| &answer["predictions"][rank]["changes"][key];
    assert_eq!(
        (found(0, "raid.level"), found(0, "cache.mode")),
        (&"10".into(), &"write-back".into())
    );
    assert_eq!(
        (found(1, "raid.level"), found(1, "cache.mode")),
        (&"5".into(), &"write-back".into())
    );
    for rank in [2, 3] {
        let failed = &answer["predictions"][rank];
        assert_eq!(failed["verdict"], "simulated_fail", "{failed}");
        assert!(failed["objections"].as_str().unwrap().contains("Log write latency"), "{failed}");
    }
    let page = String::from_utf8(scene.read("out/what-if.html")).unwrap();
    assert!(page.contains("SIMULATED on the model"));
}

#[test]
fn what_cannot_be_simulated_is_refused_and_leaves_nothing() {
    let scene = scene("not-simulated");
    let refused = |more: &[&str], parts: &[&str]| {
        let command = ["simulate", "plan.toml", "-o", "out"];
        scene.run(command.iter().chain(more)).expect_refusal(parts);
        assert!(!scene.path("out").exists());
    };
    refused(&["--array", "nowhere"], &["nowhere: neither a file nor", "shelf-15k"]);
    refused(
        &["--array", "shelf-15k", "--what-if", "raid.levl=5,10"],
        &["shelf-15k", "`levl`", "`level`"],
    );
    refused(&["--array", "shelf-15k", "--what-if", "disk.rpm=1,2"], &["disk.rpm must be from"]);
    scene.write("array.toml", b"name = \"x\"\n[raid]\nlevel = 4\n");
    refused(&["--array", "array.toml"], &["array.toml:3:", "RAID 4 is not simulated"]);
    scene.write("plan.toml", PLAN.replace("100GiB", "9TiB").as_bytes());
    refused(&["--array", "shelf-15k"], &["/mail/a: databases and logs", "larger disks"]);
    scene.write("plan.toml", PLAN.replace("100GiB", "16TiB").as_bytes());
    refused(&["--array", "shelf-15k", "--level", "1"], &["52429 times", "--level 2"]);
}

const DEPLOYMENT: &str = "name = \"office\"\n[[tier]]\nmailboxes = 2000\n\
    messages_per_day = 100\nsize_limit = \"1GiB\"\n[availability]\nservers_per_site = 4\n\
    copies = 2\n";

#[test]
fn a_sized_design_is_judged_before_it_is_bought_and_its_files_take_further_questions() {
    let scene = Scene::new("predicted");
    scene.write("d.toml", DEPLOYMENT.as_bytes());
    let predicted = scene.run(["size", "d.toml", "--predict", "sized", "-o", "sized.html"]);
    let said = predicted.expect_out(&["SIMULATED", "Exit status "]);
    let headlines = said.out.lines().filter(|line| line.contains("SIMULATE")).count();
    assert!(headlines >= 1 && !said.out.contains("SIMULATED FAIL"), "{}", said.out);
    let page = String::from_utf8(scene.read("sized.html")).unwrap();
    assert!(page.contains("id=\"prediction\"") && page.contains("simulated to"), "{page}");
    let report = |folder: &str| -> Value {
        let runs = std::fs::read_dir(scene.path(folder)).unwrap();
        let run = runs.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
        serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap()
    };
    let sized = report("sized");
    assert!(sized["verdict"].as_str().unwrap().starts_with("simulated_"), "{}", sized["verdict"]);
    assert!(sized["simulated"]["array_text"].as_str().unwrap().contains("Nothing measured"));
    assert!(said.err.contains("all active, simulated"), "{}", said.err);

    let sweep = ["simulate", "sized/plan.toml", "--array", "sized/array.toml", "-o", "out"];
    let what_if = ["--duration", "20s", "--what-if", "raid.level=10", "raid.disks=4"];
    scene.run(sweep.iter().chain(&what_if)).expect_out(&["raid.level=10"]);
    assert!(!scene.read("out/what-if.json").is_empty());

    scene.run(["plan", "d.toml", "-o", "planned", "--predict"]).expect_out(&["SIMULATED"]);
    let planned = report("planned/predicted");
    assert_eq!(planned["simulated"]["array_text"], sized["simulated"]["array_text"]);
    assert_eq!(planned["achieved_transactional_iops"], sized["achieved_transactional_iops"]);
}

#[test]
fn a_prediction_is_not_made_where_it_would_mean_nothing_or_replace_something() {
    let scene = Scene::new("not-predicted");
    scene.write("d.toml", DEPLOYMENT.as_bytes());
    scene.run(["plan", "d.toml", "--predict"]).expect_code(64);
    scene.run(["size", "d.toml", "--force"]).expect_code(64);
    std::fs::create_dir(scene.path("out")).unwrap();
    scene.write("out/plan.toml", b"mine");
    scene.run(["size", "d.toml", "--predict", "out"]).expect_refusal(&["out/plan.toml"]);
    assert_eq!(scene.read("out/plan.toml"), b"mine");
    let disk = "database = { size = \"4TB\", type = \"tape\", random_iops = 50 }";
    scene.write("d.toml", format!("{DEPLOYMENT}[disks]\n{disk}\n").as_bytes());
    scene.run(["size", "d.toml", "--predict", "tape"]).expect_refusal(&["\"tape\"", "array file"]);
}

/// The design fails by its rules, whatever a simulation would say: the missing one is a remark.
#[test]
fn a_design_that_breaks_a_rule_fails_without_its_simulation() {
    let scene = Scene::new("fails-unpredicted");
    let tight = "[disks]\ndatabase = { size = \"300GB\", type = \"tape\", random_iops = 50 }\n\
                 [data]\nlargest_database = \"1900GiB\"\ndatabases = 1\n";
    scene.write("d.toml", format!("{DEPLOYMENT}{tight}").as_bytes());
    let verbs: [&[&str]; 3] = [
        &["size", "d.toml", "--predict", "sized"],
        &["size", "d.toml", "--prove"],
        &["plan", "d.toml", "-o", "planned", "--predict"],
    ];
    for words in verbs {
        let ran = scene.run(words);
        ran.expect_code(1).expect_err(&["not simulated: ", "\"tape\""]);
        let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words[0] == "plan" || said.contains("were not simulated: "), "{}", ran.out);
    }
    let answer = scene.run(["size", "d.toml", "--predict", "sized", "--json"]);
    let answer: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(answer["exit_code"], 1, "{answer:#}");
    assert!(answer["not_predicted"].as_str().is_some_and(|of| of.contains("tape")), "{answer:#}");
}

/// Three databases on each of its single disks break no rule and are too slow: the first line says
/// both, and the next step is an edit of the deployment, never a level of RAID.
#[test]
fn a_design_within_the_rules_that_is_too_slow_gets_edits_of_its_own_deployment() {
    let scene = Scene::new("predicted-slow");
    let text = DEPLOYMENT
        .replace("copies = 2", "copies = 3")
        .replace("messages_per_day = 100", "messages_per_day = 500")
        .replace("size_limit = \"1GiB\"", "size_limit = \"10GiB\"");
    // Rated higher than its arm can follow.
    let disk =
        "[disks]\ndatabase = { size = \"3TB\", type = \"7.2K SAS 3.5\", random_iops = 110 }\n";
    scene.write("d.toml", format!("{text}{disk}").as_bytes());
    let predicted = scene.run(["size", "d.toml", "--json", "--predict", "sized"]);
    let answer: Value = serde_json::from_str(&predicted.out).unwrap();
    assert_eq!(answer["workable"], true, "{}", predicted.out);
    assert_eq!(answer["prediction"]["verdict"], "simulated_fail", "{}", predicted.out);
    predicted.expect_code(1);
    let edits = answer["prediction"]["edits"].as_array().unwrap();
    let sections: Vec<&str> = edits.iter().filter_map(|edit| edit["section"].as_str()).collect();
    assert!(sections.contains(&"storage") && sections.contains(&"disks"), "{edits:?}");
    let lines: Vec<&str> = edits.iter().filter_map(|edit| edit["line"].as_str()).collect();
    assert!(lines.iter().all(|line| !line.starts_with("raid")), "{lines:?}");
    // Every edit is simulated, and one of them passes.
    assert!(edits.iter().all(|edit| edit["simulated"].is_string()), "{edits:?}");
    assert!(edits.iter().any(|edit| edit["simulated"] == "pass"), "{edits:?}");
    assert!(scene.path("sized/edit-1/plan.toml").exists());
}

/// Five databases, each on its own disk, which answers no faster than it turns.
#[test]
fn folders_with_arrays_of_their_own_keep_the_physics_of_their_disks() {
    let scene = Scene::new("each-folder");
    let folders: Vec<String> = (0..5).map(|number| format!("\"/mail/{number}\"")).collect();
    let plan = format!(
        "[databases]\nfolders = [{}]\nsize = \"100GiB\"\n[workload]\ntarget_iops = 200\n\
         [test]\nduration = \"2m\"\n",
        folders.join(", ")
    );
    scene.write("plan.toml", plan.as_bytes());
    let report = |level: &str| -> Value {
        let command = ["simulate", "plan.toml", "--array", "disk-7200", "--each-folder"];
        // Level 1 refuses more: their pages would not fit into the caches that it shrinks.
        let more = ["--threads", "2", "--level", level, "-o", level];
        let ran = scene.run(command.iter().chain(&more));
        assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
        serde_json::from_slice(&scene.read(format!("{level}/report.json"))).unwrap()
    };
    let read_ms = |report: &Value| {
        let reads = &report["sum"]["series"]["database_read"];
        reads["average_ms"].as_f64().unwrap()
    };
    let (one, two) = (report("1"), report("2"));
    let (fast, slow) = (read_ms(&one), read_ms(&two));
    assert!((0.95..1.05).contains(&(fast / slow)), "level 1 {fast} ms, level 2 {slow} ms");
    for (name, report) in [("1", &one), ("2", &two)] {
        let all = report["findings"].as_array().unwrap();
        let found = all.iter().find(|of| of["rule"] == "possible-reads").unwrap();
        assert_eq!(found["outcome"], "pass", "level {name}: {found}");
        assert!(found["measured"].as_f64() > found["limit"].as_f64(), "level {name}: {found}");
    }
}

/// Twenty folders that are alike take no longer than one, and have its figures twenty times.
#[test]
fn alike_folders_are_simulated_once() {
    let scene = Scene::new("alike");
    let simulated = |folders: u32, more: &[&str]| {
        let names: Vec<String> = (0..folders).map(|number| format!("\"/{number}\"")).collect();
        let plan = format!("[databases]\nfolders = [{}]\nsize = \"64GiB\"\n", names.join(", "));
        scene.write("plan.toml", plan.as_bytes());
        let out = format!("of-{folders}");
        let words = ["simulate", "plan.toml", "--array", "shelf-15k", "--each-folder", "--threads"];
        let own = ["2", "--duration", "1m", "-o", &out];
        let ran = scene.run(words.iter().chain(&own).chain(more));
        let report = scene.read(format!("{out}/what-if-01/report.json"));
        let report: Value = serde_json::from_slice(&report).unwrap();
        (ran, report["achieved_transactional_iops"].as_f64().unwrap(), report["log"].to_string())
    };
    let what_if = ["--what-if", "raid.level=5,10"];
    let (ran, many, log) = simulated(20, &what_if);
    assert!(log.contains("simulated once: 1 of 20"), "{log}");
    ran.expect_err(&["2 simulations of 20 databases", "of memory at most"]);
    let (_, one, log) = simulated(1, &what_if);
    assert!(!log.contains("simulated once"), "{log}");
    // The trace of the engine differs, since twenty databases are made smaller than one.
    assert!((0.8..1.25).contains(&(many / one / 20.0)), "{many} of twenty, {one} of one");
}

/// The engine keeps the pages of one folder in memory, and its figures count for all.
#[test]
fn alike_folders_are_simulated_once_by_the_engine_too() {
    let scene = Scene::new("alike-engine");
    let simulated = |folders: u32| {
        let names: Vec<String> = (0..folders).map(|number| format!("\"/{number}\"")).collect();
        let plan = format!(
            "[databases]\nfolders = [{}]\nsize = \"1GiB\"\n[workload]\nthreads = 2\n",
            names.join(", ")
        );
        scene.write("plan.toml", plan.as_bytes());
        let out = format!("of-{folders}");
        let words = ["simulate", "plan.toml", "--array", "disk-7200", "--each-folder"];
        let own = ["--level", "1", "--duration", "31s", "-o", &out];
        let ran = scene.run(words.iter().chain(&own));
        assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
        serde_json::from_slice::<Value>(&scene.read(format!("{out}/report.json"))).unwrap()
    };
    let (many, one) = (simulated(12), simulated(1));
    assert!(many["log"].to_string().contains("simulated once: 1 of 12"), "{}", many["log"]);
    let iops = |of: &Value| of["achieved_transactional_iops"].as_f64().unwrap();
    let share = iops(&many) / iops(&one) / 12.0;
    assert!((0.99..1.01).contains(&share), "{} of twelve, {} of one", iops(&many), iops(&one));
    assert_eq!(many["databases"].as_array().unwrap().len(), 12);
}

#[test]
fn the_operation_model_searches_for_sessions_and_holds_a_share_of_the_highest_load() {
    let scene = scene("searched");
    let held = "threads = \"auto\"\nthroughput_percent = 50";
    scene.write("plan.toml", PLAN.replace("threads = 3", held).as_bytes());
    let command = ["simulate", "plan.toml", "--array", "shelf-15k", "--level", "2", "-o", "out"];
    let ran = scene.run(command);
    assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
    let report: Value = serde_json::from_slice(&scene.read("out/report.json")).unwrap();
    let tuned = &report["run"]["tuned"];
    let target = tuned["target_iops"].as_f64().unwrap();
    assert!(tuned["sessions_per_database"].as_u64().unwrap() > 1, "{tuned}");
    let achieved = report["achieved_transactional_iops"].as_f64().unwrap();
    assert!((achieved / target - 1.0).abs() < 0.05, "{achieved} of {target}");
}

/// Both levels on the same geometry: databases that need not be made smaller.
#[test]
fn the_levels_agree_within_five_percent_and_name_themselves() {
    let scene = Scene::new("levels");
    let plan = "preset = \"exchange2010\"\n[databases]\nfolders = [\"/mail\"]\ncount = 2\n\
        size = \"320MiB\"\n[engine]\ncache_minimum = \"10MiB\"\ncache_maximum = \"10MiB\"\n\
        checkpoint_depth = \"1MiB\"\n[workload]\nthreads = 3\n[test]\nduration = \"2m\"\n";
    scene.write("plan.toml", plan.as_bytes());
    let report = |level: &str, more: &[&str]| -> Value {
        let out = format!("level-{level}{}", more.len());
        let command = ["simulate", "plan.toml", "--array", "vnxe3300", "--rest", "100"];
        let options = ["--duration", "6m", "--level", level, "-o", &out];
        let ran = scene.run(command.iter().chain(&options).chain(more));
        assert!(ran.code.is_some_and(|code| code < 2), "{}", ran.err);
        let folder = if more.is_empty() { out } else { format!("{out}/what-if-01") };
        serde_json::from_slice(&scene.read(format!("{folder}/report.json"))).unwrap()
    };
    let figures = |report: &Value| {
        let series = &report["sum"]["series"];
        [
            report["achieved_transactional_iops"].as_f64().unwrap(),
            series["database_read"]["average_ms"].as_f64().unwrap(),
            series["database_write"]["average_ms"].as_f64().unwrap(),
            series["log_write"]["average_ms"].as_f64().unwrap(),
        ]
    };
    let slow = ["--what-if", "host.processors=1", "host.update_us=4000"];
    for (more, name) in [(&[][..], "usual"), (&slow[..], "processors are the limit")] {
        let (one, two) = (report("1", more), report("2", more));
        assert_eq!(one["simulated"]["detail"], "engine");
        assert_eq!(two["simulated"]["detail"], "operations");
        let (one, two) = (figures(&one), figures(&two));
        for (one, two) in one.into_iter().zip(two) {
            assert!((two / one - 1.0).abs() < 0.05, "{name}: level 1 {one}, level 2 {two}");
        }
    }
}

/// Databases that shrink 500 times beside an array's memory that does not: were every page to keep
/// one place, the memory would hold all of the databases; were it to shrink with them, bursts of
/// writes would fill it.
#[test]
fn the_levels_agree_on_writes_where_databases_shrink_and_the_memory_of_the_array_does_not() {
    let scene = Scene::new("levels-memory");
    let plan = "preset = \"exchange2013\"\n[databases]\nfolders = [\"/mail\"]\ncount = 3\n\
        size = \"110GiB\"\n[engine]\ncache_minimum = \"4MiB\"\ncache_maximum = \"883MiB\"\n";
    scene.write("plan.toml", plan.as_bytes());
    let means = |level: &str| {
        let command = ["simulate", "plan.toml", "--array", "shelf-sata", "--threads", "3"];
        let more = ["--duration", "60s", "--level", level, "-o", level];
        let ran = scene.run(command.iter().chain(&more));
        assert!(ran.code.is_some_and(|code| code <= 2), "{}", ran.err);
        let report = scene.read(format!("{level}/report.json"));
        let report: Value = serde_json::from_slice(&report).unwrap();
        let series = &report["sum"]["series"];
        ["database_write", "log_write"].map(|of| series[of]["average_ms"].as_f64().unwrap())
    };
    for (one, two) in means("1").into_iter().zip(means("2")) {
        assert!((two / one - 1.0).abs() < 0.1, "level 1 {one} ms, level 2 {two} ms");
    }
}
