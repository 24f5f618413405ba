//! Configurations of Jetstress, made up here in the published shape, and the resulting plans.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use jetstress::{ConversionError, plan_of_config};
use plan::{Overrides, Plan, Sessions, TestKind, VolumeSize};
use proptest::prelude::{any, proptest};
use units::{Bytes, Nanos};

/// A configuration with `instances` instances; `change` is applied to its text.
fn config(instances: usize, change: impl Fn(String) -> String) -> String {
    let instance = |number| {
        format!(
            "<EseInstance IopsBias=\"1\"><DatabasePaths><Path>F:\\vol{number}\\db</Path>\
             </DatabasePaths><LogPath>F:\\vol{number}\\log</LogPath></EseInstance>"
        )
    };
    let instances: String = (1..=instances).map(instance).collect();
    let limits = |read: u32, log: u32| {
        format!(
            "<AverageDatabaseReadLatency>20</AverageDatabaseReadLatency>\
             <MaximumDatabaseReadLatency>{read}</MaximumDatabaseReadLatency>\
             <AverageLogWriteLatency>10</AverageLogWriteLatency>\
             <MaximumLogWriteLatency>{log}</MaximumLogWriteLatency>"
        )
    };
    change(format!(
        "<?xml version=\"1.0\"?><configuration>\
         <JetstressVersionGenerated>15.0.995.0</JetstressVersionGenerated>\
         <TestDesignInfo><Type>Performance</Type><Description>Shelf 7</Description>\
         <Duration>P0Y0M0DT2H30M0S</Duration><VerifyChecksum>false</VerifyChecksum>\
         <RunDatabaseMaintenancePerformance>true</RunDatabaseMaintenancePerformance>\
         <SuppressTuning>true</SuppressTuning><MultiHostBreak>true</MultiHostBreak>\
         <LogFilesToReplay>123</LogFilesToReplay><LogInterval>5000</LogInterval>\
         <OperationMix LockOps=\"true\" InsertOps=\"30\" DeleteOps=\"15\" ReplaceOps=\"6\" \
         LazyCommits=\"60\" /><BatchUpdates>12</BatchUpdates>\
         <Thresholds Name=\"Strict\">{}</Thresholds>\
         <Thresholds Name=\"Lenient\" TestRunTypes=\"Stress\">{}</Thresholds></TestDesignInfo>\
         <ExchangeProfile><ThreadCount>7</ThreadCount><DatabaseSizing>Profile</DatabaseSizing>\
         <MailboxCount>500</MailboxCount><MailboxQuota>2048</MailboxQuota>\
         <MailboxIops>0.12</MailboxIops><LongPadLength>1500</LongPadLength>\
         <ShortPadLength>100</ShortPadLength><DatabaseCopyCount>3</DatabaseCopyCount>\
         <EseInstances>{instances}</EseInstances></ExchangeProfile>\
         <JetSystemParams><DatabasePageSize>32768</DatabasePageSize>\
         <DBMThrottling>50</DBMThrottling></JetSystemParams></configuration>",
        limits(100, 90),
        limits(200, 190)
    ))
}

fn plan(text: &str) -> (Plan, Vec<String>) {
    let draft = plan_of_config(text, "/mnt/mail/").unwrap();
    let names = draft.remarks.iter().map(|(element, _)| element.clone()).collect();
    for (element, _) in &draft.remarks {
        assert!(draft.text.contains(&format!("# * {element}: ")), "{element}");
    }
    (Plan::parse("plan.toml", &draft.text).unwrap(), names)
}

#[test]
fn a_configuration_becomes_the_plan_that_says_the_same() {
    let (plan, remarks) = plan(&config(4, |text| text));
    assert_eq!(plan.description, "Shelf 7");
    assert_eq!(plan.test.kind, TestKind::Performance);
    assert_eq!(plan.test.duration, Nanos::from_secs(9_000));
    assert_eq!(plan.test.interval, Nanos::from_secs(5));
    assert_eq!(plan.test.maintenance_throttle, Some(Nanos::from_millis(50)));
    assert!(!plan.test.checksum);
    assert_eq!(plan.workload.sessions, Sessions::Count(2));
    assert_eq!((plan.workload.short_pad_bytes, plan.workload.long_pad_bytes), (100, 1_500));
    assert_eq!(plan.workload.target_iops, Some(60));
    assert_eq!(plan.limits.log_write_maximum, Nanos::from_millis(90));
    assert_eq!(plan.size, Bytes((500 * 2_048 / 4) << 20));
    assert_eq!(plan.databases.len(), 4);
    assert_eq!(plan.databases[1].folder, "/mnt/mail/F/vol2/db");
    assert_eq!(plan.databases[1].log_folder, "/mnt/mail/F/vol2/log");
    assert_eq!(plan.test.copies, 3);
    for element in ["MultiHostBreak", "ThreadCount", "LogPath"] {
        assert!(remarks.iter().any(|name| name == element), "{element} is not named");
    }
    assert!(!remarks.iter().any(|name| name == "DatabaseCopyCount"), "it is taken over");
    // Printing and parsing the plan gives the same plan.
    let again = Plan::parse("again", &plan.to_toml()).unwrap();
    assert_eq!(again.to_toml(), plan.to_toml());
}

