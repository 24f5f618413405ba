//! Take-over, quorum and recovery, counted by hand.

use provision::layout::Witness;
use units::Nanos;

use super::{Duty, timeline};
use crate::fixture::{deployment, hour, occurrence};
use crate::{Happening, PlayedRules};

/// Which copy of each database is active in each stretch.
fn active(of: &[super::Stretch]) -> Vec<Vec<Option<usize>>> {
    let copies = |duties: &Vec<Duty>| duties.iter().position(|duty| *duty == Duty::Active);
    of.iter().map(|stretch| stretch.duties.iter().map(copies).collect()).collect()
}

/// Four hosts, two per site; database n is active on host n and has its copies on the next hosts.
#[test]
fn databases_of_a_lost_host_move_by_preference_and_return_only_when_asked() {
    let rules = PlayedRules { witness: Some(Witness::First), ..PlayedRules::default() };
    let deployment = deployment(4, 3, rules);
    let happenings = [
        occurrence(hour(1), Some(hour(2)), Happening::HostLost { host: 0 }),
        occurrence(hour(5), None, Happening::Failback),
    ];
    let found = timeline(&deployment, &happenings, hour(6));
    let moments: Vec<u64> = found.iter().map(|of| of.from.0 / 1_000_000_000).collect();
    // Away for an hour, it replays three times as fast: half an hour more.
    assert_eq!(moments, [0, 3_600, 7_200, 9_000, 18_000]);
    let first: Vec<Option<usize>> = active(&found).iter().map(|all| all[0]).collect();
    assert_eq!(first, [Some(0), Some(1), Some(1), Some(1), Some(0)]);
    assert_eq!(found[2].duties[0][0], Duty::CatchingUp);
    assert_eq!(found[3].duties[0][0], Duty::Replaying);
    assert!(found[0].is_redundant() && !found[2].is_redundant() && found[3].is_redundant());
    assert_eq!(found.last().map(|of| of.to), Some(hour(6)));
}

/// Two and two hosts with the witness in the first site: five votes. The second site has two.
#[test]
fn a_lost_site_with_the_witness_stops_the_other_until_it_is_activated_by_hand() {
    let rules = PlayedRules {
        witness: Some(Witness::First),
        by_hand: Nanos::from_secs(600),
        ..PlayedRules::default()
    };
    let deployment = deployment(4, 4, rules);
    let lost = |site| [occurrence(hour(1), None, Happening::SiteLost { site })];
    let first = timeline(&deployment, &lost(0), hour(2));
    assert_eq!(first.iter().map(super::Stretch::inactive).collect::<Vec<_>>(), [0, 4, 0]);
    assert_eq!(first[2].from, hour(1) + Nanos::from_secs(600));
    let second = timeline(&deployment, &lost(1), hour(2));
    assert_eq!(second.iter().map(super::Stretch::inactive).collect::<Vec<_>>(), [0, 0]);
    let cut = [occurrence(hour(1), Some(hour(2)), Happening::LinkCut)];
    let cut = timeline(&deployment, &cut, hour(2));
    assert_eq!(cut[1].up, [true, true, false, false]);
}

#[test]
fn a_drive_without_redundancy_takes_its_copies_along_and_they_are_seeded() {
    let rules = PlayedRules { reseed_rate: 100e6, ..PlayedRules::default() };
    let deployment = deployment(2, 2, rules);
    let failed = [occurrence(hour(1), None, Happening::DiskFailed { array: 0 })];
    let found = timeline(&deployment, &failed, hour(9));
    let seeding = Duty::Seeding { source: 1, rate: 100_000_000 };
    assert_eq!(found[1].duties[0], [seeding, Duty::Active]);
    let seconds = deployment.databases[0].copies[0].place.bytes as f64 / 100e6;
    assert!((found[1].to.since(found[1].from).as_secs_f64() - seconds).abs() < 1e-3);
    assert_eq!(found[2].duties[0], [Duty::Replaying, Duty::Active]);
    let replaced = [occurrence(hour(1), Some(hour(2)), Happening::HostReplaced { host: 0 })];
    let found = timeline(&deployment, &replaced, hour(9));
    assert_eq!(found[1].duties[0][0], Duty::Idle);
    assert_eq!(found[2].duties[0][0], seeding);
}

