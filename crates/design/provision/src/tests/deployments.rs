//! Randomly drawn deployments over all inputs, in both modes: every result is a number that can be
//! shown, and a workable design can be laid out and built.

use crate::layout::lay_out;
use crate::{Requirements, provision};
use crate::{size, size_unadvised};
use plan::Deployment;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sizing::{Key, ServerKind, Sizing, Value};

const MODELS: &[&str] = &["active/active", "active/passive", "active/active, groups of their own"];

/// Tiers of mailboxes; some make a deployment far too small or far too large.
fn tiers() -> impl Strategy<Value = String> {
    let mailboxes = prop_oneof![1_u32..12, 12_u32..5_000, 5_000_u32..400_000];
    let tier = (mailboxes, 1_u32..600, 1_u32..200_000, 0_u32..60_000, any::<[bool; 3]>());
    let tier = tier.prop_map(|(mailboxes, messages, limit, archive, [search, given, idle])| {
        let iops = if idle { 0.0 } else { 0.25 };
        let given = if given { format!("iops = {iops}\n") } else { String::new() };
        format!(
            "[[tier]]\nmailboxes = {mailboxes}\nmessages_per_day = {messages}\n\
             size_limit = \"{limit}MiB\"\narchive_limit = \"{archive}MiB\"\n\
             desktop_search = {search}\niops_multiplier = 1.5\nmegacycle_multiplier = 2\n{given}"
        )
    });
    vec(tier, 1..4).prop_map(|tiers| tiers.concat())
}

fn availability() -> impl Strategy<Value = String> {
    let counts = (1_u32..17, 1_u32..17, 0_u32..3, 1_u32..4, any::<[bool; 2]>());
    let first = counts.prop_map(|(servers, copies, lagged, dags, [apart, manager])| {
        format!(
            "[availability]\nservers_per_site = {servers}\ncopies = {copies}\n\
             lagged_copies = {lagged}\ndags = {dags}\nlagged_on_own_servers = {apart}\n\
             replay_lag_manager = {manager}\n"
        )
    });
    let second = (select(MODELS), 0_u32..9, 0_u32..3, any::<[bool; 2]>());
    let second = second.prop_map(|(model, copies, lagged, [blocked, dedicated])| {
        format!(
            "[second_site]\nmodel = \"{model}\"\ncopies = {copies}\nlagged_copies = {lagged}\n\
             blocks_activation = {blocked}\ndedicated_servers = {dedicated}\n"
        )
    });
    (first, prop::option::of(second))
        .prop_map(|(first, second)| first + &second.unwrap_or_default())
}

fn storage() -> impl Strategy<Value = String> {
    let count = prop::option::of(1_u32..3_000);
    let volumes = prop::option::of(1_u32..100);
    let methods = select(&["copies", "hardware snapshots", "software snapshots"][..]);
    let given = (count, volumes, methods, any::<[bool; 5]>());
    let hardware = (1_u32..20_000, 0_u32..500, 0_u32..90, 1_u32..100);
    (given, hardware).prop_map(|((count, volumes, method, flags), (disk, overhead, free, used))| {
        let [jbod, several, equal, symmetrical, restore] = flags;
        let auto = |count: Option<u32>| {
            count.map_or_else(|| "\"auto\"".to_owned(), |count| count.to_string())
        };
        format!(
            "[storage]\nconsider_jbod = {jbod}\nseveral_databases_per_volume = {several}\n\
             databases_equal_copies = {equal}\nvolumes_per_server = {}\n\
             usable_disk_io_percent = {used}\n[data]\ndatabases = {}\n\
             symmetrical = {symmetrical}\nrestore_volume = {restore}\n\
             overhead_percent = {overhead}\nvolume_free_space_percent = {free}\n\
             [io]\nadditional_iops = {used}\n[backup]\nmethod = \"{method}\"\n\
             [disks]\ndatabase = {{ size = \"{disk}GB\" }}\n\
             [servers]\nspec_rate = 540\n[replication]\nlink_mbps = 1000\n\
             hourly_percent = [{}]\n",
            auto(volumes),
            auto(count),
            ["4"; 22].join(", ") + ", 6, 6"
        )
    })
}

/// A document; some contradict themselves and are refused when they are parsed.
fn documents() -> impl Strategy<Value = String> {
    (any::<bool>(), tiers(), availability(), storage()).prop_map(
        |(compatible, tiers, availability, storage)| {
            let mode = if compatible { "compatible" } else { "corrected" };
            format!("mode = \"{mode}\"\n{tiers}{availability}{storage}")
        },
    )
}