#[test]
fn weights_and_backups_to_disk_are_taken_over() {
    let biased = |text: String| {
        let text = text.replacen("IopsBias=\"1\"", "IopsBias=\"2.5\"", 1);
        text.replace("</EseInstance>", "<DatabaseBackupPath>/b</DatabaseBackupPath></EseInstance>")
    };
    let (read_only, remarks) = plan(&config(2, biased));
    assert_eq!((read_only.databases[0].weight, read_only.databases[1].weight), (2.5, 1.0));
    assert_eq!(read_only.databases[0].backup_folder, None);
    assert!(remarks.contains(&"DatabaseBackupPath".to_owned()));
    let copied = |text: String| {
        biased(text)
            .replace("<SuppressTuning>", "<BackupToDisk>true</BackupToDisk><SuppressTuning>")
    };
    let (read, remarks) = plan(&config(2, copied));
    assert_eq!(read.databases[1].backup_folder.as_deref(), Some("/b"));
    assert!(!remarks.contains(&"DatabaseBackupPath".to_owned()));
    let text = config(2, copied).replace("<DatabaseBackupPath>/b<", "<DatabaseBackupPath>G:\\b<");
    let draft = plan_of_config(&text, "/mnt").unwrap();
    let of_windows = Plan::parse("plan.toml", &draft.text).unwrap();
    assert_eq!(of_windows.databases[0].backup_folder.as_deref(), Some("/mnt/G/b"));
    let wrong = |text: String| text.replace("IopsBias=\"1\"", "IopsBias=\"0\"");
    let (even, remarks) = plan(&config(2, wrong));
    assert_eq!((even.databases[0].weight, even.databases.len()), (1.0, 2));
    assert!(remarks.contains(&"EseInstance@IopsBias".to_owned()));
}

#[test]
fn as_many_copies_are_taken_over_as_a_plan_may_have() {
    let of = |count: &str| {
        let element = format!("DatabaseCopyCount>{count}<");
        let (plan, remarks) =
            plan(&config(2, |text| text.replace("DatabaseCopyCount>3<", &element)));
        (plan.test.copies, remarks.contains(&"DatabaseCopyCount".to_owned()))
    };
    assert_eq!(of("1"), (1, false));
    assert_eq!(of("16"), (16, false));
    assert_eq!(of("40"), (16, true));
}

/// Every folder is a volume of 100 GiB.
#[expect(clippy::unnecessary_wraps, reason = "a look at volumes that are there can fail")]
fn volume_of(folder: &str) -> Result<VolumeSize, String> {
    Ok(VolumeSize { volume: folder.to_owned(), total: Bytes::from_gib(100) })
}

/// The plan of a test of disk subsystem throughput with these shares, or of mailboxes.
fn of_throughput(sizing: &str, capacity: &str, throughput: &str) -> (Plan, Vec<String>) {
    let text = config(2, |text| {
        text.replace(
            "<DatabaseSizing>Profile</DatabaseSizing>",
            &format!(
                "<DatabaseSizing>{sizing}</DatabaseSizing>\
                 <CapacityPercentage>{capacity}</CapacityPercentage>\
                 <ThroughputPercentage>{throughput}</ThroughputPercentage>\
                 <DatabaseSpaceReserved>25</DatabaseSpaceReserved>"
            ),
        )
    });
    let draft = plan_of_config(&text, "/mnt").unwrap();
    let overrides = Overrides { volume_of: Some(volume_of), ..Overrides::default() };
    let plan = Plan::parse_with("plan.toml", &draft.text, &overrides).unwrap();
    (plan, draft.remarks.into_iter().map(|(element, _)| element).collect())
}

#[test]
fn shares_of_capacity_and_throughput_are_taken_over_and_mailboxes_overrule_them() {
    let (plan, remarks) = of_throughput("Capacity", "50", "80");
    assert_eq!((plan.size, plan.capacity_percent), (Bytes::from_gib(40), Some(50)));
    assert_eq!((plan.workload.throughput_percent, plan.workload.target_iops), (Some(80), None));
    assert!(!remarks.contains(&"ThroughputPercentage".to_owned()), "{remarks:?}");
    assert!(!remarks.contains(&"DatabaseSpaceReserved".to_owned()), "{remarks:?}");
    let (whole, _) = of_throughput("Capacity", "100", "100");
    assert_eq!((whole.size, whole.workload.throughput_percent), (Bytes::from_gib(80), None));
    let (wrong, remarks) = of_throughput("Capacity", "0", "400");
    assert_eq!((wrong.capacity_percent, wrong.workload.throughput_percent), (Some(100), None));
    for element in ["CapacityPercentage", "ThroughputPercentage"] {
        assert!(remarks.contains(&element.to_owned()), "{element}: {remarks:?}");
    }
    let (mailboxes, remarks) = of_throughput("Profile", "50", "80");
    assert_eq!((mailboxes.capacity_percent, mailboxes.workload.throughput_percent), (None, None));
    assert_eq!(mailboxes.workload.target_iops, Some(60));
    for element in ["CapacityPercentage", "ThroughputPercentage"] {
        assert!(remarks.contains(&element.to_owned()), "{element}: {remarks:?}");
    }
}

