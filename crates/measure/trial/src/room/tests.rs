use plan::Plan;
use units::{Bytes, Nanos};

use super::{Growth, Room, Shortage, Tenants, before, first_look_size};

fn plan(more: &str) -> Plan {
    let text = format!("[databases]\nfolders = [\"/a\"]\ncount = 2\nsize = \"1GiB\"\n{more}");
    Plan::parse("test", &text).unwrap()
}

const BOTH: Tenants = Tenants { databases: 2, logs: 2, log_bytes: 0 };

#[test]
fn a_run_needs_room_for_its_logs_and_for_its_end() {
    // Two logs of 20 + 16 MiB, twice 16 MiB of growth and 4 MiB of log at the end.
    let needed = Bytes::from_mib(2 * 36 + 2 * 20);
    assert_eq!(before(&plan(""), "/a", &BOTH, needed), Ok(()));
    let less = Bytes(needed.0 - 1);
    let volume = "/a".to_owned();
    let refused = before(&plan(""), "/a", &BOTH, less).unwrap_err();
    let free = less;
    assert_eq!(refused, Shortage::Before { volume, needed, free });
    assert!(refused.to_string().contains("at least 112.0 MiB more"), "{refused}");
    let there = Tenants { log_bytes: 72 << 20, ..BOTH };
    assert_eq!(before(&plan(""), "/a", &there, Bytes::from_mib(40)), Ok(()));
}

#[test]
fn a_stated_load_of_a_stated_time_grows_at_least_by_its_messages() {
    let plan = plan("[workload]\ntarget_iops = 10000\n[test]\nduration = \"24h\"\n");
    let little = Bytes::from_gib(20);
    assert!(before(&plan, "/a", &BOTH, little).is_err());
    assert_eq!(before(&plan, "/a", &BOTH, Bytes::from_gib(2_000)), Ok(()));
}

#[test]
fn a_load_ends_before_its_reserve_is_used_up() {
    let mut room = Room::default();
    let reserve = Bytes::from_mib(40);
    let look = |room: &mut Room, millis, mebibytes| {
        let at = Nanos::from_millis(millis);
        room.look(at, Bytes::from_mib(mebibytes), reserve)
    };
    assert_eq!(look(&mut room, 0, 1_000), None);
    assert_eq!(look(&mut room, 500, 100), None, "too early for a rate");
    assert_eq!(look(&mut room, 1_000, 990), None);
    assert_eq!(look(&mut room, 2_000, 800), None);
    assert_eq!(look(&mut room, 7_000, 300), None);
    let a_second_from_it = look(&mut room, 8_000, 134);
    assert_eq!(a_second_from_it, Some(Bytes::from_mib(111)));
    let mut steady = Room::default();
    assert_eq!(look(&mut steady, 0, 41), None);
    assert_eq!(look(&mut steady, 900_000, 41), None, "little, and no less");
    assert!(look(&mut steady, 901_000, 40).is_some());
}

#[test]
fn a_hopeless_lack_is_foreseen_and_a_doubtful_one_is_not() {
    let mut growth = Growth::default();
    let hour = Nanos::from_secs(3_600);
    growth.note(Nanos::from_secs(10), Bytes::from_gib(2));
    assert_eq!(growth.foresees_lack(hour, Bytes(0)), None);
    growth.note(Nanos::from_secs(39), Bytes::from_gib(3));
    assert_eq!(growth.foresees_lack(hour, Bytes(0)), None, "too early");
    growth.note(Nanos::from_secs(42), Bytes(Bytes::from_gib(2).0 + (320 << 20)));
    let each_second = Some(Bytes::from_mib(10));
    assert_eq!(growth.foresees_lack(hour, Bytes::from_mib(17_999)), each_second);
    assert_eq!(growth.foresees_lack(hour, Bytes::from_mib(18_000)), None);
}

#[test]
fn what_was_foreseen_is_told_with_its_numbers() {
    let foreseen = Shortage::Foreseen {
        volume: "/mail".to_owned(),
        at: Nanos::from_secs(42),
        free: Bytes::from_gib(1),
        per_second: Bytes::from_mib(10),
        remaining: Nanos::from_secs(3_600),
    };
    let text = foreseen.to_string();
    for part in ["/mail", "1.00 GiB", "10.0 MiB", "35.16 GiB", "about 81 s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_first_look_leaves_room_to_grow() {
    let plan = plan("");
    assert_eq!(first_look_size(&plan, Bytes::from_gib(10)), Bytes::from_gib(1));
    let small = first_look_size(&plan, Bytes::from_mib(2_252));
    assert_eq!(small, Bytes::from_mib(640));
    assert_eq!(first_look_size(&plan, Bytes::from_mib(100)), plan.size);
}