#[test]
fn lagged_copies_take_over_only_if_the_rules_say_so() {
    let mut deployment = deployment(2, 2, PlayedRules::default());
    deployment.databases[0].copies[1].is_lagged = true;
    let lost = [occurrence(hour(1), None, Happening::HostLost { host: 0 })];
    assert_eq!(active(&timeline(&deployment, &lost, hour(2)))[1], [None, Some(0)]);
    deployment.rules.activates_lagged = true;
    assert_eq!(active(&timeline(&deployment, &lost, hour(2)))[1], [Some(1), Some(0)]);
}

/// Six hours of log at three times the pace of the load are two hours, in which no user works.
#[test]
fn a_lagged_copy_replays_its_backlog_before_users_work_on_it() {
    let rules = PlayedRules { activates_lagged: true, lag: hour(6), ..PlayedRules::default() };
    let mut deployment = deployment(2, 2, rules);
    deployment.databases[0].copies[1].is_lagged = true;
    let lost = [occurrence(hour(1), None, Happening::HostLost { host: 0 })];
    let found = timeline(&deployment, &lost, hour(9));
    let moments: Vec<u64> = found.iter().map(|of| of.from.0 / 1_000_000_000).collect();
    assert_eq!(moments, [0, 3_600, 10_800]);
    assert_eq!(found[1].duties[0], [Duty::Idle, Duty::CatchingUp]);
    assert_eq!(found[1].inactive(), 1);
    assert_eq!(active(&found)[2], [Some(1), Some(0)]);
}

/// Three databases of 200 GB are seeded: two cross the link between the sites at half its bandwidth
/// each, the third at the requested rate.
#[test]
fn copies_that_are_seeded_at_once_share_the_link_between_the_sites() {
    let rules = PlayedRules { reseed_rate: 80e6, site_link: Some(50e6), ..PlayedRules::default() };
    let deployment = deployment(4, 3, rules);
    let replaced = [occurrence(hour(1), Some(hour(2)), Happening::HostReplaced { host: 0 })];
    let found = timeline(&deployment, &replaced, hour(9));
    // DB00 is active on EX01 in the same site, DB02 on EX02 and DB03 on EX03 in the other.
    assert_eq!(found[2].duties[0][0], Duty::Seeding { source: 1, rate: 80_000_000 });
    assert_eq!(found[2].duties[2][2], Duty::Seeding { source: 0, rate: 25_000_000 });
    assert_eq!(found[2].duties[3][1], Duty::Seeding { source: 0, rate: 25_000_000 });
    assert_eq!(found[3].from, hour(2) + Nanos::from_secs(2_500));
    assert_eq!(found[4].from, hour(2) + Nanos::from_secs(8_000));
}

/// A fleet plan specifies the rate of its reseeds.
#[test]
fn a_reseed_is_as_fast_as_its_plan_says() {
    let deployment = deployment(2, 2, PlayedRules::default());
    let reseed = Happening::Reseed { database: 0, copy: 1, rate: Some(200_000_000) };
    let found = timeline(&deployment, &[occurrence(hour(1), None, reseed)], hour(9));
    assert_eq!(found[1].duties[0][1], Duty::Seeding { source: 0, rate: 200_000_000 });
    assert_eq!(found[2].from, hour(1) + Nanos::from_secs(1_000));
}

/// Worked out by hand (docs/deployments.md): four copies over two sites, with one server lost in
/// each. Three of five votes are left, and each survivor carries two active and two passive copies.
#[test]
fn four_copies_over_two_sites_survive_a_server_of_each() {
    let rules = PlayedRules { witness: Some(Witness::First), ..PlayedRules::default() };
    let deployment = deployment(4, 4, rules);
    let lost = |host| occurrence(hour(1), None, Happening::HostLost { host });
    let found = timeline(&deployment, &[lost(0), lost(2)], hour(2));
    // DB00 to EX01, DB02 to EX03; DB01 and DB03 stay: the first copy, or the second.
    assert_eq!(active(&found)[1], [Some(1), Some(0), Some(1), Some(0)]);
    let carried = |host: usize, wanted: Duty| {
        let databases = deployment.databases.iter().zip(&found[1].duties);
        let copies = databases.flat_map(|(of, duties)| of.copies.iter().zip(duties));
        copies.filter(|(copy, duty)| copy.host == host && **duty == wanted).count()
    };
    for survivor in [1, 3] {
        assert_eq!((carried(survivor, Duty::Active), carried(survivor, Duty::Replaying)), (2, 2));
    }
    assert_eq!((carried(0, Duty::Idle), carried(2, Duty::Idle)), (4, 4));
}
