//! The published wizard case, and invariants of every provision.

mod advice;
mod array;
mod decisions;
mod deployments;
mod flat;
mod metacache;
mod oracle;
mod properties;
mod workbook;

use proptest::prelude::*;
use sizing::{Key, ServerKind};
use units::{Bytes, Nanos};

use super::array::VNXE3300;
use super::pool::{Pool, scaled};
use super::{
    Build, Megacycles, NetworkCompression, Places, Prefixes, ProvisionError, Purpose, Requirements,
    TestPlan, provision,
};
use crate::layout::{Copies, Failure, LayoutRequest, Site, SiteModel, Witness};
use plan::deployment::Raid;

/// The requirements that a sizing of the deployment yields.
fn needs_of(deployment: &plan::Deployment) -> Result<Requirements, ProvisionError> {
    let sizing = crate::size(deployment);
    Requirements::of(deployment, &sizing.sheet, sizing.architecture)
}

/// Three copies and a lagged one in two sites of `servers` servers.
pub(crate) fn two_sites(servers: usize, databases: usize) -> Requirements {
    let copies = |available, lagged| Copies { available, lagged };
    Requirements {
        title: "two sites".to_owned(),
        description: String::new(),
        origin: plan::deployment::Origin::default(),
        assumption: None,
        provenance: vec!["log.csv: 3 rows".to_owned()],
        groups: 1,
        mirrored: false,
        copies: true,
        witness: Some(Witness::First),
        wish: LayoutRequest {
            model: SiteModel::ActiveActive,
            sites: vec![Site::plain(servers, 2), Site::plain(servers, 2)],
            primary: copies(2, 0),
            secondary: copies(1, 1),
            databases,
            databases_per_volume: 4,
        },
        mailboxes_per_database: 62.5,
        mailbox_data: Bytes::from_gib(625),
        database: Bytes::from_gib(665),
        grown_database: None,
        log: Bytes::from_gib(24),
        iops_per_database: 10.05,
        read_share: 0.6,
        sized_active: Places { first: databases, second: databases, lagged: 0 },
        megacycles: Megacycles::default(),
        database_volume: Bytes::from_gib(3599),
        log_volume: None,
        restore_volume: Some(Bytes::from_gib(2899)),
        spare_volumes: every(1),
        pools: Places::default(),
        metacache: None,
        build: Build {
            file_system: "ReFS".to_owned(),
            encryption: "none".to_owned(),
            replay_lag: Nanos::from_secs(7 * 86_400),
            truncation_lag: Nanos::ZERO,
            replay_lag_manager: true,
            link_mbps: None,
            network_compression: NetworkCompression::Disabled,
            group_file_system: true,
            maintenance_pause: Some(Nanos::from_millis(250)),
            deleted_item_retention: Nanos::from_secs(14 * 86_400),
            circular_logging: true,
        },
        names: Prefixes {
            server: "EX".to_owned(),
            group: "DAG".to_owned(),
            database: "DB".to_owned(),
        },
    }
}

/// The same for every kind of server.
pub(crate) fn every<T: Clone>(of: T) -> Places<T> {
    Places { first: of.clone(), second: of.clone(), lagged: of }
}

fn gib(size: Bytes) -> f64 {
    size.as_mib_f64() / 1024.0
}

