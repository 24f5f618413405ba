//! Plans as a user writes them: the embedded ones, every diagnostic, and the way back to text.

use plan::{Limits, Overrides, Plan, PlanError, Sessions, TestKind, VolumeSize, write_duration};
use proptest::prelude::*;
use units::{Bytes, Nanos, Seed};

const SHORT: &str = "[databases]\nfolders = [\"/a\", \"/b\"]\nsize = \"1GiB\"\n";

/// Cases `=== name`, the plan, `---`, the complaints. A changed diagnostic is a changed file.
const DIAGNOSTICS: &str = include_str!("diagnostics.txt");

#[test]
fn three_lines_make_a_plan() {
    let plan = Plan::parse("plan.toml", SHORT).unwrap();
    assert_eq!(plan.databases.len(), 2);
    assert_eq!(plan.databases[1].folder, "/b");
    assert_eq!(plan.databases[1].log_folder, "/b");
    assert_eq!(plan.databases[1].file, "Plimsoll002.edb");
    assert_eq!(plan.databases[1].log_base, "E01");
    assert_eq!(plan.seed, Seed(1));
    assert_eq!(plan.cache.minimum, Bytes::from_mib(32));
    assert_eq!(plan.cache.maximum, Bytes::from_mib(256));
    assert_eq!(plan.workload.mix.read, 35);
    assert_eq!(plan.test.duration, Nanos::from_secs(7200));
    assert_eq!(plan.test.maintenance_throttle, Some(Nanos::from_millis(100)));
    assert_eq!(plan.limits, Limits::STRICT);
}

#[test]
fn each_load_may_have_its_own_length() {
    let text = format!("{SHORT}[test]\nduration = \"40s\"\nstress_duration = \"3h\"\n");
    let length = |test: Option<&str>, duration: Option<Nanos>| {
        let test = test.map(str::to_owned);
        let overrides = Overrides { test, duration, ..Overrides::default() };
        let plan = Plan::parse_with("plan.toml", &text, &overrides).unwrap();
        assert_eq!(Plan::parse("again", &plan.to_toml()).unwrap().test, plan.test);
        plan.test.duration
    };
    let [short, long] = [40, 3 * 3600].map(Nanos::from_secs);
    assert_eq!((length(None, None), length(Some("stress"), None)), (short, long));
    assert_eq!(length(Some("stress"), Some(short)), short, "the command line comes first");
}

#[test]
fn the_length_of_one_kind_of_load_is_not_that_of_another() {
    let length = |test: &str, own: &str, given: Option<u64>| {
        let text = format!("{SHORT}[test]\ntype = \"{own}\"\nduration = \"2h\"\n");
        let duration = given.map(|hours| Nanos::from_secs(hours * 3600));
        let test = Some(test.to_owned());
        let overrides = Overrides { test, duration, ..Overrides::default() };
        let plan = Plan::parse_with("plan.toml", &text, &overrides).unwrap();
        write_duration(plan.test.duration)
    };
    assert_eq!(length("stress", "performance", None), "24h", "as in a set of tests");
    assert_eq!(length("stress", "stress", None), "2h");
    assert_eq!(length("performance", "stress", None), "2h", "the usual length of it");
    assert_eq!(length("stress", "performance", Some(3)), "3h", "the command line comes first");
}

#[test]
fn the_example_is_the_commented_plan() {
    assert_eq!(Plan::example(), include_str!("example.toml"));
}

#[test]
fn the_example_spells_out_the_defaults() {
    let example = Plan::parse("example", &Plan::example()).unwrap();
    let folders = "[databases]\nfolders = [\"/mnt/disk1\", \"/mnt/disk2\"]\nsize = \"10GiB\"\n";
    let mut defaults = Plan::parse("defaults", folders).unwrap();
    defaults.name = example.name.clone();
    assert_eq!(example, defaults);
}

#[test]
fn quick_puts_two_databases_into_any_folder() {
    for folder in ["/tmp/a b", "C:\\disk\\\"1\"", "tab\there"] {
        let plan = Plan::quick(folder, &Overrides::default()).unwrap();
        assert_eq!(plan.databases.len(), 2);
        assert!(plan.databases.iter().all(|database| database.folder == folder));
        assert_ne!(plan.databases[0].log_base, plan.databases[1].log_base);
        assert_eq!(plan.test.duration, Nanos::from_secs(45));
    }
}

#[test]
fn databases_are_dealt_out_in_turn() {
    let text = "[databases]\nfolders = [\"/a\", \"/b\"]\nlog_folders = [\"/l\"]\ncount = 3\n\
                size = \"1GiB\"\n";
    let plan = Plan::parse("plan.toml", text).unwrap();
    let folders: Vec<_> = plan.databases.iter().map(|d| d.folder.as_str()).collect();
    assert_eq!(folders, ["/a", "/b", "/a"]);
    assert!(plan.databases.iter().all(|database| database.log_folder == "/l"));
}

