//! The commands of `cargo xtask`, each with its usage.

use xtask::failure::Failure;
use xtask::usage;

use crate::steps::{self, PROVE, Step, TEST};
use crate::{check, dist, fleet, fuzz, guest, layers, licences, tidy, windows};

/// One command.
struct Verb {
    name: &'static str,
    /// Lines of the command in the list of all commands, which indents the first.
    usage: &'static str,
    /// Runs the command with the arguments after its name.
    run: fn(&[&str]) -> Result<(), Failure>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "check",
        usage: "\
check [REV]     after a change: format, tidy, layers, clippy, and the tests of all that the change
                  can reach. A change is what differs from REV; without REV, what is not committed,
                  or all since `main` if nothing is uncommitted
",
        run: |words| match words {
            [] => check::run(None),
            [revision] if !revision.starts_with('-') => check::run(Some(revision)),
            _ => refused("check", words),
        },
    },
    Verb {
        name: "test",
        usage: "\
test [STEP...]  before a push, and in CI: every check that takes minutes, with set-up, or only the
                  named steps; prints the slowest tests
",
        run: |words| perform("test", TEST, words),
    },
    Verb {
        name: "prove",
        usage: "\
prove [STEP...] before a release: every check that takes hours, or only the named steps
",
        run: |words| perform("prove", PROVE, words),
    },
    Verb {
        name: "tidy",
        usage: "\
tidy            the house rules: sizes, documentation, banned words, dead files
  tidy --tighten  the same, and lower the limits in xtask/figures.toml to what was found
  tidy --explain  the same, with the places behind the figures
",
        run: |words| match words {
            [] => tidy::run(tidy::Mode::Check),
            ["--explain"] => tidy::run(tidy::Mode::Explain),
            ["--tighten"] => tidy::run(tidy::Mode::Tighten),
            _ => refused("tidy", words),
        },
    },
    Verb {
        name: "layers",
        usage: "layers          every dependency edge against the table in xtask/src/layers.rs\n",
        run: |words| alone("layers", words, layers::run),
    },
    Verb { name: "bench", usage: usage::BENCH, run: |words| steps::bench(words) },
    Verb {
        name: "fidelity",
        usage: "\
fidelity        what published runs counted, next to what our load counts under their latencies
",
        run: |words| alone("fidelity", words, steps::fidelity),
    },
    Verb {
        name: "fuzz",
        usage: "fuzz [SECONDS]  every decoder of foreign bytes, for SECONDS each (default 10)\n",
        run: |words| match words {
            [] => fuzz::run(fuzz::SHORT_SECONDS),
            [seconds] => fuzz::run(number(seconds, "seconds")?),
            _ => refused("fuzz", words),
        },
    },
    Verb {
        name: "crash",
        usage: "\
crash --seeds N [--first S]      power failures in N random scripts, on every processor
  crash --seed S [--step K]        one script again, power failing at request K or at every one
  crash ... --log-segment 512|4096 logs in segments of that length; else it changes between lives
",
        run: steps::crash,
    },
    Verb {
        name: "cache-crash",
        usage: "\
cache-crash --seeds N [--first S]  power failures of a volume behind the flash cache
",
        run: steps::cache_crash,
    },
    Verb {
        name: "mirror",
        usage: "\
mirror --seeds N [--first S]     one volume on two hosts: partitions, power failures, pauses
",
        run: steps::mirror,
    },
    Verb {
        name: "damage",
        usage: "\
damage [--times N]               flipped bits, misdirected, lost and torn writes, N of each
                  (default 10000), and what `check` finds
",
        run: steps::damage,
    },
    Verb {
        name: "lies",
        usage: "\
lies [DIR [faults|healthy]]      the real program on storage that loses bytes or stops answering,
                  and on healthy storage under disturbances, with files in DIR (default:
                  target/lies; in memory, other work on the disk matters least); needs root
",
        run: |words| steps::lies(if words.is_empty() { &["target/lies"] } else { words }),
    },
    Verb {
        name: "kill",
        usage: "kill [--times N]                 the real program killed N times (default 100)\n",
        run: |words| match words {
            [] => steps::kill("100"),
            ["--times", times] => steps::kill(times),
            _ => refused("kill", words),
        },
    },
    Verb {
        name: "cache-kill",
        usage: "\
cache-kill [--times N]           a flash cache's server killed N times (default 200)
",
        run: |words| match words {
            [] => steps::cache_kill("200"),
            ["--times", times] => steps::cache_kill(times),
            _ => refused("cache-kill", words),
        },
    },
    Verb {
        name: "sweeps",
        usage: "\
sweeps [--designs N]             sweeps of N simulations (default 2000): killed five times and
                  resumed, and by three agents of which one is killed
",
        run: |words| match words {
            [] => steps::sweeps("2000"),
            ["--designs", designs] => steps::sweeps(designs),
            _ => refused("sweeps", words),
        },
    },
    Verb {
        name: "fleet",
        usage: "\
fleet [PROOF...] [--times N] [--in DIR]
                  a fleet in network namespaces: links cut, programs killed, disks failing, losses
                  on purpose, N times each (default 1), with files in DIR on a disk (default:
                  target/fleet); needs root
fleet mixed                      a fleet of an agent of this system and one under Wine
",
        run: fleet::run,
    },
    Verb {
        name: "mirror-kills",
        usage: "\
mirror-kills [--times N]         two hosts and their NATS server killed N times (default 200)
",
        run: |words| match words {
            [] => steps::mirror_kills("200"),
            ["--times", times] => steps::mirror_kills(times),
            _ => refused("mirror-kills", words),
        },
    },
    Verb {
        name: "mirror-network",
        usage: "\
mirror-network [--times N] [--first S]
                  two hosts in networks of their own: kills, partitions, pauses, slow links and
                  failing flash, drawn N times (default 200); needs root and FUSE; an hour
",
        run: |words| match words {
            [] => steps::mirror_network("200", "0"),
            ["--times", times] => steps::mirror_network(times, "0"),
            ["--first", first] => steps::mirror_network("1", first),
            ["--times", times, "--first", first] => steps::mirror_network(times, first),
            _ => refused("mirror-network", words),
        },
    },
    Verb {
        name: "mirror-speed",
        usage: "\
mirror-speed    a mirrored write beside a local durable write and a round trip, at most 1.3 times
                  both together; on an idle machine
",
        run: |words| alone("mirror-speed", words, steps::mirror_speed),
    },
    Verb {
        name: "soak",
        usage: "\
soak [--minutes N] [--iops N]    a load of N minutes (default 10), then every reader must agree;
                  at N I/Os a second, libesedb too follows every long value
",
        run: |words| match words {
            [] => steps::soak("10", None),
            ["--minutes", minutes] => steps::soak(minutes, None),
            ["--iops", iops] => steps::soak("10", Some(iops)),
            ["--minutes", minutes, "--iops", iops] => steps::soak(minutes, Some(iops)),
            _ => refused("soak", words),
        },
    },
    Verb {
        name: "windows",
        usage: "\
windows [--kills N]              the Windows build, made here and held under Wine to what this
                  one does, and killed N times (default 20); names missing packages
",
        run: |words| match words {
            [] => windows::whole("20"),
            ["--kills", kills] => windows::whole(kills),
            _ => refused("windows", words),
        },
    },
    Verb {
        name: "dist",
        usage: "\
dist [--try] [--site] [--output DIR] [--address URL]
                  packages for every system in target/dist, with checksums, licences and a bill of
                  materials; --try installs, runs and removes each in a scratch system (root,
                  Debian); --site writes the documentation as a site into target/site
  dist --binary PROGRAM [--static PROGRAM] [--arm PROGRAM] [--windows PROGRAM] ...
                  the same of existing programs, for tests of the packaging
",
        run: dist::run,
    },
    Verb {
        name: "caches",
        usage: "\
caches          disks with caches on, off and believed to be otherwise, in a machine of QEMU's;
                  a minute after the build; root on Debian installs what it needs
  caches --measured [N]            caches of known mode and size under a FUSE volume, N of each
                  kind (default 10), as `inspect --measure` sees them; FUSE; 5 min
",
        run: |words| match words {
            [] => guest::caches(),
            ["--measured"] => steps::measured_caches("10"),
            ["--measured", tries] => steps::measured_caches(tries),
            _ => refused("caches", words),
        },
    },
    Verb {
        name: "deny",
        usage: "deny            cargo-deny if it is installed, else the licence check alone\n",
        run: |words| alone("deny", words, licences::deny),
    },
];