fn unfit_number(sizing: &Sizing) -> Option<String> {
    let mut facts = sizing.sheet.facts().iter();
    let unfit = facts.find(|fact| match fact.value {
        Value::Number(value) => !value.is_finite() || value < 0.0,
        Value::Decision(_) => false,
    });
    unfit.map(|fact| format!("{} = {:?}: {}", fact.key, fact.value, fact.numbers))
}

/// Number of deployments to draw; `cargo xtask prove exhaustive` asks for more.
fn drawn() -> ProptestConfig {
    let asked = std::env::var("PLIMSOLL_DESIGNS").ok();
    ProptestConfig::with_cases(asked.and_then(|count| count.parse().ok()).unwrap_or(300))
}

proptest! {
    #![proptest_config(drawn())]

    #[test]
    fn every_design_is_numbers_and_a_workable_one_can_be_built(text in documents()) {
        let Ok(deployment) = Deployment::parse("d.toml", &text) else {
            return Ok(());
        };
        let sizing = size_unadvised(&deployment);
        let unfit = unfit_number(&sizing);
        prop_assert!(unfit.is_none(), "{unfit:?}");
        if !sizing.is_workable() {
            return Ok(());
        }
        for key in [
            Key::ServerDbCopies(ServerKind::First),
            Key::ServerAll,
            Key::DatabaseCount,
            Key::DiskAll,
            Key::MemoryAllGb,
        ] {
            prop_assert!(sizing.number(key) >= Some(1.0), "{key} = {:?}", sizing.number(key));
        }
        let needs = Requirements::of(&deployment, &sizing.sheet, sizing.architecture);
        prop_assert!(needs.is_ok(), "{needs:?}");
        let layout = needs.as_ref().map(|needs| lay_out(&needs.wish));
        prop_assert!(matches!(layout, Ok(Ok(_))), "{layout:?}");
        if let Ok(needs) = needs {
            let built = provision(needs);
            prop_assert!(built.is_ok(), "{built:?}");
        }
    }
}

/// Two sites with a recovery point of one day, linked at `mbps` Mb/s.
fn over_a_link(mbps: u32) -> Sizing {
    let text = format!(
        "[[tier]]\nmailboxes = 20000\nmessages_per_day = 150\nsize_limit = \"2GiB\"\n\
         [availability]\nservers_per_site = 6\ncopies = 4\n\
         [second_site]\nmodel = \"active/passive\"\ncopies = 2\nrecovery_point = \"24h\"\n\
         [replication]\nlink_mbps = {mbps}\nhourly_percent = [2, 2, 2, 3, 2, 5, 4, 8, 8, 9, 6, 7, \
         7, 7, 5, 5, 5, 3, 3, 2, 1, 2, 1, 1]\n"
    );
    size(&Deployment::parse("d.toml", &text).expect("a deployment"))
}

#[test]
fn a_link_that_cannot_carry_the_peak_is_a_finding() {
    use sizing::Severity::{Violation, Warning};
    let (mut violations, mut warnings) = (0, 0);
    for mbps in 1..1_000 {
        let mut findings = over_a_link(mbps).findings.into_iter();
        let link = findings.find(|finding| finding.key.to_string().starts_with("net.link_ok"));
        match link.map(|finding| (finding.severity, finding.key)) {
            Some((Violation, Key::NetworkLinkOkRpo)) => violations += 1,
            Some((Warning, Key::NetworkLinkOkPeak)) => warnings += 1,
            None => break,
            other => panic!("{mbps} Mb/s: {other:?}"),
        }
    }
    assert!(violations > 0 && warnings > 0, "{violations} {warnings}");
}

fn has_passive_below_none(databases: u32) -> bool {
    let text = format!(
        "mode = \"compatible\"\n[[tier]]\nmailboxes = 2000\nmessages_per_day = 150\n\
         size_limit = \"2GiB\"\n[availability]\nservers_per_site = 3\ncopies = 2\n\
         [second_site]\nmodel = \"active/active\"\ncopies = 1\n[data]\n\
         databases = {databases}\nsymmetrical = false\n[servers]\nspec_rate = 540\n"
    );
    let sizing = size(&Deployment::parse("d.toml", &text).expect("a deployment"));
    sizing.notes.iter().any(|note| note.quirk == sizing::Quirk::PassiveBelowNone)
}

#[test]
fn passive_copies_below_none_are_named_a_mistake_of_the_workbook() {
    let named = (1..40).filter(|databases| has_passive_below_none(*databases)).count();
    assert!((1..39).contains(&named), "{named} of 39");
}
