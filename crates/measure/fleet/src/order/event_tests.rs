//! Planned events: their words, and the loads and takeovers that follow from them.

use proptest::prelude::*;
use units::Nanos;

use super::FleetOrder;
use super::event::{EventAction, TakeOver};
use super::placement::CopyRole;

/// Three hosts; DB1 is active on EX1, DB2 on EX2, and each has a copy on both others.
const HOSTS: &str = "name = \"dag\"\n\
    [[host]]\nhost = \"EX1\"\nplan = \"1\"\n\
    [[host]]\nhost = \"EX2\"\nplan = \"2\"\n\
    [[host]]\nhost = \"EX3\"\nplan = \"3\"\n\
    [[database]]\nname = \"DB1\"\ncopies = [\"EX1\", \"EX2\", \"EX3\"]\n\
    [[database]]\nname = \"DB2\"\ncopies = [\"EX2\", \"EX3\"]\n";

fn read(events: &str) -> Result<FleetOrder, String> {
    FleetOrder::parse("f.toml", &format!("{HOSTS}{events}")).map_err(|error| error.to_string())
}

fn minutes(count: u64) -> Nanos {
    Nanos::from_secs(60 * count)
}

#[test]
fn databases_of_a_lost_host_are_activated_by_preference_or_as_named() {
    let by = |events: &str| match &read(events).expect("sound").events[0].action {
        EventAction::Lose { host: 0, take_over } => take_over.clone(),
        other => panic!("no loss of EX1: {other:?}"),
    };
    let taken = |by| vec![TakeOver { database: "DB1".to_owned(), by }];
    assert_eq!(by("[[event]]\nat = \"1min\"\nlose = \"ex1\"\n"), taken(1));
    let named = "[[event]]\nat = \"1min\"\nlose = \"EX1\"\ntake_over = { DB1 = \"EX3\" }\n";
    assert_eq!(by(named), taken(2));
}

#[test]
fn a_second_loss_passes_over_the_first_host() {
    let order = read(
        "[[event]]\nat = \"2min\"\nlose = \"EX2\"\n[[event]]\nat = \"1min\"\nlose = \"EX1\"\n",
    )
    .expect("sound");
    assert_eq!(order.events[0].at, minutes(1), "events are in the order of time");
    let roles = |minute| (0..3).map(move |host| (host, minutes(minute)));
    let of = |minute| roles(minute).map(|(host, at)| order.role(host, "DB1", at)).collect();
    let (lost, passive, active) =
        (Some(CopyRole::Lost), Some(CopyRole::Passive), Some(CopyRole::Active));
    let all: [Vec<_>; 3] = [of(0), of(1), of(2)];
    assert_eq!(all[0], [active, passive, passive]);
    assert_eq!(all[1], [lost, active, passive]);
    assert_eq!(all[2], [lost, lost, active]);
    assert_eq!(order.role(0, "DB2", Nanos::ZERO), None, "EX1 has no copy of DB2");
}

#[test]
fn a_host_that_rejoins_holds_passive_copies_that_can_be_seeded() {
    let order = read(
        "[[event]]\nat = \"1min\"\nlose = \"EX1\"\n[[event]]\nat = \"2min\"\nrejoin = \"EX1\"\n\
         [[event]]\nat = \"3min\"\nreseed = \"DB1\"\ntarget = \"EX1\"\nrate = \"5MiB\"\n",
    )
    .expect("sound");
    assert_eq!(order.role(0, "DB1", minutes(2)), Some(CopyRole::Passive));
    let reseed = EventAction::Reseed {
        database: "DB1".to_owned(),
        source: 1,
        target: 0,
        bytes_per_second: 5 << 20,
    };
    assert_eq!(order.events[2].action, reseed);
    assert_eq!(order.events[2].words(&order.names()), "reseed DB1 from EX2 to EX1 at 3min");
}

#[test]
fn the_load_of_each_copy_follows_its_role() {
    let order = read("passive_percent = 0\n").map(|_| ()).expect_err("a key below a table");
    assert!(order.contains("passive_percent"), "{order}");
    let text = format!("passive_percent = 30\n{HOSTS}[[event]]\nat = \"1min\"\nlose = \"EX1\"\n");
    let order = FleetOrder::parse("f.toml", &text).expect("sound");
    let changes = order.load_changes();
    let of = |host, database: &str| -> Vec<(Nanos, u32)> {
        let own = changes.iter().filter(|of| of.host == host && of.database == database);
        own.map(|of| (of.at, of.percent)).collect()
    };
    assert_eq!(of(0, "DB1"), [(Nanos::ZERO, 100), (minutes(1), 0)]);
    assert_eq!(of(1, "DB1"), [(Nanos::ZERO, 30), (minutes(1), 100)]);
    assert_eq!(of(2, "DB1"), [(Nanos::ZERO, 30)]);
}

