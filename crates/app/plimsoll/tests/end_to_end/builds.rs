//! `builds`: version numbers, files and databases get the names that people know.

use testkit::samples;

use crate::samples::unpack;
use crate::scene::Scene;

const DATE: &str = "Data as of 2026-08-20";

#[test]
fn versions_and_names_are_identified_with_the_date_of_the_data() {
    let scene = Scene::new("builds");
    let words = ["builds", "identify", "15.01.2375.007", "2013 cu8", "14.01.0218.012"];
    scene.run(words).expect_code(0).expect_out(&[
        "15.01.2375.007: Exchange Server 2016 CU22\n",
        "extended support ended 2025-10-14",
        "2013 cu8: Exchange Server 2013 CU8\n",
        "14.01.0218.012: about Exchange Server 2010 SP1 (14.1.218.15)\n",
        "schema 15334",
        DATE,
    ]);
    let quiet = scene.run(["-q", "builds", "identify", "15.2.922.7", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&quiet.expect_code(0).out).unwrap();
    assert_eq!(json["data_as_of"], "2026-08-20");
    let found = &json["found"][0];
    assert_eq!(found["match"], "exact");
    assert_eq!(found["release"]["name"], "Exchange Server 2019 CU10");
    assert_eq!(found["supported"], false);
    let words = ["builds", "identify", "/owa/15.2.922/scripts", "X-OWA-Version: 15.1.2375.7"];
    scene.run(words).expect_code(0).expect_out(&[
        "/owa/15.2.922/scripts: 15.2.922: about Exchange Server 2019 CU10 (15.2.922.7)\n",
        "X-OWA-Version: 15.1.2375.7: 15.1.2375.7: Exchange Server 2016 CU22\n",
    ]);
    let absent = scene.run(["builds", "identify", "/var/log/15.2/none.log"]);
    absent.expect_refusal(&["/var/log/15.2/none.log", "nor a file"]);
    scene.run(["builds", "identify", "nothing"]).expect_refusal(&["nothing", "builds list"]);
}

#[test]
fn names_of_the_list_of_programs_are_identified() {
    let scene = Scene::new("builds-programs");
    for (name, wanted) in [
        ("Microsoft Exchange Server 2019 Cumulative Update 14", "2019 CU14\n"),
        ("Microsoft Exchange Server 2016 Cumulative Update 23", "2016 CU23\n"),
        ("Update Rollup 10 for Exchange Server 2010 Service Pack 3 (KB1234567)", "2010 SP3 RU10\n"),
        ("Security Update for Exchange Server 2013 CU1 (KB2874216)", "2013 CU1 KB2874216\n"),
        ("Microsoft Exchange Server Subscription Edition RTM", "SE RTM\n"),
        ("14.0.0.0", "Exchange Server 2010, of which this names no build\n"),
    ] {
        scene.run(["builds", "identify", name]).expect_code(0).expect_out(&[wanted]);
    }
    for (name, wanted) in [
        ("Windows Server 2022 Datacenter 21H2", "names Windows"),
        ("Security Update for Exchange Server 2019 CU14 (KB1234567)", "an update by its article"),
        ("Microsoft Exchange Server 2010", "names no build"),
    ] {
        scene.run(["builds", "identify", name]).expect_refusal(&[name, wanted]);
    }
}

#[test]
fn logs_and_programs_are_searched() {
    let scene = Scene::new("builds-files");
    scene.write("track.log", b"#Software: X\r\n#Version: 15.01.2375.007\r\n10.0.0.1\r\n");
    let mut wide = vec![0xFF, 0xFE];
    wide.extend("Ese Version 15.0.1076.9".encode_utf16().flat_map(u16::to_le_bytes));
    scene.write("report.txt", &wide);
    let mut program = b"MZ..".to_vec();
    program.extend([0xBD, 0x04, 0xEF, 0xFE, 0, 0, 1, 0, 2, 0, 15, 0, 7, 0, 0x9A, 0x03]);
    scene.write("ExSetup.exe", &program);
    let words = ["builds", "identify", "track.log", "report.txt", "ExSetup.exe"];
    scene.run(words).expect_code(0).expect_out(&[
        "track.log:2: 15.01.2375.007: Exchange Server 2016 CU22",
        "report.txt:1: 15.0.1076.9: Exchange Server 2013 CU8",
        "ExSetup.exe: Exchange Server 2019 CU10",
    ]);
    scene.write("none.txt", b"10.0.0.1 and nothing else");
    scene
        .run(["builds", "identify", "none.txt"])
        .expect_refusal(&["none.txt", "no version number"]);
}

#[test]
fn databases_of_real_engines_are_labelled() {
    for packed in samples::databases() {
        let scene = Scene::new("builds-sample");
        unpack(&packed, &scene);
        let ran = scene.run(["builds", "identify", "sample.edb"]);
        ran.expect_code(0).expect_out(&[
            "format 0x620,20",
            "Windows 8 to 10 (1511)",
            "no build of Exchange",
        ]);
        let mailbox = packed.ends_with("large.edb.gz");
        assert_eq!(ran.out.contains("Exchange Server 2013"), mailbox, "{}", ran.out);
        let header = scene.run(["header", "sample.edb"]);
        header.expect_code(0).expect_out(&["written by", "Windows 8 to 10 (1511)"]);
    }
}

#[test]
fn the_way_between_builds_and_a_newer_table() {
    let scene = Scene::new("builds-compare");
    let words = ["builds", "compare", "2016 CU23 Oct25SU", "15.1.396.30"];
    scene.run(words).expect_code(0).expect_out(&[
        "from Exchange Server 2016 CU1",
        "install first: Exchange Server 2016 CU23",
        "Setup /PrepareSchema: schema 15323 to 15334",
        "Setup /PrepareDomain",
    ]);
    scene
        .run(["builds", "compare", "2007 SP3", "2010 RTM"])
        .expect_out(&["Setup refuses, the schema is at 14625 already, above 14622"]);
    scene
        .run(["builds", "compare", "2016 CU1", "15.2.9999.1"])
        .expect_refusal(&["15.2.9999.1", "--data"]);
    let list = scene.run(["builds", "list"]);
    assert_eq!(list.expect_code(0).out.lines().count(), 445);
    let table = "product,level,kind,update,build,release_date,schema_range_upper,\
        org_object_version,meso_object_version,extended_support_end,sources,notes\n\
        Exchange Server SE,CU1,CU,,15.2.9999.1,2027-01-12,17003,16763,13243,2035-12-31,us,\n";
    scene.write("newer.csv", table.as_bytes());
    scene
        .run(["builds", "identify", "15.2.9999.1", "--data", "newer.csv"])
        .expect_code(0)
        .expect_out(&["Exchange Server SE CU1", "Data as of 2027-01-12"]);
    scene.write("bad.csv", b"a,b\n1,2\n");
    scene
        .run(["builds", "list", "--data", "bad.csv"])
        .expect_refusal(&["bad.csv", "column product"]);
    scene.write("endless.csv", &vec![b'a'; (1 << 20) + 1]);
    scene
        .run(["builds", "list", "--data", "endless.csv"])
        .expect_refusal(&["endless.csv", "longer than 1.0 MiB"]);
    scene
        .run(["builds", "list", "--data", "/dev/zero"])
        .expect_refusal(&["/dev/zero", "it is a device"]);
}