/// The usage of the command at the start of `words`, or of all commands.
pub(crate) fn usage(words: &[&str]) -> String {
    let named = words.first().and_then(|name| VERBS.iter().find(|verb| verb.name == *name));
    let Some(verb) = named else {
        let verbs: Vec<&str> = VERBS.iter().map(|verb| verb.usage).collect();
        return usage::list(&verbs);
    };
    usage::list(&[verb.usage]) + &steps_of(verb.name)
}

/// The names of a command's steps, one per line, if it has steps.
fn steps_of(verb: &str) -> String {
    let steps = match verb {
        "test" => TEST,
        "prove" => PROVE,
        _ => return String::new(),
    };
    let line = |step: &Step| format!("  {:<15} {}", step.name, step.what);
    let lines: Vec<String> = steps.iter().map(line).collect();
    format!("\nSteps, in this order:\n{}\n", lines.join("\n"))
}

/// Runs the command at the start of `words`.
pub(crate) fn dispatch(words: &[&str]) -> Result<(), Failure> {
    let Some((name, rest)) = words.split_first() else {
        return Err(Failure::new(usage(&[])));
    };
    let verb = VERBS.iter().find(|verb| verb.name == *name);
    let verb = verb
        .ok_or_else(|| Failure::new(format!("no command is called `{name}`\n\n{}", usage(&[]))))?;
    (verb.run)(rest)
}

