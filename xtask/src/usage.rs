//! Help texts shared by two programs: `cargo xtask bench --help` must answer without building the
//! bench.

/// The help on commands; each entry is the lines of one command.
pub fn list(commands: &[&str]) -> String {
    format!("cargo xtask <command>\n\n  {}", commands.join("  "))
}

/// The usage of `cargo xtask bench`.
pub const BENCH: &str = "\
bench NAME [DIR]  speed against a peer, or counts against limits, with files in DIR
                  (default: target/bench); NAME is one of:
    device, check, prepare, checksum, engine, recovery, iscsi
                                                  speed against a peer
    batch                                         counts against limits
    cache                                         hits and misses of a served flash cache beside
                                                  nbdkit, and a restart of 400 GB
    cached-runs                                   runs behind a flash cache beside predictions
    vhost-user                                    hits of a served flash cache in a guest's memory
                                                  beside NBD
    deployments                                   a simulated day of 4, 8 and 16 hosts
    cost                                          processor time a request, at most twice fio's
    fidelity                                      published figures next to ours
    published                                     published runs next to predictions
    levels                                        both levels of a simulation
    simulate                                      events per second, times against limits
    sizing [--draws N | --draw SEED]              the formulas written a second time, on drawn
                                                  deployments (default 10000)
    replay                                        1 GiB of the real engine's logs beside a
                                                  sequential read of them, and memory
    report, served                                times and sizes against limits
    watched                                       a run with its live page open, and without
    publishing                                    a run with an agent that publishes it, and without
    fleet-day                                     the report of 16 hosts of a day against limits
";