#[test]
fn copies_and_weights_are_dealt_out_or_listed() {
    let dealt = "[databases]\nfolders = [\"/a\", \"/b\"]\nbackup_folders = [\"/k\"]\ncount = 3\n\
                 weights = [1, 2.5]\nsize = \"1GiB\"\n";
    let listed = "[databases]\nsize = \"1GiB\"\n\
                  [[database]]\nfolder = \"/a\"\nbackup_folder = \"/k\"\n\
                  [[database]]\nfolder = \"/b\"\nbackup_folder = \"/k\"\nweight = 2.5\n";
    for (text, count) in [(dealt, 3), (listed, 2)] {
        let plan = Plan::parse("plan.toml", text).unwrap();
        assert_eq!(plan.databases.len(), count);
        assert_eq!((plan.databases[0].weight, plan.databases[1].weight), (1.0, 2.5));
        let shares: f64 = plan.databases.iter().map(|of| plan.share(of)).sum();
        assert!((shares - count as f64).abs() < 1e-9, "the whole load is dealt out");
        assert!(
            (plan.share(&plan.databases[1]) / plan.share(&plan.databases[0]) - 2.5).abs() < 1e-9
        );
        assert_eq!(Plan::parse("again", &plan.to_toml()).unwrap(), plan);
        let folder = |plan: &Plan| plan.backup_folder(&plan.databases[1]).map(str::to_owned);
        assert_eq!(folder(&plan), None, "only a backup is copied");
        let backup = Overrides { test: Some("backup".to_owned()), ..Overrides::default() };
        let plan = Plan::parse_with("plan.toml", text, &backup).unwrap();
        assert_eq!(folder(&plan).as_deref(), Some("/k"));
    }
}

#[test]
fn the_command_line_overrides_before_defaults_are_chosen() {
    let overrides = Overrides {
        name: Some("array-a".to_owned()),
        test: Some("stress".to_owned()),
        duration: Some(Nanos::from_secs(60)),
        sessions: Some(Sessions::Count(3)),
        target_iops: Some(250),
        seed: Some(7),
        size: Some(units::Bytes::from_gib(3)),
        volume_of: None,
    };
    let plan = Plan::parse_with("plan.toml", SHORT, &overrides).unwrap();
    assert_eq!(plan.test.kind, TestKind::Stress);
    assert_eq!(plan.limits, Limits::LENIENT);
    assert_eq!(plan.test.duration, Nanos::from_secs(60));
    assert_eq!(plan.workload.sessions, Sessions::Count(3));
    assert_eq!(plan.workload.target_iops, Some(250));
    assert_eq!(plan.seed, Seed(7));
    assert_eq!(plan.size, units::Bytes::from_gib(3));

    let wrong = Overrides { test: Some("tape".to_owned()), ..Overrides::default() };
    let error = Plan::parse_with("plan.toml", SHORT, &wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan.toml: --test: `tape` is not known; give one of `performance`, `stress`, \
         `backup`, `recovery`, `checksum`"
    );
}

#[test]
fn every_diagnostic_names_line_key_and_remedy() {
    let cases: Vec<_> = DIAGNOSTICS.split("=== ").skip(1).collect();
    assert!(cases.len() > 15, "the golden file is there");
    let answer = |case: &str| {
        let (head, _) = case.split_once("---\n").expect("a case has complaints");
        let (_, text) = head.split_once('\n').expect("a case has a name");
        let answer = match Plan::parse("plan.toml", text) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        format!("=== {head}---\n{answer}\n")
    };
    let actual = cases.into_iter().map(answer).collect::<Vec<_>>().join("\n");
    assert!(actual == DIAGNOSTICS, "diagnostics changed; they now read:\n{actual}");
}

/// `/a` and `/b` are on a volume of 100 GiB, everything else on one of 1 TiB, and `/none` nowhere.
fn volume_of(folder: &str) -> Result<VolumeSize, String> {
    match folder {
        "/none" => Err("is a share of nothing".to_owned()),
        "/a" | "/b" => Ok(VolumeSize { volume: "/".to_owned(), total: Bytes::from_gib(100) }),
        _ => Ok(VolumeSize { volume: folder.to_owned(), total: Bytes::from_gib(1 << 10) }),
    }
}

/// Parses a plan of databases in `folders`, with `more` keys in that section; `volume_of` gives
/// their volumes.
fn on_volumes(folders: &str, more: &str, size: Option<Bytes>) -> Result<Plan, PlanError> {
    let overrides = Overrides { volume_of: Some(volume_of), size, ..Overrides::default() };
    let text = format!("[databases]\nfolders = {folders}\n{more}\n");
    Plan::parse_with("plan.toml", &text, &overrides)
}

