//! Properties that every deployment must have, most of them in corrected mode only.

use crate::size_unadvised;
use plan::Deployment;
use proptest::prelude::*;
use sizing::{Key, ServerKind, Sizing};

#[derive(Clone, Debug)]
struct Shape {
    mailboxes: u32,
    messages: u32,
    limit_mib: u32,
    servers: u32,
    copies: u32,
    disk_gb: u32,
    jbod: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let counts = (1_u32..40_000, 10_u32..400, 100_u32..20_000, 1_u32..12);
    let hardware = (1_u32..6, 600_u32..16_000, any::<bool>());
    (counts, hardware).prop_map(
        |((mailboxes, messages, limit_mib, servers), (copies, disk_gb, jbod))| Shape {
            mailboxes,
            messages,
            limit_mib,
            servers: servers.max(copies),
            copies,
            disk_gb,
            jbod,
        },
    )
}

fn sized(shape: &Shape) -> Sizing {
    let Shape { mailboxes, messages, limit_mib, servers, copies, disk_gb, jbod } = shape;
    let text = format!(
        "[[tier]]\nmailboxes = {mailboxes}\nmessages_per_day = {messages}\n\
         size_limit = \"{limit_mib}MiB\"\n[availability]\nservers_per_site = {servers}\n\
         copies = {copies}\n[disks]\ndatabase = {{ size = \"{disk_gb}GB\" }}\n\
         [storage]\nconsider_jbod = {jbod}\n[servers]\nspec_rate = 540\n"
    );
    size_unadvised(&Deployment::parse("d.toml", &text).expect("a sound deployment"))
}

fn number(sizing: &Sizing, key: Key) -> f64 {
    sizing.number(key).unwrap_or_else(|| panic!("no {key}"))
}

/// The workbook's estimate for two failed servers moves more databases away than there are.
#[test]
fn one_database_on_more_servers_needs_no_processor_below_none() {
    let text = "mode = \"compatible\"\n[[tier]]\nmailboxes = 9000\nmessages_per_day = 120\n\
                size_limit = \"3GiB\"\n[availability]\nservers_per_site = 3\ncopies = 3\n\
                lagged_copies = 1\n[servers]\nspec_rate = 540\n[data]\ndatabases = 1\n\
                [second_site]\nmodel = \"active/active\"\ncopies = 1\n";
    let sizing = size_unadvised(&Deployment::parse("d.toml", text).expect("a sound deployment"));
    for fact in sizing.sheet.facts() {
        if let sizing::Value::Number(value) = fact.value {
            assert!(value.is_finite() && value >= 0.0, "{}: {value}", fact.key);
        }
    }
}

