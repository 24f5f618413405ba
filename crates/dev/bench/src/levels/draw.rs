//! Randomly drawn plans and arrays: databases from 16 MiB to 16 TiB, one array or one for each
//! folder.

use std::fmt;

use units::Prng;

const MEBIBYTE: u64 = 1 << 20;

/// Smallest size of a database, and how often it may double: up to 2^20 times as much.
const SMALLEST: u64 = 16 * MEBIBYTE;
const DOUBLINGS: u64 = 20;

/// The arrays that ship, and the time simulated on each. Flash serves a hundred times as many
/// requests per second as disks, so its means are equally exact after less time.
const ARRAYS: [(&str, &str); 10] = [
    ("shelf-15k", "300s"),
    ("shelf-10k", "300s"),
    ("shelf-sata", "300s"),
    ("disk-7200", "900s"),
    ("vnxe3300", "300s"),
    ("nvme", "10s"),
    ("shelf-nvme", "10s"),
    ("ssd-sata", "30s"),
    ("cloud-gp3", "60s"),
    ("cloud-premium-p30", "60s"),
];

/// One plan on one array.
pub(super) struct DrawnPlan {
    preset: &'static str,
    size_mib: u64,
    cache_mib: u64,
    databases: u64,
    folders: u64,
    threads: u64,
    array: (&'static str, &'static str),
    is_each_folder: bool,
}

impl DrawnPlan {
    /// Draws a plan. A cache is at most an eighth of its database, as level 2 requires, and at
    /// least a 128th.
    pub(super) fn draw(prng: &mut Prng) -> Self {
        let base_mib = (SMALLEST / MEBIBYTE) << prng.below(DOUBLINGS);
        let size_mib = base_mib + prng.below(base_mib + 1);
        let databases = 1 + prng.below(5);
        Self {
            preset: pick(prng, &["exchange2010", "exchange2013"]),
            size_mib,
            cache_mib: (size_mib >> (3 + prng.below(5))).clamp(4, 1 << 10),
            databases,
            folders: 1 + prng.below(databases),
            threads: pick(prng, &[1, 2, 3, 4, 6, 8]),
            array: pick(prng, &ARRAYS),
            is_each_folder: prng.below(2) == 1,
        }
    }

    /// The plan's text.
    pub(super) fn text(&self) -> String {
        let folders: Vec<String> =
            (0..self.folders).map(|number| format!("\"/folder{number}\"")).collect();
        format!(
            "preset = \"{}\"\n[databases]\nfolders = [{}]\ncount = {}\nsize = \"{}MiB\"\n[engine]\n\
             cache_minimum = \"4MiB\"\ncache_maximum = \"{}MiB\"\n",
            self.preset,
            folders.join(", "),
            self.databases,
            self.size_mib,
            self.cache_mib
        )
    }

    /// Options of `simulate`.
    pub(super) fn options(&self) -> Vec<String> {
        let threads = self.threads.to_string();
        let (array, duration) = self.array;
        let words = ["--array", array, "--threads", &threads, "--duration", duration];
        let each_folder = self.is_each_folder.then_some("--each-folder");
        words.into_iter().chain(each_folder).map(str::to_owned).collect()
    }
}

impl fmt::Display for DrawnPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { databases, folders, size_mib, cache_mib, threads, .. } = self;
        let folders =
            if self.is_each_folder { format!("{folders} arrays") } else { "1 array".to_owned() };
        write!(
            f,
            "{:<17} {folders:<8} {databases} x {size_mib:>8} MiB, cache {cache_mib:>4} MiB, \
             {threads} threads",
            self.array.0
        )
    }
}

fn pick<T: Copy>(prng: &mut Prng, all: &[T]) -> T {
    let index = usize::try_from(prng.below(all.len() as u64)).expect("invariant: below a length");
    all[index]
}
