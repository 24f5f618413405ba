//! Volumes of a standalone server with backup sets, by formulas written a second time.

use plan::Deployment;
use sizing::{Calculation, Key, ServerKind, calculate};

/// Backup sets by the number of databases on a server: an entry applies from its first value on.
#[rustfmt::skip]
const SETS: [(u32, u32); 31] = [
    (1, 1), (8, 2), (9, 3), (10, 2), (11, 3), (14, 2), (15, 3), (16, 4), (18, 3), (20, 4),
    (21, 3), (22, 4), (25, 5), (26, 4), (29, 5), (36, 6), (45, 9), (48, 8), (49, 7), (50, 10),
    (56, 8), (60, 10), (63, 9), (66, 11), (70, 10), (72, 12), (75, 15), (77, 11), (84, 12),
    (91, 13), (98, 14),
];

/// Inputs of a drawn design.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    databases: u32,
    overhead: u32,
    free: u32,
    has_restore: bool,
}

impl Drawn {
    /// Draws case number `case`; database counts from 1 to 100 take turns.
    fn new(case: u32) -> Self {
        let mixed = case.wrapping_mul(2_654_435_761);
        Self {
            databases: 1 + case % 100,
            overhead: (mixed >> 8) % 31,
            free: (mixed >> 16) % 40,
            has_restore: (mixed >> 24).is_multiple_of(2),
        }
    }

    fn text(self) -> String {
        format!(
            "mode = \"compatible\"\n[[tier]]\nmailboxes = 1000\nmessages_per_day = 100\n\
             size_limit = \"1GiB\"\n[availability]\nservers_per_site = 1\ncopies = 1\n[data]\n\
             databases = {}\noverhead_percent = {}\nvolume_free_space_percent = {}\n\
             restore_volume = {}\n[backup]\nmethod = \"software snapshots\"\n\
             frequency = \"weekly full, daily incremental\"\n",
            self.databases, self.overhead, self.free, self.has_restore
        )
    }
}

fn number(sized: &Calculation<'_>, key: Key) -> f64 {
    sized.sheet().number(key).unwrap_or_else(|| panic!("no {}", key.name()))
}

/// Number of database volumes, their total GB, and number of all volumes of the server.
fn again(drawn: Drawn, copies: f64, database: f64) -> [f64; 3] {
    let row = SETS.iter().rev().find(|(from, _)| f64::from(*from) <= copies);
    let sets = row.map_or(1.0, |&(_, sets)| f64::from(sets));
    let each = (copies / sets).round();
    let volumes = (copies / each).ceil();
    let average = copies / volumes;
    let restore = if drawn.has_restore { 0.0 } else { 1.1 * database * average / each };
    let one = average * database + restore + 0.2 * (average * database + database);
    let all = volumes * one / (1.0 - f64::from(drawn.free) / 100.0);
    [sets, all, 2.0 * volumes + f64::from(u8::from(drawn.has_restore))]
}

#[test]
fn backup_sets_take_as_many_volumes_as_the_rounded_databases_need() {
    let mut several = 0;
    for drawn in (0..500).map(Drawn::new) {
        let deployment = Deployment::parse("d.toml", &drawn.text()).expect("a deployment");
        let sized = calculate(&deployment);
        let copies = number(&sized, Key::ServerDbCopies(ServerKind::First));
        let database = number(&sized, Key::DatabaseSizeWithOverheadGb);
        several += u32::from(number(&sized, Key::VolumeDbsPerVolume) > 1.0);
        let keys = [
            Key::VolumeDbVolumes(ServerKind::First),
            Key::VolumeDbVolumesGbPerServer(ServerKind::First),
            Key::VolumeTotalPerServer,
        ];
        for (key, expected) in keys.into_iter().zip(again(drawn, copies, database)) {
            let given = number(&sized, key);
            let name = key.name();
            assert!((given / expected - 1.0).abs() < 1e-6, "{name} {given} {expected} {drawn:?}");
        }
    }
    assert!(several > 400, "only {several} designs had several databases on a volume");
}