proptest! {
    #[test]
    fn more_mailboxes_never_need_less(shape in shapes(), more in 1_u32..5_000) {
        let larger = Shape { mailboxes: shape.mailboxes + more, ..shape.clone() };
        let (small, large) = (sized(&shape), sized(&larger));
        for key in [Key::DatabaseSpaceGbOneCopyPerDag, Key::IoDbIopsPerDag, Key::LogSpaceGbPerDag] {
            prop_assert!(number(&small, key) < number(&large, key) + 1e-9, "{key}");
        }
        for key in [Key::DatabaseCountMinimum, Key::DatabaseCount] {
            prop_assert!(number(&small, key) <= number(&large, key), "{key}");
        }
        // A different number of databases may fill volumes or servers with less space left over.
        if number(&large, Key::DatabaseCount) - number(&small, Key::DatabaseCount) < 0.5 {
            prop_assert!(number(&small, Key::DiskAll) <= number(&large, Key::DiskAll));
        }
    }

    #[test]
    fn nothing_is_negative_or_unknown(shape in shapes()) {
        let sizing = sized(&shape);
        for fact in sizing.sheet.facts() {
            if let sizing::Value::Number(value) = fact.value {
                prop_assert!(value.is_finite() && value >= 0.0, "{}: {value}", fact.key);
            }
        }
    }

    /// A design that violates no rule has room for everything.
    #[test]
    fn a_workable_design_holds_what_it_is_for(shape in shapes()) {
        let sizing = sized(&shape);
        if !sizing.is_workable() {
            return Ok(());
        }
        let value = |key: Key| number(&sizing, key);
        let served = value(Key::DatabaseCount) * value(Key::DatabaseMailboxes);
        prop_assert!((served - value(Key::ServerMailboxesPerDag)).abs() < 1e-6);
        let room = value(Key::DatabaseMailboxesCapacityLimited);
        prop_assert!(value(Key::DatabaseMailboxes) <= room + 1e-9);
        let copies = value(Key::ServerDbCopies(ServerKind::First));
        prop_assert!(value(Key::ServerWorstActiveDbs(ServerKind::First)) <= copies);
        let cache = value(Key::MemoryCacheGb(ServerKind::First));
        prop_assert!(value(Key::MemoryCacheGbAtThatRam) >= cache - 1e-9);
        let volumes = value(Key::VolumeDbVolumes(ServerKind::First));
        prop_assert!(volumes.fract() == 0.0, "{volumes} volumes");
    }

    /// Every model of two sites yields numbers, in both modes, and no panic.
    #[test]
    fn every_site_model_is_sized(
        copies in 2_u32..6,
        there in 0_u32..3,
        lagged in 0_u32..3,
        lagged_there in 0_u32..3,
        servers in 1_u32..9,
        model in 0_usize..3,
        compatible: bool,
        apart: bool,
        count in prop::option::of(1_u32..400),
    ) {
        const MODELS: [&str; 3] =
            ["active/active", "active/passive", "active/active, groups of their own"];
        let model = MODELS[model];
        let mode = if compatible { "compatible" } else { "corrected" };
        let databases = count.map_or("\"auto\"".to_owned(), |count| count.to_string());
        let text = format!(
            "mode = \"{mode}\"\n[[tier]]\nmailboxes = 9000\nmessages_per_day = 120\n\
             size_limit = \"3GiB\"\n[availability]\nservers_per_site = {servers}\n\
             copies = {copies}\nlagged_copies = {lagged}\n\
             lagged_on_own_servers = {apart}\n[servers]\nspec_rate = 540\n\
             [data]\ndatabases = {databases}\n\
             [second_site]\nmodel = \"{model}\"\ncopies = {there}\n\
             lagged_copies = {lagged_there}\n"
        );
        let Ok(deployment) = Deployment::parse("d.toml", &text) else {
            return Ok(());
        };
        let sizing = size_unadvised(&deployment);
        for fact in sizing.sheet.facts() {
            if let sizing::Value::Number(value) = fact.value {
                prop_assert!(value.is_finite() && value >= 0.0, "{}: {value}", fact.key);
            }
        }
        if let Some(found) = crate::simulate(&deployment, &sizing) {
            let kept = found.layout.servers.iter().filter(|server| server.only_lagged).count();
            let sized = sizing.number(Key::ServerLaggedPerDag).unwrap_or(0.0);
            prop_assert!((kept as f64 - sized).abs() < 0.5, "{kept} kept, {sized} sized");
            for copies in &found.layout.databases {
                let kept = |copy: &crate::layout::Copy| {
                    found.layout.servers[copy.server].only_lagged
                };
                let apart = sizing.architecture.late_apart;
                let right = |copy| !apart || kept(copy) == copy.lagged;
                prop_assert!(copies.iter().all(right), "{copies:?}");
            }
        }
        let worst = number(&sizing, Key::ServerWorstActiveDbs(ServerKind::First));
        // The workbook rounds copies down below the average number of active ones.
        let most = number(&sizing, Key::ServerDbCopies(ServerKind::First));
        prop_assert!(compatible || worst <= most + 1e-9, "{worst} of {most}");
    }
}

/// A server needs 32 databases for fewer mailboxes and 36 for more. They make 5 and 6 backup sets
/// of at most 7 and 6 databases, and the restore volume takes one set (facts 4.6 and 5.9).
#[test]
fn more_mailboxes_in_smaller_backup_sets_may_need_fewer_disks() {
    let of = |mailboxes| {
        sized(&Shape {
            mailboxes,
            messages: 23,
            limit_mib: 1480,
            servers: 11,
            copies: 1,
            disk_gb: 647,
            jbod: false,
        })
    };
    let (small, large) = (of(35_107), of(38_897));
    let both = |key: Key| (number(&small, key), number(&large, key));
    assert_eq!(both(Key::DatabaseCount), (32.0, 36.0));
    assert_eq!(both(Key::VolumeDbsPerVolume), (7.0, 6.0));
    assert_eq!(both(Key::DiskRaidDisksDb(ServerKind::First)), (26.0, 28.0));
    assert_eq!(both(Key::DiskRaidDisksRestore), (6.0, 3.0));
}

/// Four servers hold at most 100 copies each, so a group with three copies has at most 133
/// databases; no design holds more.
#[test]
fn a_count_that_cannot_be_held_is_not_quietly_lowered() {
    let with = |count: u32| {
        let text = format!(
            "[[tier]]\nmailboxes = 5000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
             [availability]\nservers_per_site = 4\ncopies = 3\n[data]\ndatabases = {count}\n\
             [storage]\nseveral_databases_per_volume = false\n"
        );
        let sizing =
            size_unadvised(&Deployment::parse("d.toml", &text).expect("a sound deployment"));
        let mut findings = sizing.findings.iter();
        findings.any(|finding| finding.key == Key::DatabaseMaxCountPerDag)
    };
    assert!(!with(133) && with(134));
}