/// Example E3: 1,000 mailboxes of 1.5 GB and 200 messages in two databases, from the document to
/// the volumes. Exchange 2010's 0.20 I/O per second are given explicitly, the figure of that time.
#[test]
fn the_wizard_of_the_published_report() {
    let text = "name = \"E3\"\nproduct = \"2013\"\n\
        [[tier]]\nmailboxes = 1000\nmessages_per_day = 200\nsize_limit = \"1.5GiB\"\niops = 0.2\n\
        [availability]\nservers_per_site = 2\ncopies = 2\n\
        [data]\ndatabases = 2\nsymmetrical = false\n\
        [disks]\ndatabase = { size = \"600GB\", type = \"15K SAS 3.5\" }\n\
        [storage]\nraid = \"RAID-5\"\nraid5_group = \"6+1\"\n";
    let deployment = plan::Deployment::parse("e3.toml", text).unwrap();
    let needs = needs_of(&deployment).unwrap();
    let needs = needs.on_array(&VNXE3300).unwrap();
    // 0.24 with a headroom of 20 %, hence 240 for a server that holds both databases.
    assert!((needs.iops_per_database * 2.0 - 240.0).abs() < 1e-9);
    assert!((needs.mailboxes_per_database - 500.0).abs() < 1e-9);
    // Published: LUNs of 1.186 TB and 75 GB; 3,211.26 GB formatted of 4,200 GB raw.
    assert!((gib(needs.database_volume) / 1024.0 - 1.186).abs() < 0.001);
    assert!((gib(needs.log_volume.unwrap()) - 75.0).abs() < 1e-6);
    let pool = needs.pools.first[0].1;
    assert_eq!((pool.disks(), pool.level), (7, Raid::Raid5));
    assert_eq!(pool.raw(), Bytes(4_200_000_000_000));
    assert!((gib(pool.formatted()) - 3211.26).abs() < 0.01);
    // By the byte counts in the report's appendix, as created and after the day's stress test;
    // 1,955 GB are printed, 80.45 % of the volumes.
    let whole = |size: Bytes| (2 * size.0) as f64;
    assert!((whole(needs.database) / 2_086_905_446_400.0 - 1.0).abs() < 1e-5);
    let grown = whole(needs.grown_database.unwrap());
    assert!((grown / 2_099_966_509_056.0 - 1.0).abs() < 1e-5);
    let provision = provision(needs).unwrap();
    let server = &provision.groups[0].servers[0];
    let capacity = provision.capacity(server).unwrap();
    assert!((capacity.share_of_volumes() - 0.8045).abs() < 0.001);
    let volumes = 2.0 * (1.619_65 * 750.0 + 75.0);
    assert!((provision.pool_shares(server)[0] - volumes / 3211.26).abs() < 1e-4);
    // Three fifths of the I/O are reads; seven disks of 180 sustain it, and that of 1,900 users.
    assert!((provision.pool_load(server).unwrap() - 240.0 * 2.2 / 1260.0).abs() < 1e-9);
    assert!(pool.load(1900.0 * 0.24, 0.6) < 1.0);
    let server = &provision.groups[0].servers[0];
    assert_eq!(server.volumes.len(), 4);
    assert!(provision.to_markdown().contains("| taken by volumes | 80.3 % |"));
}

#[test]
fn an_array_grows_by_groups_or_is_refused() {
    let pool = Pool {
        level: Raid::Raid5,
        groups: 1,
        data_disks: 6,
        redundant_disks: 1,
        raw: Bytes(600_000_000_000),
        formatted: Bytes(600_000_000_000),
        disk_iops: 180.0,
    };
    let mut needs = two_sites(2, 8);
    assert_eq!(needs.clone().on_array(&VNXE3300), Err(ProvisionError::NoPool));
    needs.pools.first = vec![(Purpose::Databases, pool)];
    // 8 copies of 625 GiB: 8,600 GiB in volumes, 3,211.26 per group.
    let grown = needs.clone().on_array(&VNXE3300).unwrap();
    assert_eq!(grown.pools.first[0].1.groups, 3);
    needs.iops_per_database = 300.0;
    // 2,400 I/O per second with 2.2 disk operations each: 5,280, at 1,260 per group.
    assert_eq!(needs.clone().on_array(&VNXE3300).unwrap().pools.first[0].1.groups, 5);
    needs.iops_per_database = 1e9;
    let refused = needs.on_array(&VNXE3300).unwrap_err();
    assert!(refused.to_string().contains("larger or faster disks"));
}

#[test]
fn shares_of_sizes() {
    assert_eq!(scaled(Bytes(1000), 0.8), Bytes(800));
    assert_eq!(scaled(Bytes(u64::MAX), 1.0), Bytes(u64::MAX));
    assert_eq!(scaled(Bytes(u64::MAX), 2.0), Bytes(u64::MAX));
    assert_eq!(scaled(Bytes(1000), f64::NAN), Bytes(0));
}

