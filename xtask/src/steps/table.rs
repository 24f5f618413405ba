//! The lists of checks. Decision 069 gives the reason for the place of each.

use xtask::failure::Failure;
use xtask::shell;

use crate::steps::{Step, documentation, format, lint, proofs};
use crate::suite::{self, Program, left_to_prove};
use crate::{
    cache_policy, fleet, fuzz, guest, layers, licences, nbd_tester, peers, python, tidy, windows,
};

/// The checks of `cargo xtask test` and CI, which take minutes and one build of everything.
pub(crate) const TEST: &[Step] = &[
    Step { name: "format", what: "cargo fmt", run: &format },
    Step { name: "tidy", what: "the house rules", run: &|| tidy::run(tidy::Mode::Check) },
    Step { name: "layers", what: "who may depend on whom", run: &layers::run },
    Step { name: "licences", what: "licences of every dependency", run: &licences::run },
    Step { name: "lint", what: "clippy, pedantic, warnings denied", run: &lint },
    Step { name: "documentation", what: "rustdoc, warnings denied", run: &documentation },
    Step { name: "build", what: "all tests and the program that they drive", run: &build },
    Step { name: "peers", what: "independent readers of the file format", run: &peers::install },
    Step { name: "unit", what: "unit, property and golden tests", run: &unit },
    Step { name: "end-to-end", what: "the real program in scratch folders", run: &end_to_end },
];

/// Steps that inherently take long; run before a release.
pub(crate) const PROVE: &[Step] = &[
    Step {
        name: "release",
        what: "the end-to-end tests with the optimised program",
        run: &|| proofs::release_tests(),
    },
    Step {
        name: "doctests",
        what: "examples in the documentation",
        run: &|| shell::run(&["cargo", "test", "-q", "--workspace", "--doc"]),
    },
    Step {
        name: "fuzz",
        what: "decoders against generated input, guided by coverage",
        run: &|| fuzz::run(fuzz::LONG_SECONDS),
    },
    Step {
        name: "crash",
        what: "power failures in 20,000 random scripts",
        run: &|| proofs::crash(&["--seeds", "20000"]),
    },
    Step {
        name: "cache-crash",
        what: "power failures of volumes behind the flash cache, 20,000 scripts",
        run: &|| proofs::cache_crash(&["--seeds", "20000"]),
    },
    Step {
        name: "mirror",
        what: "one volume on two hosts under faults, 10,000 histories",
        run: &|| proofs::mirror(&["--seeds", "10000"]),
    },
    Step {
        name: "damage",
        what: "flipped bits, misdirected, lost and torn writes",
        run: &|| proofs::damage(&[]),
    },
    Step {
        name: "mutants",
        what: "10,000 changed outputs and captures, none of which may pass",
        run: &|| proofs::mutants("10000"),
    },
    Step {
        name: "exhaustive",
        what: "bits of every kind of page, 10,000 drawn designs, both kinds of flash calibrated",
        run: &|| proofs::exhaustive("10000"),
    },
    Step {
        name: "python",
        what: "the Python package beside an independent reader",
        run: &python::run,
    },
    Step {
        name: "crates",
        what: "the reader's crates packed, and built from the packages alone",
        run: &proofs::reader_crates,
    },
    Step {
        name: "log-mutants",
        what: "10,000 damaged logs of the real engine, replayed, and 400 given to the program",
        run: &|| proofs::log_mutants("10000"),
    },
    Step { name: "fidelity", what: "published runs beside ours", run: &proofs::fidelity },
    Step { name: "kill", what: "the real program killed 100 times", run: &|| proofs::kill("100") },
    Step {
        name: "cache-kill",
        what: "the server of a flash cache killed 200 times under load",
        run: &|| proofs::cache_kill("200"),
    },
    Step {
        name: "examples",
        what: "the nine worked examples of the sizing, every claim of them played",
        run: &proofs::examples,
    },
    Step {
        name: "sweeps",
        what: "2,000 designs killed five times, and by three agents of which one is lost",
        run: &|| proofs::sweeps("2000"),
    },
    Step {
        name: "fleet",
        what: "a fleet in network namespaces, 20 times; root, nats-server",
        run: &|| fleet::run(&["--times", "20"]),
    },
    Step {
        name: "mirror-kills",
        what: "two hosts and their NATS server killed 200 times under load",
        run: &|| proofs::mirror_kills("200"),
    },
    Step {
        name: "mirror-network",
        what: "two hosts in networks of their own under 200 drawn sets of faults; root, FUSE",
        run: &|| proofs::mirror_network("200", "0"),
    },
    Step {
        name: "mirror-instants",
        what: "ext4 and a database on the device behind two hosts, at 200 instants; root, FUSE",
        run: &|| proofs::mirror_instants("200"),
    },
    Step {
        name: "soak",
        what: "ten minutes of load, then every reader must agree",
        run: &|| proofs::soak("10", None),
    },
    Step {
        name: "lies",
        what: "storage that loses bytes or stops answering; root, FUSE",
        run: &|| proofs::lies(&["target/lies"]),
    },
    Step {
        name: "cache-tester",
        what: "the integrity test of NBD's reference implementation on a served cache",
        run: &nbd_tester::run,
    },
    Step {
        name: "cache-policy",
        what: "the flash cache's policy beside libCacheSim",
        run: &cache_policy::run,
    },
    Step { name: "caches", what: "disks in QEMU, caches on and off", run: &guest::caches },
    Step {
        name: "cache-guest",
        what: "ext4 in QEMU on a served cache, the server killed 12 times, the guest once",
        run: &guest::cached,
    },
    Step {
        name: "vhost-guest",
        what: "the same over vhost-user",
        run: &guest::cached_in_shared_memory,
    },
    Step {
        name: "vhost-speed",
        what: "a guest's reads over vhost-user beside those over NBD",
        run: &guest::compared,
    },
    Step {
        name: "mirror-guest",
        what: "a guest under fio's verification moved 20 times with its volume",
        run: &guest::moved,
    },
    Step {
        name: "iscsi-guest",
        what: "a guest's kernel attaches a served cache by iSCSI, with and without CHAP",
        run: &guest::attached,
    },
    Step {
        name: "measured",
        what: "caches of known size under FUSE, ten of each kind",
        run: &|| proofs::measured_caches("10"),
    },
    Step {
        name: "iscsi",
        what: "libiscsi's suite on the target, a served cache and tgt, failing tests by name",
        run: &proofs::iscsi,
    },
    Step {
        name: "windows",
        what: "the Windows build under Wine: unit tests, end-to-end tests, 20 kills",
        run: &|| windows::whole("20"),
    },
];

