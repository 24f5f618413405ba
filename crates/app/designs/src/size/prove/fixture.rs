//! A deployment for tests: an array and a database for each host, a second copy on the next host.

use rehearsal::{PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules};
use simdisk::ArrayDescription;
use simdisk::operations::OperationPlace;

const DISK: &str = include_str!("../../../../../../arrays/disk-7200.toml");

/// `hosts` hosts, the second half of them in the second site.
pub(crate) fn deployment(hosts: usize) -> PlayedDeployment {
    let array = ArrayDescription::parse("disk", DISK, &[]).expect("an array that ships");
    let copy = |host: usize, at: u64| {
        let place = OperationPlace { array: host, base: at << 40, bytes: 1 << 30 };
        PlayedCopy { host, place, log: place, is_lagged: false }
    };
    PlayedDeployment {
        hosts: (0..hosts)
            .map(|number| PlayedHost {
                name: format!("EX{number:02}"),
                site: usize::from(number >= hosts.div_ceil(2)),
                group: 0,
            })
            .collect(),
        arrays: vec![array; hosts],
        databases: (0..hosts)
            .map(|number| PlayedDatabase {
                name: format!("DB{number:02}"),
                profile: 0,
                iops: Some(20.0),
                sessions: 1,
                copies: vec![copy(number, 0), copy((number + 1) % hosts, 1)],
            })
            .collect(),
        profiles: Vec::new(),
        rules: PlayedRules::default(),
    }
}
