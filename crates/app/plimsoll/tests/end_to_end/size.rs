//! `size`: what a first-time user types, reads and gets wrong.

use crate::scene::Scene;

pub(crate) const SHORT: &str = "name = \"office\"\n[[tier]]\nmailboxes = 5000\n\
                     messages_per_day = 100\nsize_limit = \"2GiB\"\n[availability]\n\
                     servers_per_site = 4\ncopies = 3\n";

fn scene(name: &str, deployment: &str) -> Scene {
    let scene = Scene::new(name);
    scene.write("d.toml", deployment.as_bytes());
    scene
}

#[test]
fn the_example_is_sized() {
    let scene = Scene::new("size-example");
    let example = scene.run(["size", "--example"]);
    example.expect_code(0);
    scene.write("d.toml", example.out.as_bytes());
    scene.run(["size", "d.toml"]).expect_code(0).expect_out(&[
        "WORKABLE",
        "servers in all",
        "db.count",
    ]);
}

#[test]
fn text_json_and_page_agree() {
    let scene = scene("size-forms", SHORT);
    let text = scene.run(["size", "d.toml", "-o", "d.html"]);
    text.expect_code(0).expect_out(&["5,000 mailboxes"]).expect_err(&["d.html"]);
    let page = String::from_utf8(scene.read("d.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("office"));
    let json = scene.run(["size", "d.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["kind"], "sizing");
    let servers = json["values"]["srv.all"]["value"].as_f64().unwrap();
    let headline = format!("WORKABLE, PROCESSORS NOT SIZED  {servers} servers");
    assert!(text.out.contains(&headline), "{}", text.out);
}

#[test]
fn a_number_is_explained_down_to_its_inputs() {
    let scene = scene("size-explain", SHORT);
    scene
        .run(["size", "d.toml", "--explain", "db.size_gb", "t1.whitespace_mb"])
        .expect_code(0)
        .expect_out(&[
            "db.mailboxes * mailboxes.on_disk_mb / 1024",
            "t1.messages_per_day * t1.average_message_kb / 1024",
            "100 * 75 / 1024",
            "source   S-W76",
        ]);
    scene
        .run(["size", "d.toml", "--explain", "db.sise_gb"])
        .expect_refusal(&["db.sise_gb", "did you mean `db.size_gb`?"]);
}

/// SSDs that cache the databases, for a product that can use them.
const WITH_SSDS: &str = "product = \"SE\"\n[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\n\
                         size_limit = \"2GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n\
                         [data]\ndatabases = 24\n[metacache]\nssd_size = \"960GB\"\n[figures]\n\
                         active_megacycles_per_message = 0.0597\nclient_access_share = 0.5\n\
                         client_access_part = 0.3\ncache_mb_per_message = 0.048\n\
                         content_index_memory_gb = 0\ncontent_index_bytes_per_active_item = 0\n\
                         content_index_bytes_per_passive_item = 0\nbaseline_spec_per_core = 33.75\n\
                         baseline_megacycles_per_core = 2000\n";

#[test]
fn ssds_are_sized_explained_and_refused_where_there_can_be_none() {
    let scene = scene("size-metacache", WITH_SSDS);
    let text = scene.run(["size", "d.toml", "-o", "d.html"]);
    text.expect_code(0).expect_out(&[
        "JBOD, and 8 SSDs",
        "mcdb.ssds_per_server",
        "mcdb.gb_per_copy",
    ]);
    let page = String::from_utf8(scene.read("d.html")).unwrap();
    assert!(page.contains("SSDs of a server that cache databases"));
    scene
        .run(["size", "d.toml", "--explain", "mcdb.ssds_per_server"])
        .expect_code(0)
        .expect_out(&["up(mcdb.disks_per_server / 3)", "up(6 / 3)", "source   S-MCDB"]);
    scene.write("small.toml", WITH_SSDS.replace("960GB", "400GB").as_bytes());
    scene.run(["size", "small.toml"]).expect_code(1).expect_out(&["mcdb.ssd_share", "600 GB"]);
    scene.write("old.toml", WITH_SSDS.replace("\"SE\"", "\"2016\"").as_bytes());
    scene
        .run(["size", "old.toml"])
        .expect_refusal(&["[metacache]", "Exchange 2016 has no MetaCache databases"]);
}

#[test]
fn the_provision_names_ssds_and_leaves_them_to_the_script_of_the_product() {
    let scene = scene("plan-metacache", WITH_SSDS);
    scene.run(["plan", "d.toml", "-o", "mail", "--export", "all"]).expect_code(0);
    let read = |name: &str| String::from_utf8(scene.read(name)).unwrap();
    let script = read("mail/DAG01-metacache.ps1");
    assert!(script.contains("-AutoDagTotalNumberOfDatabases 24 "), "{script}");
    assert!(script.contains("-AutoDagDatabaseCopiesPerDatabase 3 "), "{script}");
    assert!(script.contains("-SSDCountPerServer 2"), "{script}");
    let disks = read("mail/EX01-diskpart.txt");
    assert!(disks.contains("select disk 8") && !disks.contains("select disk 9"), "{disks}");
    let provision: serde_json::Value = serde_json::from_str(&read("mail/provision.json")).unwrap();
    let volumes = provision["groups"][0]["servers"][0]["volumes"].as_array().unwrap();
    let ssds: Vec<_> =
        volumes.iter().filter(|volume| volume["for"] == "MetaCache databases").collect();
    assert_eq!((volumes.len(), ssds.len()), (10, 2));
    assert_eq!(ssds[1]["disk"], 10);
}

#[test]
fn the_deployment_may_stand_behind_flags() {
    let scene = scene("size-order", SHORT);
    let explained = ["source   S-W76"];
    for words in [
        &["size", "--explain", "db.size_gb", "d.toml"][..],
        &["size", "--explain", "db.size_gb", "t1.whitespace_mb", "d.toml"],
        &["size", "--explain", "db.size_gb", "--", "d.toml"],
        &["size", "d.toml", "--explain", "db.size_gb"],
    ] {
        scene.run(words).expect_code(0).expect_out(&explained);
    }
    scene
        .run(["size", "--scenarios", "availability.copies=2,3", "d.toml"])
        .expect_code(0)
        .expect_out(&["forbidden by"]);
    scene
        .run(["size", "--explain", "db.size_gb"])
        .expect_refusal(&["give the deployment", "--example"]);
}

#[test]
fn violations_are_findings() {
    let tight = "[disks]\ndatabase = { size = \"300GB\", type = \"7.2K SAS 3.5\" }\n\
                 [data]\nlargest_database = \"1900GiB\"\ndatabases = 4\n";
    let scene = scene("size-violation", &format!("{SHORT}{tight}"));
    scene.run(["size", "d.toml"]).expect_code(1).expect_out(&[
        "NOT WORKABLE",
        "violation",
        "insufficient",
        "TB disks",
    ]);
}

/// What to change is said in numbers that make the design workable.
#[test]
fn a_violation_names_changes_that_lift_it() {
    let few = format!("{SHORT}[data]\ndatabases = 4\n");
    let scene = scene("size-remedy", &few);
    let refused = scene.run(["size", "d.toml", "--json"]);
    refused.expect_code(1);
    let json: serde_json::Value = serde_json::from_str(&refused.out).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let remedy = findings.iter().find(|of| of["key"] == "db.mailboxes").unwrap()["remedy"].clone();
    let remedy = remedy.as_str().unwrap();
    let (_, rest) = remedy.split_once("more databases (data.databases = ").expect(remedy);
    let count = rest.split(')').next().unwrap();
    let more = few.replace("databases = 4", &format!("databases = {count}"));
    scene.write("d.toml", more.as_bytes());
    scene.run(["size", "d.toml"]).expect_code(0);
}

/// Nine figures of 2019 were never published: what to copy is printed whole.
#[test]
fn missing_figures_are_lines_to_copy_or_another_products() {
    let text = format!("product = \"2019\"\n{SHORT}");
    let scene = scene("size-figures", &text);
    scene.run(["size", "d.toml"]).expect_refusal(&[
        "9 figures of Exchange 2019",
        "from = \"2016\"",
        "baseline_megacycles_per_core = 2000 # Exchange 2016",
    ]);
    scene.write("d.toml", format!("{text}[figures]\nfrom = \"2016\"\n").as_bytes());
    scene.run(["size", "d.toml"]).expect_code(0).expect_out(&["ASSUMPTION: 9 figures"]);
    scene.run(["plan", "d.toml", "-o", "mail"]).expect_code(0);
    for file in ["mail/provision.md", "mail/plan.toml"] {
        let text = String::from_utf8(scene.read(file)).unwrap();
        assert!(text.contains("ASSUMPTION: 9 figures"), "{file}: {text}");
    }
}

#[test]
fn a_known_mistake_names_its_tier() {
    let second = "[[tier]]\nmailboxes = 200\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
                  initial_size = \"1GiB\"\ngrowth_percent = 20\n";
    let scene = scene("size-tiers", &format!("mode = \"compatible\"\n{SHORT}{second}"));
    scene.run(["size", "d.toml", "--html", "d.html"]).expect_out(&["t2.months_to_limit"]);
    let page = String::from_utf8(scene.read("d.html")).unwrap();
    assert!(page.contains("months to the limit, tier 2"), "{page}");
}

#[test]
fn prices_rank_scenarios_by_cost() {
    let prices = "[prices]\ncurrency = \"USD\"\nserver = 9000\ndisk = 100\nserver_rack_units = 2\n";
    let scene = scene("size-prices", &format!("{SHORT}{prices}"));
    let ran = scene.run(["size", "d.toml", "--scenarios", "availability.servers_per_site=8,4"]);
    ran.expect_code(0).expect_out(&["cost", "rack units", "kinds of failure survived"]);
    ran.expect_out(&["not simulated", "--prove"]);
    assert!(!ran.out.contains("prices.disk"), "no disk changes: {}", ran.out);
    let first = ran.out.lines().nth(1).unwrap();
    let second: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(second[..2], ["1", "4"], "{}", ran.out);
    scene.run(["size", "d.toml", "--explain", "cost.all"]).expect_out(&["cost.servers"]);
    let sizes = "disks.database.size=4000GB,8000GB";
    let disks = scene.run(["size", "d.toml", "--scenarios", sizes]);
    disks.expect_out(&["`prices.disk` is the price of every disk"]);
}

#[test]
fn a_bad_deployment_is_answered_with_line_reason_and_remedy() {
    for (name, text, parts) in [
        ("unknown", SHORT.replace("copies", "copys"), ["d.toml:8", "did you mean `copies`?"]),
        ("negative", SHORT.replace("5000", "-5000"), ["d.toml:3", "-5000 is out of range; give"]),
        ("members", SHORT.replace("= 4", "= 40"), ["d.toml:7", "40 members and may have 16; give"]),
        (
            "database",
            format!("{SHORT}[data]\nlargest_database = \"3TB\"\n"),
            ["d.toml:10", "give \"2TiB\" or less"],
        ),
        (
            "copies",
            SHORT.replace("copies = 3", "copies = 5"),
            ["d.toml:8", "need 5 servers, and it has 4; raise"],
        ),
    ] {
        let scene = scene(&format!("size-bad-{name}"), &text);
        scene.run(["size", "d.toml"]).expect_refusal(&parts);
    }
    let scene = scene("size-missing", SHORT);
    scene.run(["size", "nothing.toml"]).expect_refusal(&["nothing.toml", "check the path"]);
}

#[test]
fn scenarios_are_ranked_and_the_impossible_comes_last() {
    let scene = scene("size-scenarios", SHORT);
    scene.write("sweep.txt", b"# sizes\navailability.copies = 2, 3\n");
    let ran = scene.run([
        "size",
        "d.toml",
        "--scenarios",
        "sweep.txt",
        "availability.servers_per_site=2,4",
    ]);
    ran.expect_code(0);
    let rows: Vec<Vec<&str>> =
        ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows[5].is_empty(), "four scenarios and their heading: {}", ran.out);
    assert_eq!(rows[1][0], "1");
    let disks = |row: &[&str]| row[5].parse::<f64>().unwrap();
    assert!(disks(&rows[1]) <= disks(&rows[2]) && disks(&rows[2]) <= disks(&rows[3]));
    assert_eq!(rows[4][..3], ["-", "3", "2"], "{}", ran.out);
    scene
        .run(["size", "d.toml", "--scenarios", "nonsense="])
        .expect_refusal(&["`nonsense=` is no scenario", "KEY=VALUE"]);
    scene
        .run(["size", "d.toml", "--scenarios", "availability.colour=1"])
        .expect_refusal(&["availability] colour: unknown key"]);
}

/// A design that takes most figures from another product, small enough to be played.
const ASSUMED: &str = "name = \"assumed\"\nproduct = \"2010\"\n[figures]\nfrom = \"2013\"\n\
    [[tier]]\nmailboxes = 800\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n[availability]\n\
    servers_per_site = 3\ncopies = 2\n[disks]\n\
    database = { size = \"900GB\", type = \"10K SAS 2.5\" }\n[storage]\nbuild = \"raid\"\n\
    raid = \"RAID-1/0\"\n";

/// Files below `folder` in which a reader looks for the answer. An array describes disks, whatever
/// runs on them.
fn pages(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if ["html", "txt", "json", "toml", "md", "sh", "ps1"].contains(&end)
            && !path.ends_with("array.toml")
            && !path.ends_with("d.toml")
            // What a sweep was asked for, no answer.
            && !path.ends_with("sweep.json")
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_file_of_a_design_names_the_figures_that_it_assumes() {
    let scene = scene("size-assumed", ASSUMED);
    let said = "ASSUMPTION: 33 figures are those of Exchange 2013";
    for line in [
        "size d.toml --predict sized -o sized.html",
        "size d.toml --prove --html proof.html --json",
        "size d.toml --scenarios availability.servers_per_site=3,4 --html scenarios.html",
        "size d.toml --scenarios availability.servers_per_site=3,4 --json",
        "simulate sized/plan.toml --array sized/array.toml --duration 1m --what-if \
         disk.rpm=10000,15000 -o changed",
    ] {
        let ran = scene.run(line.split_whitespace());
        let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{line}: {} {}", ran.out, ran.err);
    }
    scene.run(["plan", "d.toml", "-o", "mail", "--export", "all"]);
    for line in [
        "simulate mail/provision.json --array shelf-10k --duration 1h -o laid-out",
        "simulate mail/FLEET.toml --array shelf-10k --event host-lost=EX01@30m --duration 1h \
         -o lost",
    ] {
        let ran = scene.run(line.split_whitespace());
        let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{line}: {} {}", ran.out, ran.err);
    }
    let pages = pages(&scene.path("."));
    assert!(pages.len() > 20, "{pages:?}");
    for page in pages {
        let text = String::from_utf8(std::fs::read(&page).unwrap()).unwrap();
        assert!(text.contains("ASSUMPTION"), "{} does not say it", page.display());
    }
}

/// The scan of Exchange 2010 takes five times the bandwidth of its successors. The layout, the
/// test and the sizing have one pace.
#[test]
fn background_maintenance_has_one_pace_in_every_file_of_a_design() {
    let scene = scene("size-maintenance", ASSUMED);
    let sized = scene.run(["size", "d.toml", "--json"]);
    let sized: serde_json::Value = serde_json::from_str(&sized.out).unwrap();
    let value = |key: &str| sized["values"][key]["value"].as_f64().unwrap();
    let each = value("io.maintenance_mb_per_server") / value("srv.db_copies");
    assert!((each - 5.0).abs() < 1e-9, "{each} MB/s");
    scene.run(["plan", "d.toml", "-o", "mail", "--export", "fleet"]);
    let layout: serde_json::Value =
        serde_json::from_slice(&scene.read("mail/provision.json")).unwrap();
    assert_eq!(layout["maintenance_pause_ns"], 20_000_000);
    for plan in ["mail/plan.toml", "mail/EX01.toml"] {
        let text = String::from_utf8(scene.read(plan)).unwrap();
        assert!(text.contains("maintenance_throttle = \"20ms\""), "{text}");
    }
}
