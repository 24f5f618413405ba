//! Results that come from the copy layout, not from a formula about it.

use crate::export::{Kind, export};
use crate::layout::Failure;
use crate::size;
use crate::{Provision, Purpose, Requirements, TestPlan, mailboxes_section, provision};
use plan::Deployment;
use sizing::{FailureMode, Key, ProcessorKey, ServerKind, Sizing};
use units::Bytes;

/// Four servers in each site, twelve databases of four copies, the second site on standby.
fn waiting(more: &str) -> String {
    format!(
        "[[tier]]\nmailboxes = 6000\nmessages_per_day = 150\nsize_limit = \"2GiB\"\n\
         [availability]\nservers_per_site = 4\ncopies = 4\n[data]\ndatabases = 12\n\
         [second_site]\nmodel = \"active/passive\"\ncopies = 2\n{more}"
    )
}

fn sized(text: &str) -> (Deployment, Sizing) {
    let deployment = Deployment::parse("d.toml", text).expect("a sound deployment");
    let sizing = size(&deployment);
    (deployment, sizing)
}

fn built(text: &str) -> Provision {
    let (deployment, sizing) = sized(text);
    let needs =
        Requirements::of(&deployment, &sizing.sheet, sizing.architecture).expect("a layout");
    provision(needs).expect("names")
}

/// The value of `column` in the row of the only group in `DAGInfo.csv`.
fn field(provision: &Provision, column: &str) -> String {
    let documents = export(provision, Kind::Tables);
    let mut documents = documents.into_iter();
    let table = documents.find(|document| document.name == "DAGInfo.csv");
    let table = table.expect("a table of groups").text;
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.trim_matches('"').split("\",\"").collect()).collect();
    let at = rows[0].iter().position(|name| *name == column);
    rows[2][at.expect("a column")].to_owned()
}

#[test]
fn each_site_has_the_limits_of_its_own_servers() {
    let provision = built(&waiting(""));
    let first = field(&provision, "MaximumActiveDatabasesSite1");
    let second = field(&provision, "MaximumActiveDatabasesSite2");
    let group = &provision.groups[0];
    let most = |site: usize| group.limits_in(site).map(|limits| limits.most.to_string());
    assert_eq!((Some(first.clone()), Some(second.clone())), (most(0), most(1)));
    assert_ne!(first, second);
    for server in &group.servers {
        assert_eq!(Some(server.limits), group.limits_in(server.site));
    }
}

/// Three of four servers lost cost the quorum, so what the last one would carry sizes nothing.
#[test]
fn a_group_without_a_quorum_does_not_raise_the_limit_of_active_databases() {
    let text = "[[tier]]\nmailboxes = 2000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
                [availability]\nservers_per_site = 4\ncopies = 3\n";
    let (provision, sizing) = (built(text), sized(text).1);
    let three = provision.modes.iter().find(|mode| mode.failure == Failure::Servers(3));
    let three = three.expect("three failed servers");
    let databases = provision.groups[0].databases.len();
    assert_eq!((three.active(), three.not_active), (Some((0, 0)), databases));
    let most = sizing.number(Key::ServerWorstActiveDbs(ServerKind::First));
    let limits = provision.groups[0].limits();
    assert_eq!(Some(limits.most as f64), most);
    assert!(limits.preferred <= limits.most && limits.most < databases, "{limits:?}");
}

#[test]
fn exports_compress_the_network_where_it_was_sized_so() {
    let with = |percent: u32| {
        let text = waiting(&format!("[replication]\ncompression_percent = {percent}\n"));
        field(&built(&text), "NetworkCompression")
    };
    assert_eq!((with(30).as_str(), with(0).as_str()), ("Enabled", "Disabled"));
}

/// Twenty databases do not cover every order of five servers, so the formula adds two to the worst
/// server; in the layout that server takes over no more than the others.
#[test]
fn played_failures_decide_about_processors() {
    let with = |rate: f64, mode: &str| {
        sized(&format!(
            "mode = \"{mode}\"\n[[tier]]\nmailboxes = 3000\nmessages_per_day = 150\n\
             size_limit = \"2GiB\"\n[availability]\nservers_per_site = 5\ncopies = 3\n[data]\n\
             databases = 20\n[servers]\nspec_rate = {rate}\n"
        ))
        .1
    };
    let share = |sizing: &Sizing, key: Key| sizing.number(key).expect("a share");
    let played = share(&with(500.0, "corrected"), Key::ProcessorUtilWorstPlayed);
    let enough = with(500.0 * played / 0.79, "corrected");
    assert!(
        share(&enough, Key::Processor(ProcessorKey::Util, FailureMode::Worst, ServerKind::First))
            > 0.8
    );
    assert!((share(&enough, Key::ProcessorUtilWorst) - 0.79).abs() < 1e-6);
    assert!(enough.is_workable(), "{:?}", enough.findings);
    let short = with(500.0 * played / 0.81, "corrected");
    assert!(!short.is_workable());
    let compatible = with(500.0, "compatible");
    assert!(compatible.number(Key::ProcessorUtilWorstPlayed).is_none());
}