#[test]
fn databases_may_be_a_share_of_their_volumes() {
    let half = "capacity_percent = 50";
    let plan = on_volumes("[\"/a\", \"/b\", \"/c\"]", half, None).unwrap();
    let of_two = (Bytes::from_gib(20), Some(50));
    assert_eq!((plan.size, plan.capacity_percent), of_two, "two of three share 100 GiB");
    assert_eq!(Plan::parse("again", &plan.to_toml()).unwrap(), plan);
    let by_hand = on_volumes("[\"/a\"]", half, Some(Bytes::from_gib(3))).unwrap();
    assert_eq!((by_hand.size, by_hand.capacity_percent), (Bytes::from_gib(3), None));
    for (folder, more, words) in [
        ("/none", half, "capacity_percent: is a share of nothing"),
        ("/a", "capacity_percent = 9\nsize = \"1GiB\"", "and so does `size`"),
        ("/a", "capacity_percent = 101", "101 is out of range; give 1 to 100"),
        (
            "/a",
            "capacity_percent = 1\ncount = 100",
            "8MiB on / (100.00 GiB); they have at least 16MiB",
        ),
    ] {
        let refused = on_volumes(&format!("[{folder:?}]"), more, None).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn mailboxes_ask_for_a_load() {
    let text = format!("{SHORT}[mailboxes]\ncount = 5000\niops_each = 0.101\nsize = \"4GiB\"\n");
    let plan = Plan::parse("plan.toml", &text).unwrap();
    // 5,000 x 0.101 and a fifth more.
    assert_eq!(plan.workload.target_iops, Some(606));
    assert_eq!(plan.test.warm_up, plan::WarmUpPace::Held);
    assert_eq!(plan.mailboxes.unwrap().size, Bytes::from_gib(4));
    assert_eq!(Plan::parse("again", &plan.to_toml()).unwrap(), plan);
    let given = text.replace("[mailboxes]", "[workload]\ntarget_iops = 250\n[mailboxes]");
    let plan = Plan::parse("plan.toml", &given).unwrap();
    assert_eq!(plan.workload.target_iops, Some(250));
    let none = format!("{SHORT}[mailboxes]\nsize = \"4GiB\"\n");
    let error = Plan::parse("plan.toml", &none).unwrap_err().to_string();
    assert_eq!(
        error,
        "plan.toml:4: [mailboxes]: missing; add `count = 5000`, the mailboxes to carry, to \
         [mailboxes]"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = Plan::parse("plan.toml", &text);
    }

    /// Every way to damage a good document ends in a plan or complaints.
    #[test]
    fn no_damaged_plan_panics(at in 0_usize..4096, with in "\\PC{0,6}", cut in 0_usize..40) {
        let example: Vec<char> = Plan::example().chars().collect();
        let at = at % example.len();
        let end = (at + cut).min(example.len());
        let text: String = example[..at].iter().copied().chain(with.chars())
            .chain(example[end..].iter().copied()).collect();
        if let Err(error) = Plan::parse("plan.toml", &text) {
            prop_assert!(!error.complaints.is_empty());
        }
    }

    #[test]
    fn a_written_plan_reads_back_equal(
        name in "[A-Za-z0-9\u{e4}_-][ .A-Za-z0-9]{0,20}['a-z]",
        seed in 0..i64::MAX as u64,
        folders in prop::collection::btree_set("[a-z]{1,4}", 1..5),
        logs in prop::collection::btree_set("[A-Z]{1,4}", 0..3),
        count in 1_usize..9,
        size in 16_u64 << 20..16 << 40,
        threads in prop::option::of(1_u32..1024),
        stress: bool,
        maintenance: bool,
    ) {
        let list =
            |set: &std::collections::BTreeSet<String>| format!("{set:?}").replace(['{', '}'], "");
        let logs = if logs.is_empty() {
            String::new()
        } else {
            format!("log_folders = [{}]", list(&logs))
        };
        let threads = threads.map_or("\"auto\"".to_owned(), |number| number.to_string());
        let kind = if stress { "stress" } else { "performance" };
        let text = format!(
            "seed = {seed}\n[databases]\nfolders = [{}]\n{logs}\ncount = {count}\n\
             size = \"{size}\"\n[workload]\nthreads = {threads}\n[test]\n\
             type = \"{kind}\"\nmaintenance = {maintenance}\n",
            list(&folders)
        );
        let mut plan = Plan::parse("plan.toml", &text).unwrap();
        plan.name = name;
        prop_assert_eq!(Plan::parse("again", &plan.to_toml()).unwrap(), plan);
    }
}
