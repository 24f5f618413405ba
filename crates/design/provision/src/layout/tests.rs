//! The two published layouts, reproduced exactly, and invariants of all others.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::failures::Load;
use super::{
    Copies, Domain, Failure, Layout, LayoutError, LayoutRequest, Mode, Quorum, Rules, Site,
    SiteModel, Witness, lay_out, play,
};

const MANAGED: Rules = Rules { activate_lagged: true, witness: Some(Witness::First) };

/// Three copies and a lagged one, two in each of two active sites, as in both published layouts.
fn two_active_sites(servers: usize, databases: usize) -> LayoutRequest {
    LayoutRequest {
        model: SiteModel::ActiveActive,
        sites: vec![Site::plain(servers, 2), Site::plain(servers, 2)],
        primary: copies(2, 0),
        secondary: copies(1, 1),
        databases,
        databases_per_volume: 4,
    }
}

fn single_site(servers: usize, available: usize, databases: usize) -> LayoutRequest {
    LayoutRequest {
        model: SiteModel::Single,
        sites: vec![Site::plain(servers, available)],
        primary: copies(available, 0),
        secondary: Copies::default(),
        databases,
        databases_per_volume: available,
    }
}

fn copies(available: usize, lagged: usize) -> Copies {
    Copies { available, lagged }
}

/// Servers counted from 1 in order of preference, in the notation of the published layouts.
fn rows(layout: &Layout) -> Vec<String> {
    let row = |copies: &Vec<super::Copy>| {
        let digits = copies.iter().map(|copy| (copy.server + 1).to_string());
        digits.collect()
    };
    layout.databases.iter().map(row).collect()
}

fn mode(modes: &[Mode], failure: Failure) -> &Mode {
    modes.iter().find(|mode| mode.failure == failure).unwrap()
}

fn active(modes: &[Mode], failure: Failure) -> (usize, usize) {
    mode(modes, failure).active().unwrap()
}

/// Example E1: the v7.6 workbook, 40 databases on 2 + 2 servers.
#[test]
fn the_layout_of_two_and_two_servers() {
    let layout = lay_out(&two_active_sites(2, 40)).unwrap();
    let period = ["1234", "2143", "3412", "4321"];
    for (database, row) in rows(&layout).iter().enumerate() {
        assert_eq!(row, period[database % 4], "database {}", database + 1);
    }
    assert!(layout.databases.iter().all(|copies| copies[3].lagged));
    for server in 0..4 {
        let consecutive: Vec<Vec<usize>> =
            (0..10).map(|at| (4 * at..4 * at + 4).collect()).collect();
        assert_eq!(layout.volumes(server), consecutive);
    }
}