fn build() -> Result<(), Failure> {
    suite::build(&["--workspace"]).map(drop)
}

/// Third-party programs that inspect the web server, and their Debian packages.
const ONLOOKERS: [windows::Tool; 2] =
    [("/usr/bin/chromium", "chromium"), ("/usr/bin/prometheus", "prometheus")];

/// Third-party programs that offer storage over a network, and the tools that judge it there.
const SERVERS: [windows::Tool; 5] = [
    ("/usr/sbin/tgtd", "tgt"),
    ("/usr/bin/iscsi-inq", "libiscsi-bin"),
    ("/usr/bin/nbdkit", "nbdkit"),
    ("/usr/bin/qemu-nbd", "qemu-utils"),
    ("/usr/sbin/nats-server", "nats-server"),
];

/// Runs unit tests and the tests of libraries, with the servers that clients are tested against.
fn unit() -> Result<(), Failure> {
    peers::install()?;
    install("tests of storage over a network", &SERVERS);
    run_tests(|program| !program.waits())
}

/// Runs tests of the real program, with storage servers and with programs that inspect its pages
/// and metrics.
fn end_to_end() -> Result<(), Failure> {
    peers::install()?;
    install("tests of storage over a network", &SERVERS);
    install("tests of pages and metrics", &ONLOOKERS);
    println!("{}", left_to_prove::sentence());
    run_tests(Program::waits)
}

fn run_tests(is_due: fn(&Program) -> bool) -> Result<(), Failure> {
    let programs = suite::build(&["--workspace"])?;
    suite::run(programs.into_iter().filter(is_due).collect(), &peers::variables())
}

/// Installs missing tools if possible; tests that lack one report what they skip.
pub(super) fn install(purpose: &str, tools: &[windows::Tool]) {
    let lacking = windows::install(purpose, tools);
    if !lacking.is_empty() {
        println!(
            "SKIPPED: tests that need {}, which cannot be installed here; on Debian, as root: \
             apt-get update && apt-get install {}",
            lacking.join(" and "),
            lacking.join(" ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{PROVE, TEST};

    /// Checks of `cargo xtask test` before it was divided (decision 069).
    const BEFORE: [&str; 12] = [
        "format",
        "tidy",
        "layers",
        "licences",
        "lint",
        "peers",
        "unit",
        "build",
        "end-to-end",
        "windows",
        "fuzz",
        "documentation",
    ];

    #[test]
    fn nothing_that_was_proved_is_lost_or_proved_twice() {
        let steps: Vec<&str> = TEST.iter().chain(PROVE).map(|step| step.name).collect();
        for name in BEFORE {
            assert_eq!(steps.iter().filter(|step| **step == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn names_of_steps_are_unique() {
        let mut names: Vec<&str> = TEST.iter().chain(PROVE).map(|step| step.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    /// Keeps `test` short: each of these steps takes long or builds the workspace once more.
    #[test]
    fn what_is_long_by_nature_is_in_prove() {
        for name in ["windows", "fuzz", "soak", "kill", "crash", "damage", "lies", "caches"] {
            assert!(PROVE.iter().any(|step| step.name == name), "{name}");
        }
    }
}