fn perform(verb: &str, list: &[Step], names: &[&str]) -> Result<(), Failure> {
    steps::perform(verb, &steps::chosen(verb, list, names)?)
}

/// Runs a command without arguments.
fn alone(verb: &str, words: &[&str], run: fn() -> Result<(), Failure>) -> Result<(), Failure> {
    if words.is_empty() { run() } else { refused(verb, words) }
}

fn refused(verb: &str, words: &[&str]) -> Result<(), Failure> {
    let words = words.join(" ");
    Err(Failure::new(format!("`{verb}` does not take `{words}`\n\n{}", usage(&[verb]))))
}

fn number(word: &str, unit: &str) -> Result<u32, Failure> {
    word.parse().map_err(|_| Failure::new(format!("`{word}` is no number of {unit}")))
}

#[cfg(test)]
mod tests {
    use super::{VERBS, dispatch, usage};

    #[test]
    fn every_command_answers_help_with_its_usage() {
        for verb in VERBS {
            let text = usage(&[verb.name, "--help"]);
            assert!(text.contains(&format!("  {}", verb.name)), "{text}");
            assert!(text.ends_with('\n') && verb.usage.ends_with('\n'), "{text}");
            assert!(usage(&["--help"]).contains(verb.usage), "{}", verb.name);
        }
    }

    #[test]
    fn help_of_lists_names_their_steps() {
        let test = usage(&["test", "-h"]);
        assert!(test.contains("\n  end-to-end      the real program"), "{test}");
        assert!(usage(&["prove"]).contains("\n  soak            ten minutes"), "{test}");
        assert!(!test.contains("soak"), "{test}");
    }

    #[test]
    fn words_that_no_command_takes_are_refused_with_the_usage() {
        let refusal = |words: &[&str]| dispatch(words).err().map(|failure| failure.to_string());
        let text = refusal(&["layers", "--fix"]).expect("layers takes no words");
        assert!(text.starts_with("`layers` does not take `--fix`\n"), "{text}");
        assert!(
            refusal(&["speed"]).expect("no command").starts_with("no command is called `speed`")
        );
        assert!(refusal(&["fuzz", "long"]).expect("a number").contains("`long` is no number"));
        assert!(refusal(&[]).is_some_and(|text| text.contains("cargo xtask <command>")));
    }
}