/// Example E1: twelve disks per server, ten of them with four databases each.
#[test]
fn volumes_and_disks_of_a_server() {
    let provision = provision(two_sites(2, 40)).unwrap();
    let group = &provision.groups[0];
    let server = &group.servers[0];
    assert_eq!((server.name.as_str(), server.volumes.len()), ("EX01", 12));
    let disks: Vec<usize> = server.volumes.iter().map(|volume| volume.disk).collect();
    assert_eq!(disks, (1..=12).collect::<Vec<_>>());
    assert_eq!(server.volumes[0].databases, ["DB01", "DB02", "DB03", "DB04"]);
    assert!(provision.to_markdown().contains("\n- log.csv: 3 rows\n"));
    let purposes = [server.volumes[10].purpose, server.volumes[11].purpose];
    assert_eq!(purposes, [Purpose::Spare, Purpose::Restore]);
    // The workbook's own limits for this example.
    assert_eq!((group.limits().most, group.limits().preferred), (40, 20));
}

#[test]
fn logs_apart_have_disks_of_their_own() {
    let mut needs = two_sites(2, 40);
    needs.log_volume = Some(Bytes::from_gib(100));
    let provision = provision(needs).unwrap();
    let server = &provision.groups[0].servers[0];
    assert_eq!(server.volumes.len(), 22);
    assert_eq!(server.log_volume("DB05").unwrap().name, "ExVol12");
    let plan = TestPlan { server: None, root: "/r/".to_owned(), scale: 1.0, databases: None };
    let folders = &plan.folders(server)[4];
    assert_eq!(*folders, ("/r/ExVol02/DB05".to_owned(), "/r/ExVol12/DB05".to_owned()));
}

/// Example E1 from its document: the workbook's volumes, disks and sizes.
#[test]
fn a_sized_deployment_is_laid_out() {
    let text = "name = \"E1\"\nproduct = \"2013\"\nmode = \"compatible\"\n\
        [[tier]]\nmailboxes = 5000\nmessages_per_day = 200\nsize_limit = \"10GiB\"\n\
        [availability]\nservers_per_site = 2\ncopies = 3\nlagged_copies = 1\ndags = 2\n\
        [second_site]\nmodel = \"active/active\"\ncopies = 1\nlagged_copies = 1\n\
        [data]\noverhead_percent = 0\n";
    let deployment = plan::Deployment::parse("e1.toml", text).unwrap();
    let sizing = crate::size(&deployment);
    let needs = Requirements::of(&deployment, &sizing.sheet, sizing.architecture).unwrap();
    assert!((gib(needs.database) - 664.672_852).abs() < 0.001);
    assert!((gib(needs.database_volume) - 3_598.221_628).abs() < 0.001);
    assert!((needs.iops_per_database - 10.05).abs() < 1e-9);
    assert!(!needs.build.group_file_system && needs.build.circular_logging);
    let provision = provision(needs).unwrap();
    // The workbook's processor figures: 12,442.1875 in normal operation, 29,218.75 at worst.
    let burden = |failure| {
        let mut modes = provision.modes.iter();
        let mode = modes.find(|mode| mode.failure == failure).unwrap();
        provision.needs.burden(mode).unwrap()
    };
    let normal = burden(Failure::Servers(0));
    assert!((normal.megacycles.1 - 12_442.187_5).abs() < 1e-6);
    assert!((normal.iops.0 - 402.0).abs() < 1e-9 && (normal.iops.1 - 402.0).abs() < 1e-9);
    let worst = burden(Failure::SiteAndServer);
    assert!((worst.megacycles.1 - 29_218.75).abs() < 1e-6);
    assert_eq!((worst.active, worst.processor), ((40, 40), None));
    assert_eq!(provision.groups.len(), 2);
    for group in &provision.groups {
        assert_eq!(group.databases.len(), 40);
        assert!(group.servers.iter().all(|server| server.volumes.len() == 12));
    }
    assert!(provision.to_markdown().contains("| DB01 | EX01, EX02, EX03, (EX04) |"));
}