#[test]
fn an_event_that_cannot_happen_is_refused_with_its_remedy() {
    let at = |rest: &str| format!("[[event]]\nat = \"1min\"\n{rest}\n");
    let lost = at("lose = \"EX1\"");
    let cases = [
        ("[[event]]\nat = \"soon\"\nlose = \"EX1\"\n".to_owned(), "event 1: at = \"soon\""),
        ("[[event]]\nat = \"0s\"\nlose = \"EX1\"\n".to_owned(), "no time after the begin"),
        ("[[event]]\nlose = \"EX1\"\n".to_owned(), "missing field `at`"),
        (at(""), "nothing happens: give lose"),
        (at("lose = \"EX1\"\nrejoin = \"EX2\""), "three events"),
        (at("lose = \"EX9\""), "no [[host]] is called \"EX9\": the plan has EX1, EX2, EX3"),
        (format!("{lost}{lost}"), "EX1 is lost already"),
        (at("rejoin = \"EX1\""), "EX1 is not lost then"),
        (at("lose = \"EX1\"\nrate = \"1MiB\""), "belong to reseed"),
        (at("reseed = \"DB1\"\ntarget = \"EX2\"\ntake_over = {}"), "take_over belongs to lose"),
        (at("lose = \"EX1\"\ntake_over = { DB9 = \"EX2\" }"), "no [[database]] is called \"DB9\""),
        (at("lose = \"EX1\"\ntake_over = { DB2 = \"EX3\" }"), "DB2 is not active on EX1"),
        (at("lose = \"EX1\"\ntake_over = { DB1 = \"EX1\" }"), "EX1 is lost then"),
        (at("lose = \"EX2\"\ntake_over = { DB2 = \"EX1\" }"), "EX1 holds no copy of DB2"),
        (at("reseed = \"DB1\""), "reseed needs target"),
        (at("reseed = \"DB1\"\ntarget = \"EX1\""), "DB1 is active on EX1"),
        (at("reseed = \"DB1\"\nsource = \"EX3\"\ntarget = \"EX3\""), "both EX3"),
        (at("reseed = \"DB2\"\ntarget = \"EX1\""), "EX1 holds no copy of DB2"),
        (format!("{lost}{}", at("reseed = \"DB1\"\ntarget = \"EX1\"")), "EX1 is lost then"),
        (at("reseed = \"DB1\"\ntarget = \"EX2\"\nrate = \"fast\""), "rate = \"fast\""),
        ("[[database]]\nname = \"db1\"\ncopies = [\"EX1\"]\n".to_owned(), "described twice"),
        ("[[database]]\nname = \"DB3\"\ncopies = []\n".to_owned(), "copies is empty"),
        ("[[database]]\nname = \"DB3\"\ncopies = [\"EX1\", \"ex1\"]\n".to_owned(), "ex1 twice"),
        ("[[database]]\nname = \"DB3\"\ncopies = [\"EX7\"]\n".to_owned(), "called \"EX7\""),
    ];
    for (events, part) in cases {
        let error = read(&events).expect_err(&events);
        assert!(error.contains(part), "{part} is missing in:\n{error}");
    }
}

#[test]
fn a_database_without_a_surviving_copy_and_a_fleet_without_survivors_are_refused() {
    let all = ["EX2", "EX3"].map(|host| format!("[[event]]\nat = \"1min\"\nlose = \"{host}\"\n"));
    let error = read(&all.concat()).expect_err("DB2 is gone");
    assert!(error.contains("DB2 has no copy on a surviving host"), "{error}");
    let alone = "name = \"a\"\n[[host]]\nhost = \"x\"\nplan = \"p\"\n\
                 [[event]]\nat = \"1min\"\nlose = \"x\"\n";
    let error = FleetOrder::parse("f.toml", alone).expect_err("no survivor").to_string();
    assert!(error.contains("x is the last host"), "{error}");
}

#[test]
fn an_event_behind_the_end_of_the_measurement_is_named() {
    let order = read("[[event]]\nat = \"90s\"\nlose = \"EX1\"\n").expect("sound");
    assert_eq!(order.late_events(minutes(2)), Vec::<String>::new());
    let late = order.late_events(Nanos::from_secs(90));
    assert!(late[0].contains("lose EX1 at 90s: the measurement ends after 90s"), "{late:?}");
}

proptest! {
    #[test]
    fn every_database_is_active_on_one_survivor_after_any_events(
        draws in prop::collection::vec((0_usize..3, any::<bool>()), 0..8),
    ) {
        let mut text = String::new();
        for (at, (host, is_lost)) in draws.iter().enumerate() {
            let action = if *is_lost { "lose" } else { "rejoin" };
            let event =
                format!("[[event]]\nat = \"{}s\"\n{action} = \"EX{}\"\n", at + 1, host + 1);
            // An event that cannot happen is refused; the others stay.
            if read(&format!("{text}{event}")).is_ok() {
                text.push_str(&event);
            }
        }
        let order = read(&text).expect("only sound events");
        let instants = order.events.iter().map(|event| event.at).chain([Nanos::ZERO]);
        for at in instants {
            for database in ["DB1", "DB2"] {
                let roles = (0..3).filter_map(|host| order.role(host, database, at));
                let active = roles.filter(|role| *role == CopyRole::Active);
                prop_assert_eq!(active.count(), 1, "{} at {}", database, at);
            }
        }
    }
}