/// Example E2: the v6.6 workbook, 72 databases on 4 + 4 servers; its exports have these rows.
#[test]
fn the_layout_of_four_and_four_servers() {
    let published = "1256 2367 3478 4185 5713 6824 7531 8642 1458 2165 3276 4387 \
                     5612 6723 7834 8541 1357 2468 3175 4286 5814 6521 7632 8743";
    let layout = lay_out(&two_active_sites(4, 72)).unwrap();
    let expected: Vec<&str> = published.split_whitespace().collect();
    for (database, row) in rows(&layout).iter().enumerate() {
        assert_eq!(row, expected[database % 24], "database {}", database + 1);
    }
    let volumes = "1,4,5,7 9,10,13,16 17,19,21,22 25,28,29,31 33,34,37,40 41,43,45,46 \
                   49,52,53,55 57,58,61,64 65,67,69,70";
    let of_first: Vec<String> = layout
        .volumes(0)
        .iter()
        .map(|volume| {
            let numbers = volume.iter().map(|database| (database + 1).to_string());
            numbers.collect::<Vec<_>>().join(",")
        })
        .collect();
    assert_eq!(of_first.join(" "), volumes.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// The failure counts of example E2, obtained by exhaustive counting on the published rows.
#[test]
fn the_failures_of_four_and_four_servers() {
    let modes = play(&lay_out(&two_active_sites(4, 72)).unwrap(), MANAGED);
    assert_eq!(active(&modes, Failure::Servers(0)), (9, 9));
    assert_eq!(active(&modes, Failure::Servers(1)), (9, 12));
    assert_eq!(active(&modes, Failure::Servers(2)).1, 15);
    assert_eq!(active(&modes, Failure::Servers(3)).1, 18);
    assert_eq!(active(&modes, Failure::Site), (18, 18));
    assert!(modes.iter().all(|mode| mode.lost == 0));
    let three = mode(&modes, Failure::Servers(3));
    assert_eq!((three.cases, three.not_active), (56, 0));
}

/// Example E1 again: the workbook's formulas agree with the simulation.
#[test]
fn the_failures_of_two_and_two_servers() {
    let modes = play(&lay_out(&two_active_sites(2, 40)).unwrap(), MANAGED);
    assert_eq!(active(&modes, Failure::Servers(0)), (10, 10));
    assert_eq!(active(&modes, Failure::Servers(1)), (10, 20));
    assert_eq!(active(&modes, Failure::Site), (20, 20));
    assert_eq!(active(&modes, Failure::SiteAndServer), (40, 40));
}

#[test]
fn without_the_manager_a_lagged_copy_stays_lagged() {
    let layout = lay_out(&two_active_sites(2, 40)).unwrap();
    let strict = play(&layout, Rules { activate_lagged: false, ..MANAGED });
    let two = mode(&strict, Failure::SiteAndServer);
    assert_eq!((two.not_active, two.replayed, two.lost), (10, 0, 0));
    let managed = play(&layout, MANAGED);
    let two = mode(&managed, Failure::SiteAndServer);
    assert_eq!((two.not_active, two.replayed, two.lost), (0, 10, 0));
    assert_eq!(mode(&managed, Failure::Servers(1)).replayed, 0);
}

/// Nine votes of 4 + 4 servers and a witness in the first site, counted by hand.
#[test]
fn which_failures_stop_a_group_of_two_sites() {
    let layout = lay_out(&two_active_sites(4, 72)).unwrap();
    let found = |witness| {
        let rules = Rules { witness: Some(witness), ..MANAGED };
        let modes = play(&layout, rules);
        let of = |failure| {
            let mode = mode(&modes, failure);
            (mode.cases, mode.stopped, mode.quorum)
        };
        [
            of(Failure::Servers(3)),
            of(Failure::WitnessAndServer),
            of(Failure::Link),
            of(Failure::Site),
            of(Failure::SiteAndServer),
        ]
    };
    let near = [
        (56, 0, Quorum::Kept),
        (8, 0, Quorum::Kept),
        (1, 0, Quorum::Kept),
        (2, 1, Quorum::Restorable),
        (8, 8, Quorum::Restorable),
    ];
    assert_eq!(found(Witness::First), near);
    assert_eq!(found(Witness::Second), near);
    // With the witness in a third site, each of the two survives the loss of the other.
    let far = [near[0], near[1], (2, 0, Quorum::Kept), (2, 0, Quorum::Kept), near[4]];
    assert_eq!(found(Witness::Third), far);
    let modes = play(&layout, MANAGED);
    assert_eq!(mode(&modes, Failure::Site).worst, [0, 1, 2, 3]);
    assert_eq!(mode(&modes, Failure::Link).worst, [4, 5, 6, 7]);
}

/// Two servers and a witness: any two of the three; without a group no quorum is needed.
#[test]
fn which_failures_stop_a_group_of_two_servers() {
    let layout = lay_out(&single_site(2, 2, 8)).unwrap();
    let modes = play(&layout, MANAGED);
    assert_eq!(mode(&modes, Failure::Servers(1)).quorum, Quorum::Kept);
    let both = mode(&modes, Failure::WitnessAndServer);
    assert_eq!((both.stopped, both.quorum), (2, Quorum::Restorable));
    let alone = Rules { witness: None, ..MANAGED };
    assert!(play(&layout, alone).iter().all(|mode| mode.stopped == 0));
    let five = play(&lay_out(&single_site(5, 3, 60)).unwrap(), MANAGED);
    assert_eq!(mode(&five, Failure::Servers(2)).stopped, 0);
    let three = mode(&five, Failure::Servers(3));
    assert_eq!((three.stopped, three.quorum), (10, Quorum::Lost));
    // Without a quorum nothing is mounted, though copies of 54 are left.
    assert_eq!((three.not_active, three.lost, three.active()), (60, 6, Some((0, 0))));
    assert_eq!(three.cost(7.0, 3.0), Some((0.0, 0.0)));
}

#[test]
fn costs_follow_the_loads() {
    let modes = play(&lay_out(&single_site(4, 3, 24)).unwrap(), MANAGED);
    // Example E8: 250 mailboxes per database, 4.25 and 1.37 megacycles, 6 active and 12 passive.
    let (least, most) = mode(&modes, Failure::Servers(0)).cost(250.0 * 4.25, 250.0 * 1.37).unwrap();
    assert!((most - 6375.0 - 4110.0).abs() < 1e-9 && (least - most).abs() < 1e-9);
    assert_eq!(active(&modes, Failure::Servers(1)), (8, 8));
    assert_eq!(active(&modes, Failure::Servers(2)).1, 12);
}

#[test]
fn what_cannot_be_laid_out_is_refused() {
    let refused = |wish: LayoutRequest| lay_out(&wish).unwrap_err();
    assert!(matches!(
        refused(single_site(2, 3, 8)),
        LayoutError::MoreCopiesThanServers { copies: 3, servers: 2, .. }
    ));
    assert_eq!(refused(single_site(40, 2, 8)), LayoutError::Servers { found: 40 });
    let mut wish = two_active_sites(4, 72);
    wish.sites[1] = Site::plain(3, 2);
    assert_eq!(refused(wish), LayoutError::Unlike);
    let mut wish = two_active_sites(4, 72);
    wish.sites.pop();
    assert_eq!(refused(wish), LayoutError::Sites { wanted: 2, found: 1 });
    let mut wish = single_site(4, 2, 8);
    wish.primary = copies(0, 2);
    assert_eq!(refused(wish), LayoutError::NothingActive);
    let mut wish = single_site(4, 2, 8);
    wish.primary = copies(3, 0);
    assert!(refused(wish).to_string().contains("make them equal"));
}

/// Two racks with a copy each: without the drift one server would take over all of another's.
#[test]
fn racks_with_one_copy_each_share_the_failover() {
    let rack = Domain { servers: 4, copies: 1, only_lagged: false };
    let mut wish = single_site(8, 2, 32);
    wish.sites[0].domains = vec![rack, rack];
    let modes = play(&lay_out(&wish).unwrap(), MANAGED);
    assert_eq!(active(&modes, Failure::Servers(1)), (4, 5));
    assert_eq!(active(&modes, Failure::Domain), (8, 8));
}

/// Lagged copies may have separate servers; these hold nothing else.
#[test]
fn servers_kept_for_lagged_copies_hold_only_those() {
    let kept = Domain { servers: 2, copies: 1, only_lagged: true };
    let mut wish = single_site(4, 3, 24);
    wish.sites[0].domains.push(kept);
    wish.primary = copies(3, 1);
    let layout = lay_out(&wish).unwrap();
    for copies in &layout.databases {
        let lagged: Vec<bool> = copies.iter().map(|copy| copy.lagged).collect();
        assert_eq!(lagged, [false, false, false, true]);
        assert!(copies.iter().all(|copy| copy.lagged == (copy.server >= 4)));
    }
}

/// Every shape of the acceptance list: 2 to 8 servers and 2 to 4 copies, as one site, as two racks,
/// and as two sites of either model.
fn shapes() -> impl Strategy<Value = LayoutRequest> {
    let lagged = |most: usize| 0..=usize::from(most > 2);
    let sizes = (2_usize..=8, 2_usize..=4)
        .prop_filter("one copy per server", |(servers, copies)| copies <= servers)
        .prop_flat_map(move |(servers, copies)| (Just(servers), Just(copies), lagged(copies)));
    (sizes, 0..4_u8, 1_usize..=12)
        .prop_map(|((servers, count, lagged), kind, cycles)| {
            let all = copies(count - lagged, lagged);
            let plain = Site::plain(servers, count);
            let rack = Domain { servers, copies: count, only_lagged: false };
            let wish = |model, sites, primary, secondary, cycle: usize| LayoutRequest {
                model,
                sites,
                primary,
                secondary,
                databases: cycles * cycle * servers,
                databases_per_volume: count,
            };
            match kind {
                0 => wish(SiteModel::Single, vec![plain], all, Copies::default(), 1),
                1 => {
                    let both = copies(2 * count - lagged, lagged);
                    let racks = Site { domains: vec![rack, rack] };
                    wish(SiteModel::Single, vec![racks], both, Copies::default(), 2)
                }
                2 => {
                    let sites = vec![plain.clone(), plain];
                    wish(SiteModel::ActivePassive, sites, copies(count, 0), all, 1)
                }
                _ => {
                    let sites = vec![plain.clone(), plain];
                    wish(SiteModel::ActiveActive, sites, copies(count, 0), all, 2)
                }
            }
        })
        .prop_filter("a group has 16 members", |wish| {
            wish.sites.iter().map(Site::servers).sum::<usize>() <= 16
        })
}

/// How many databases `server` holds at each preference.
fn by_preference(layout: &Layout, server: usize) -> Vec<usize> {
    let mut counts = vec![0; layout.databases[0].len()];
    for (_, preference) in layout.held_by(server) {
        counts[preference - 1] += 1;
    }
    counts
}

proptest! {
    #[test]
    fn each_server_holds_as_much_as_its_neighbours(wish in shapes()) {
        let layout = lay_out(&wish).unwrap();
        for copies in &layout.databases {
            let distinct: BTreeSet<usize> = copies.iter().map(|copy| copy.server).collect();
            prop_assert_eq!(distinct.len(), copies.len(), "one copy per server");
        }
        for server in 1..layout.servers.len() {
            let (here, before) = (layout.servers[server], layout.servers[server - 1]);
            let both_active = wish.model != SiteModel::ActivePassive;
            if here.site == before.site || both_active {
                prop_assert_eq!(by_preference(&layout, server), by_preference(&layout, server - 1));
            }
        }
    }

    /// At most one active copy per disk in normal operation, and one of every other preference.
    #[test]
    fn each_volume_holds_one_copy_of_each_preference(wish in shapes()) {
        prop_assume!(wish.model != SiteModel::ActivePassive);
        let mut wish = wish;
        wish.databases_per_volume = wish.sites.iter().map(Site::copies).sum();
        let layout = lay_out(&wish).unwrap();
        for server in 0..layout.servers.len() {
            let preferences: Vec<usize> = layout.held_by(server).map(|(_, at)| at).collect();
            for volume in preferences.chunks(wish.databases_per_volume) {
                let distinct: BTreeSet<&usize> = volume.iter().collect();
                prop_assert_eq!(distinct.len(), volume.len());
            }
        }
    }

    /// Over a whole period the databases of a failed server are spread evenly over its site.
    #[test]
    fn after_one_failure_the_others_share_alike(
        servers in 2_usize..=8,
        count in 2_usize..=4,
        two: bool,
    ) {
        prop_assume!(count <= servers);
        let rounds: usize = (servers + 1 - count..servers).product();
        let mut wish = single_site(servers, count, 2 * servers * rounds);
        if two {
            prop_assume!(servers * 2 <= 16);
            wish.model = SiteModel::ActiveActive;
            wish.sites = vec![Site::plain(servers, count), Site::plain(servers, count)];
            wish.secondary = wish.primary;
        }
        let modes = play(&lay_out(&wish).unwrap(), MANAGED);
        let (normal, _) = active(&modes, Failure::Servers(0));
        let (least, most) = active(&modes, Failure::Servers(1));
        prop_assert_eq!(most * (servers - 1), normal * servers);
        prop_assert_eq!(least, if two { normal } else { most });
    }

    /// Every ordered choice of servers is used once before any repeats.
    #[test]
    fn a_period_repeats_nothing(servers in 2_usize..=8, count in 2_usize..=4) {
        prop_assume!(count <= servers);
        let period: usize = (servers + 1 - count..=servers).product();
        let layout = lay_out(&single_site(servers, count, period)).unwrap();
        let distinct: BTreeSet<String> = rows(&layout).into_iter().collect();
        prop_assert_eq!(distinct.len(), period);
    }

    /// The table against an independent count: any failed servers, one at a time.
    #[test]
    fn no_survivor_carries_more_than_the_table_claims(
        wish in shapes(),
        failed in proptest::collection::btree_set(0_usize..16, 0..=3),
        activate_lagged: bool,
    ) {
        let layout = lay_out(&wish).unwrap();
        let failed: BTreeSet<usize> = failed.iter().map(|at| at % layout.servers.len()).collect();
        prop_assume!(failed.len() < layout.servers.len());
        let modes = play(&layout, Rules { activate_lagged, witness: None });
        let claimed = mode(&modes, Failure::Servers(failed.len()));
        let idle = |server: &super::Server| Load {
            active: 0,
            passive: 0,
            site: server.site,
            only_lagged: server.only_lagged,
        };
        let mut counted: Vec<Load> = layout.servers.iter().map(idle).collect();
        let mut not_active = 0;
        for copies in &layout.databases {
            let mut chosen = None;
            for copy in copies {
                if failed.contains(&copy.server) { continue; }
                if chosen.is_none() && (activate_lagged || !copy.lagged) {
                    chosen = Some(copy.server);
                    counted[copy.server].active += 1;
                } else {
                    counted[copy.server].passive += 1;
                }
            }
            not_active += usize::from(chosen.is_none());
        }
        prop_assert!(not_active <= claimed.not_active);
        for (server, load) in counted.iter().enumerate() {
            prop_assert!(failed.contains(&server) || claimed.loads.contains(load));
        }
    }
}