/// Slow servers in the second site: they bear the load when the first site fails.
#[test]
fn each_site_has_its_own_processors() {
    let text = "product = \"2013\"\n[[tier]]\nmailboxes = 5000\nmessages_per_day = 200\n\
        size_limit = \"2GiB\"\n[servers]\nspec_rate = 540\n\
        [availability]\nservers_per_site = 4\ncopies = 4\n\
        [second_site]\nmodel = \"active/active\"\ncopies = 2\n";
    let of = |rest: &str| {
        let deployment = plan::Deployment::parse("d.toml", &format!("{text}{rest}")).unwrap();
        let needs = needs_of(&deployment).unwrap();
        provision(needs).unwrap()
    };
    let (alike, slow) = (of(""), of("spec_rate = 270\n"));
    let share = |provision: &super::Provision, failure| {
        let mut modes = provision.modes.iter();
        let mode = modes.find(|mode| mode.failure == failure).unwrap();
        provision.needs.burden(mode).unwrap().processor.unwrap()
    };
    for failure in [Failure::Servers(0), Failure::Site] {
        let (alike, slow) = (share(&alike, failure), share(&slow, failure));
        assert!((slow - 2.0 * alike).abs() < 1e-9, "{failure}: {slow}, {alike}");
    }
    let text = alike.to_markdown();
    assert!(text.contains("| a site failed | 2 | by hand (1 of 2) |"), "{text}");
    assert!(text.contains("Restore-DatabaseAvailabilityGroup"));
}

/// Example E1 with its lagged copies on separate servers: 20 of them in each site on one server,
/// which holds no more than the others' 30, and nothing but lagged copies.
#[test]
fn late_copies_on_servers_of_their_own() {
    let text = "product = \"2013\"\n[[tier]]\nmailboxes = 5000\nmessages_per_day = 200\n\
        size_limit = \"10GiB\"\n[servers]\nspec_rate = 540\nlagged_spec_rate = 270\n\
        [availability]\nservers_per_site = 2\ncopies = 3\nlagged_copies = 1\ndags = 2\n\
        lagged_on_own_servers = true\n\
        [second_site]\nmodel = \"active/active\"\ncopies = 1\nlagged_copies = 1\n\
        [data]\noverhead_percent = 0\n";
    let deployment = plan::Deployment::parse("d.toml", text).unwrap();
    let sizing = crate::size(&deployment);
    for (key, wanted) in [
        (Key::DatabaseCount, 40.0),
        (Key::ServerDbCopies(ServerKind::First), 30.0),
        (Key::ServerLagged(ServerKind::First), 1.0),
        (Key::ServerLaggedPerDag, 2.0),
        (Key::ServerDbCopies(ServerKind::Lagged), 20.0),
        // Two groups of four servers and two for lagged copies.
        (Key::ServerAll, 12.0),
        (Key::IoDbIopsPerServer(ServerKind::Lagged), 201.0),
        (Key::VolumeDbVolumes(ServerKind::Lagged), 5.0),
        // Five for databases, a spare, one for restores.
        (Key::DiskJbodDisksPerServer(ServerKind::Lagged), 7.0),
        // Half the others' 32,000.
        (Key::ProcessorMcyclesAvailable(ServerKind::Lagged), 16_000.0),
        // 20 active copies of 62.5 mailboxes with 12 MB of cache.
        (Key::MemoryCacheGb(ServerKind::Lagged), 15.0),
    ] {
        let found = sizing.number(key).unwrap();
        assert!((found - wanted).abs() < 1e-9, "{key}: {found}, not {wanted}");
    }
    let provision =
        provision(Requirements::of(&deployment, &sizing.sheet, sizing.architecture).unwrap())
            .unwrap();
    let servers = &provision.groups[0].servers;
    let kept: Vec<bool> = servers.iter().map(|server| server.only_lagged).collect();
    assert_eq!(kept, [false, false, true, false, false, true]);
    for server in servers {
        let wanted = if server.only_lagged { 20 } else { 30 };
        assert_eq!(server.databases().count(), wanted, "{}", server.name);
    }
    for database in &provision.groups[0].databases {
        let late: Vec<bool> = database.copies.iter().map(|copy| copy.lagged).collect();
        assert_eq!(late, [false, false, false, true]);
        for copy in &database.copies {
            let server = servers.iter().find(|server| server.name == copy.server);
            assert_eq!(server.unwrap().only_lagged, copy.lagged);
        }
    }
}

/// Small disks in the second site: more of them, and volumes are cut from those.
#[test]
fn each_site_has_its_own_disks() {
    let text = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
        [availability]\nservers_per_site = 4\ncopies = 4\n[storage]\nbuild = \"raid\"\n\
        [second_site]\nmodel = \"active/active\"\ncopies = 2\n\
        [second_site.disks]\ndatabase = { size = \"1TB\", type = \"7.2K SAS 3.5\" }\n";
    let deployment = plan::Deployment::parse("d.toml", text).unwrap();
    let provision = provision(needs_of(&deployment).unwrap());
    let provision = provision.unwrap();
    let kinds = provision.kinds();
    let disks = |at: usize| provision.pools(kinds[at])[0].1;
    assert_eq!(kinds.len(), 2);
    assert_eq!(disks(1).raw, Bytes(1_000_000_000_000));
    assert!(disks(1).disks() > disks(0).disks());
    for server in kinds {
        assert!(provision.pool_shares(server)[0] <= 1.0, "{}", server.name);
    }
}