/// The sizing counts the volumes that the layout makes, spares included, on both builds.
#[test]
fn a_sizing_counts_the_volumes_of_the_layout() {
    for (build, spares) in [("raid", 0), ("jbod", 2)] {
        for logs in ["copies", "hardware snapshots"] {
            let text = format!(
                "[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
                 [availability]\nservers_per_site = 4\ncopies = 3\n[data]\n\
                 restore_volume = true\n[storage]\nbuild = \"{build}\"\n\
                 autoreseed_volumes = 2\n[backup]\nmethod = \"{logs}\"\n"
            );
            let (server, sizing) = (built(&text).groups[0].servers[0].clone(), sized(&text).1);
            let of = |purpose| server.volumes.iter().filter(|of| of.purpose == purpose).count();
            let volumes = Some(server.volumes.len() as f64);
            assert_eq!(sizing.number(Key::VolumeTotalPerServer), volumes, "{text}");
            let counted = Some(of(Purpose::Spare) as f64);
            assert_eq!(sizing.number(Key::VolumeAutoreseed), counted, "{text}");
            if logs == "copies" {
                assert_eq!(of(Purpose::Spare), spares, "{text}");
            }
        }
    }
}

/// 1,650 mailboxes on three servers with disks of 8 TB.
fn of_three_servers(storage: &str) -> Provision {
    built(&format!(
        "[[tier]]\nmailboxes = 1500\nmessages_per_day = 100\nsize_limit = \"5GiB\"\n\
         growth_percent = 10\n[availability]\nservers_per_site = 3\ncopies = 2\n[disks]\n\
         database = {{ size = \"8TB\", type = \"7.2K SAS 3.5\" }}\n[storage]\n{storage}"
    ))
}

/// Text and script make the same arrays; a volume of an array is no disk.
#[test]
fn the_document_describes_the_arrays_that_the_script_makes() {
    let mirrored = of_three_servers("build = \"raid\"\nraid = \"RAID-1/0\"\n");
    let document = mirrored.to_markdown();
    let said = "| disks of EX01 for databases | 4 in one array of RAID-1/0, striped over 2 \
                mirrored pairs |";
    assert!(document.contains(said), "{document}");
    assert!(document.contains("| volume | virtual disk |"), "{document}");
    let scripts = export(&mirrored, Kind::Linux);
    let script = scripts.into_iter().find(|of| of.name == "EX01-linux.sh").expect("a script").text;
    assert_eq!(script.matches("/dev/md/databases").count(), 2, "{script}");
    assert!(script.contains("/dev/md/databases0 --level=10 --raid-devices=4 "), "{script}");
    let parity = of_three_servers("build = \"raid\"\nraid = \"RAID-5\"\n").to_markdown();
    assert!(parity.contains(" in 1 group of RAID-5 "), "{parity}");
    let single = of_three_servers("build = \"jbod\"\n").to_markdown();
    assert!(single.contains("| volume | disk |"), "{single}");
}

/// The report of a test is read without the design: its description says whose it is.
#[test]
fn a_test_plan_names_customer_and_author() {
    let test = TestPlan { server: None, root: "/mnt".to_owned(), scale: 1.0, databases: None };
    let mut provision = of_three_servers("build = \"raid\"\n");
    provision.needs.origin.customer = "Acme GmbH".to_owned();
    provision.needs.origin.author = "Jane Doe".to_owned();
    let plan = test.to_toml(&provision).expect("a plan");
    assert!(plan.contains(" copies, for Acme GmbH, by Jane Doe. "), "{plan}");
}

#[test]
fn a_test_plan_says_why_its_mailboxes_are_not_those_of_the_design() {
    let test = TestPlan { server: None, root: "/mnt".to_owned(), scale: 1.0, databases: None };
    let plan = test.to_toml(&of_three_servers("build = \"raid\"\n")).expect("a plan");
    let plan = plan::Plan::parse("plan.toml", &plan).expect("a sound plan");
    let said = "[mailboxes] counts the 1,100 mailboxes of these copies, each with its part of the \
                reserves of I/O and space; the design has 1,650 in all";
    assert!(plan.description.contains(said), "{}", plan.description);
}

/// A test of the first server, with databases of this part of their size.
fn test_at(scale: f64) -> TestPlan {
    TestPlan { server: None, root: "/tmp/mail".to_owned(), scale, databases: None }
}

/// At full size volumes are mounted below the root, whose own space says nothing.
#[test]
fn a_rehearsal_without_room_names_the_largest_scale_that_fits() {
    let provision = of_three_servers("build = \"raid\"\n");
    let free = Bytes::from_gib(20);
    let said = test_at(0.5).missing_room(&provision, free).expect("too little room");
    let scale = said.split("say --scale ").nth(1).and_then(|rest| rest.split(',').next());
    let percent: f64 = scale.and_then(|of| of.parse().ok()).expect("a scale");
    assert_eq!(test_at(percent / 100.0).missing_room(&provision, free), None, "{said}");
    assert!(test_at(percent / 80.0).missing_room(&provision, free).is_some(), "{said}");
    assert_eq!(test_at(1.0).missing_room(&provision, free), None);
    let none = test_at(0.01).missing_room(&provision, Bytes(0)).expect("no room");
    assert!(none.contains("free some, or name another --root"), "{none}");
}

/// 24.12 / 250 has an error in its last digit.
#[test]
fn the_rate_of_a_mailbox_is_written_as_it_was_meant() {
    let plan = mailboxes_section((250.0, 24.12), 8, Bytes::from_gib(1));
    assert!(plan.contains("iops_each = 0.09648\n"), "{plan}");
}