#[test]
fn limits_follow_the_type_and_threads_the_version() {
    let (stress, _) = plan(&config(2, |text| text.replace("<Type>Performance", "<Type>Stress")));
    assert_eq!(stress.test.kind, TestKind::Stress);
    assert_eq!(stress.limits.read_maximum, Nanos::from_millis(200));
    let (old, _) = plan(&config(2, |text| text.replace("15.0.995.0", "14.01.0180.003")));
    assert_eq!(old.workload.sessions, Sessions::Count(7), "of each database in 2010");
    let tuned = |text: String| text.replace("<SuppressTuning>true", "<SuppressTuning>false");
    assert_eq!(plan(&config(2, tuned)).0.workload.sessions, Sessions::Auto);
}

#[test]
fn no_element_goes_without_a_word() {
    let with = |element: &str| {
        let text = config(2, |text| text.replace("<Type>", &format!("{element}<Type>")));
        plan(&text).1
    };
    assert!(with("<Colour>green</Colour>").contains(&"Colour".to_owned()));
    assert!(with("<PreloadJetCache>0.5</PreloadJetCache>").contains(&"PreloadJetCache".to_owned()));
    assert!(
        !with("<PreloadJetCache>0.9</PreloadJetCache>").contains(&"PreloadJetCache".to_owned())
    );
    assert!(with("<OutputPath>.</OutputPath>").contains(&"OutputPath".to_owned()));
}

#[test]
fn all_problems_are_named_at_once() {
    let broken = config(2, |text| {
        text.replace("<Type>Performance", "<Type>qwertz")
            .replace("<MultiHostBreak>true", "<MultiHostBreak>perhaps")
            .replace("<ThreadCount>7", "<ThreadCount>")
            .replace("<Path>F:\\vol2\\db</Path>", "<Path />")
            .replace("<SuppressTuning>true", "<SuppressTuning>")
            .replace("<Duration>P0Y0M0DT2H30M0S", "<Duration>two hours")
            .replace("<MailboxQuota>2048", "<MailboxQuota>2 GB")
    });
    let refused = plan_of_config(&broken, "/mnt").unwrap_err();
    let ConversionError::Problems(problems) = &refused else {
        panic!("{refused}");
    };
    assert_eq!(problems.len(), 7, "{refused}");
    let words = refused.to_string();
    for part in [
        "Type holds `qwertz`, which cannot be read; give Performance, Stress",
        "MultiHostBreak holds `perhaps`",
        "ThreadCount is empty",
        "DatabasePaths/Path is empty",
        "SuppressTuning is empty",
        "Duration holds `two hours`",
        "MailboxQuota holds `2 GB`",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // An element that decides nothing is no reason to refuse.
    let aside = |text: String| text.replace("<MultiHostBreak>true", "<MultiHostBreak>perhaps");
    assert!(plan(&config(2, aside)).1.contains(&"MultiHostBreak".to_owned()));
}

#[test]
fn what_is_no_configuration_is_refused() {
    let refusal = |text: &str| plan_of_config(text, "/mnt").unwrap_err();
    assert!(matches!(refusal("Jetstress"), ConversionError::NotXml(_)));
    assert!(matches!(refusal("<output/>"), ConversionError::Other { .. }));
    assert!(matches!(refusal("<configuration/>"), ConversionError::NoInstances));
    let bombs = "<!DOCTYPE a [<!ENTITY b \"c\">]><configuration>&b;</configuration>";
    assert!(matches!(refusal(bombs), ConversionError::NotXml(_)));
    let wrong = config(2, |text| text.replace("<ThreadCount>7", "<ThreadCount>many"));
    let refused = refusal(&wrong).to_string();
    assert!(refused.starts_with("ThreadCount holds `many`"), "{refused}");
    let forever = config(2, |text| text.replace("P0Y0M0D", "P1Y0M0D"));
    let refused = refusal(&forever).to_string();
    assert!(refused.starts_with("Duration holds"), "{refused}");
    let text = config(2, |text| text.replace("LongPadLength>1500", "LongPadLength>99999999"));
    assert!(matches!(refusal(&text), ConversionError::Plan(_)));
}

proptest! {
    /// Whatever bytes were changed: a plan that is accepted, or a refusal.
    #[test]
    fn changed_configurations_never_panic(
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8)
    ) {
        let mut bytes = config(2, |text| text).into_bytes();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(draft) = plan_of_config(&String::from_utf8_lossy(&bytes), "/mnt") {
            let overrides = Overrides { volume_of: Some(volume_of), ..Overrides::default() };
            Plan::parse_with("plan.toml", &draft.text, &overrides).unwrap();
        }
    }
}