/// A number or decision that is missing is an error that names it, never a default.
#[test]
fn nothing_that_is_missing_is_made_up() {
    let tier = "[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n";
    let raid = "[storage]\nbuild = \"raid\"\n[data]\nrestore_volume = true\n";
    for rest in [
        "[availability]\nservers_per_site = 3\ncopies = 1\n",
        "[availability]\nservers_per_site = 2\ncopies = 3\nlagged_copies = 1\n\
         lagged_on_own_servers = true\n[second_site]\nmodel = \"active/active\"\n\
         copies = 1\nlagged_copies = 1\n",
    ] {
        let text = format!("{tier}{raid}{rest}");
        let deployment = plan::Deployment::parse("d.toml", &text).unwrap();
        let sizing = crate::size(&deployment);
        let whole = needs_of(&deployment).unwrap();
        let mut needed = 0;
        for fact in sizing.sheet.facts() {
            let sheet = sizing.sheet.without(fact.key);
            match Requirements::of(&deployment, &sheet, sizing.architecture) {
                Ok(found) => assert_eq!(found, whole, "without {}", fact.key),
                Err(error) => {
                    assert_eq!(error, ProvisionError::NotSized { key: fact.key });
                    needed += 1;
                }
            }
        }
        assert!(needed > 15, "only {needed} of {rest}");
    }
}

/// The other shapes of a deployment: single-server, on RAID; standby servers; racks; separate
/// lagged copies.
#[test]
fn every_shape_of_a_deployment() {
    let of = |rest: &str| {
        let tier = "[[tier]]\nmailboxes = 4000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n";
        let text = format!("{tier}{rest}");
        let deployment = plan::Deployment::parse("shape.toml", &text).unwrap();
        needs_of(&deployment).and_then(provision)
    };
    let alone = of("[availability]\nservers_per_site = 3\ncopies = 1\n").unwrap();
    assert_eq!((alone.groups.len(), alone.groups[0].servers.len()), (1, 3));
    assert!(!alone.needs.copies && alone.needs.log_volume.is_some());
    assert_eq!(alone.needs.pools.first[1].0, Purpose::Logs);
    let waiting = of("[availability]\nservers_per_site = 3\ncopies = 3\n\
         [second_site]\nmodel = \"active/passive\"\ncopies = 1\n");
    let waiting = waiting.unwrap();
    let there = waiting.groups[0].servers.iter().filter(|server| server.site == 1);
    // Two copies take three servers; the third takes half as many, rounded up.
    assert_eq!(there.count(), 2);
    let racks = "[names]\nfailure_domains_per_site = 2\n";
    let split = of(&format!("[availability]\nservers_per_site = 4\ncopies = 2\n{racks}")).unwrap();
    assert_eq!(split.needs.wish.sites[0].domains.len(), 2);
    let uneven = of(&format!("[availability]\nservers_per_site = 4\ncopies = 3\n{racks}"));
    let text = uneven.unwrap_err().to_string();
    assert!(text.contains("failure_domains_per_site") && text.contains("divisor"), "{text}");
    let apart = of("[availability]\nservers_per_site = 4\ncopies = 3\nlagged_copies = 1\n\
         lagged_on_own_servers = true\n");
    // Four servers each hold three quarters of the databases, so the lagged copies need two.
    assert_eq!(apart.unwrap().groups[0].servers.len(), 6);
}

/// Numbers continue across groups, so that no name repeats in an organisation.
#[test]
fn names_differ_over_all_groups() {
    let mut needs = two_sites(4, 72);
    needs.groups = 2;
    let provision = provision(needs).unwrap();
    assert_eq!(provision.groups[1].name, "DAG02");
    assert_eq!(provision.groups[1].servers[0].name, "EX09");
    assert_eq!(provision.groups[0].databases[0].name, "DB001");
    assert_eq!(provision.groups[1].databases[0].name, "DB073");
}

