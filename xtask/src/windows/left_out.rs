//! End-to-end tests that are not run on the Windows build, with the reasons; all other tests are.

const FAULTS: &str =
    "storage that stands still or lies; not tried with the cache that Wine puts before it";
const MOUNTS: &str = "mounts file systems of Linux";
const VERDICT: &str = "waits for a pass, which no storage gets under Wine: a cache lies between";
const LINUX: &str = "what Linux tells of its disks is no finding on Windows";
const LOCKS: &str = "the test holds a lock of Linux; Windows locks by share mode";
const LINKS: &str = "links of Linux, which Wine shows as what they lead to";

/// Beginnings of the names of groups, or of tests in a group, each with the reason.
const LEFT_OUT: [(&str, &str); 40] = [
    ("allowance::", "limits of descriptors and memory that a shell of Linux sets"),
    ("bad_input::a_file_system_in_memory_is_refused", "Wine refuses no unbuffered request"),
    ("bad_input::a_folder_without_permission_is_named", "Wine starts for one user alone"),
    ("builds::the_way_between_builds_and_a_newer_table", "reads /dev/zero"),
    ("caches::", MOUNTS),
    ("check::where_unbuffered_reads_are_refused_the_cache_serves_and_is_named", MOUNTS),
    ("examples::", "scripts that make volumes of Linux"),
    ("exports::", "sockets of Unix lie between program and server"),
    ("full::", MOUNTS),
    ("inspected::a_mount_that_keeps_flushes_from_the_disk_is_found", MOUNTS),
    ("inspected::a_saved_output_is_judged_with_the_command_that_mends_it", LINUX),
    ("inspected::a_tool_that_", "tools of controllers are scripts of a shell here"),
    ("inspected::an_installed_tool_", "tools of controllers are scripts of a shell here"),
    ("layout::", MOUNTS),
    ("lies::", FAULTS),
    ("luns::", "targets are made with tgtadm, a program of Linux"),
    ("odd_files::a_pipe_is_refused_and_not_waited_for", "a pipe with a name in a folder"),
    ("others::", "starts other programs of Linux, which Wine does not list"),
    ("raw::", "no system but Linux has raw devices as targets"),
    ("readings::a_backup_", VERDICT),
    ("readings::a_checksum_test_", VERDICT),
    ("readings::a_copy_takes_the_place_of_nothing_but_an_earlier_one", VERDICT),
    ("readings::a_person_may_stop_a_test_that_reads_and_it_passes_nothing", VERDICT),
    ("readings::a_read_that_is_never_answered_", FAULTS),
    ("readings::a_slow_volume_of_copies_", FAULTS),
    ("recover::a_file_", LOCKS),
    ("replays::logs_are_replayed_into_the_databases_or_into_copies_of_them", VERDICT),
    ("scan::", "namespaces and packets of Linux"),
    ("schema::every_table_goes_to_a_file_of_its_own", LINKS),
    ("selftest::a_folder_that_is_not_there_is_refused", "asks for words of Linux"),
    ("serve::nothing_outside_the_folder_is_read_or_started", LINKS),
    ("sets::all_tests_are_made_and_reported_as_one", VERDICT),
    ("signals::a_run_under_nohup_outlives_its_terminal", "Windows has no hang-up"),
    ("signals::the_first_signal_", "Windows has neither hang-up nor TERM"),
    ("slow_log::", FAULTS),
    ("stalls::", FAULTS),
    ("threads::", "control groups of Linux"),
    ("verbs::a_prepared_database_can_be_looked_into", LINUX),
    ("verbs::a_reader_that_goes_away_is_no_error", "Wine has a number of its own for that"),
    ("watch::a_command_is_run_at_the_end_", "a command for a shell of Linux"),
];

/// Arguments that make the test program skip these tests.
pub(super) fn words() -> String {
    LEFT_OUT.map(|(name, _)| [" --skip ", name].concat()).concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use xtask::shell;

    use super::{LEFT_OUT, words};

    #[test]
    fn what_is_left_out_is_there() {
        let folder = shell::root().join("crates/app/plimsoll/tests/end_to_end");
        for (name, _) in LEFT_OUT {
            let (group, test) = name.rsplit_once("::").unwrap();
            let file = folder.join(format!("{}.rs", group.replace("::", "/")));
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains(&format!("\nfn {test}")), "{name}");
        }
        let names: BTreeSet<_> = LEFT_OUT.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), LEFT_OUT.len());
        assert!(words().starts_with(" --skip allowance:: --skip "));
    }
}