/// Two active sites with separate groups: each group starts in its home.
#[test]
fn mirrored_groups_have_their_home_in_the_second_site() {
    let mut needs = two_sites(2, 40);
    needs.groups = 2;
    needs.mirrored = true;
    let provision = provision(needs).unwrap();
    let sites = |at: usize| {
        provision.groups[at].servers.iter().map(|server| server.site).collect::<Vec<_>>()
    };
    assert_eq!((sites(0), sites(1)), (vec![0, 0, 1, 1], vec![1, 1, 0, 0]));
}

#[test]
fn names_that_would_change_a_path_are_refused() {
    for wrong in [
        "",
        "a/b",
        "a\\b",
        "a\"b",
        "a\nb",
        "..",
        "-x",
        "D\u{2019}B",
        "Gr\u{f6}\u{df}e",
        "a very long name that no label takes",
    ] {
        let mut needs = two_sites(2, 40);
        needs.names.database = wrong.to_owned();
        let error = provision(needs).unwrap_err();
        assert!(matches!(error, ProvisionError::Name(_)), "{wrong:?}");
        assert!(error.to_string().contains("[names] databases"));
    }
}

#[test]
fn the_test_plan_is_a_plan() {
    let provision = provision(two_sites(2, 40)).unwrap();
    let plan = |server: Option<&str>, scale| TestPlan {
        server: server.map(str::to_owned),
        root: "/mnt/mail".to_owned(),
        scale,
        databases: None,
    };
    let text = plan(Some("EX03"), 1.0).to_toml(&provision).unwrap();
    let whole = plan::Plan::parse("plan.toml", &text).unwrap();
    assert_eq!((whole.databases.len(), whole.size), (40, Bytes::from_gib(665)));
    assert_eq!(whole.databases[39].folder, "/mnt/mail/ExVol10/DB40");
    assert_eq!(whole.workload.target_iops, Some(402));
    // The pace of the product, as in the layout.
    assert_eq!(whole.test.maintenance_throttle, Some(Nanos::from_millis(250)));
    // 40 copies of 62.5 mailboxes, whose 10.05 I/O a second are 0.1608 for each.
    let mailboxes = whole.mailboxes.expect("the mailboxes of the design");
    assert_eq!((mailboxes.count, mailboxes.headroom_percent), (2_500, 0));
    assert!((mailboxes.iops_each - 0.160_8).abs() < 1e-9, "{}", mailboxes.iops_each);
    assert_eq!(mailboxes.size, Bytes::from_mib(665 * 1_024 * 2 / 125));
    let text = plan(None, 0.000_001).to_toml(&provision).unwrap();
    let small = plan::Plan::parse("plan.toml", &text).unwrap();
    assert_eq!(small.size, Bytes::from_mib(16));
    assert!(text.contains("no proof"));
    let refused = plan(Some("EX99"), 1.0).to_toml(&provision).unwrap_err();
    assert_eq!(refused.to_string(), "there is no server \"EX99\"; name one of EX01 to EX04");
}

proptest! {
    /// Every copy is on exactly one volume of its server, and no disk carries two volumes.
    #[test]
    fn nothing_is_lost_or_doubled(
        servers in 2_usize..=8,
        rounds in 1_usize..=6,
        per_volume in 1_usize..=4,
        spares in 0_usize..=3,
        apart: bool,
    ) {
        let mut needs = two_sites(servers, rounds * 2 * servers);
        needs.wish.databases_per_volume = per_volume;
        needs.spare_volumes = every(spares);
        needs.log_volume = apart.then_some(Bytes::from_gib(10));
        let provision = provision(needs).unwrap();
        let group = &provision.groups[0];
        for server in &group.servers {
            let mut held: Vec<&str> = server.databases().map(|(name, _)| name).collect();
            let copies = group.databases.iter().filter(|database| {
                database.copies.iter().any(|copy| copy.server == server.name)
            });
            let mut expected: Vec<&str> = copies.map(|database| database.name.as_str()).collect();
            held.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(held, expected);
            let spare = server.volumes.iter().filter(|volume| volume.purpose == Purpose::Spare);
            prop_assert_eq!(spare.count(), spares);
            for pair in server.volumes.windows(2) {
                prop_assert!(pair[1].disk == pair[0].disk + 1 && pair[1].name > pair[0].name);
            }
        }
    }
}
