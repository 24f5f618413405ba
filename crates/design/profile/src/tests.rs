//! Tests every kind of file, in the format of its tool, and the resulting profile.
//!
//! The tracking logs are made up from the documented fields; their expected figures are derived by
//! hand from the rules of Microsoft's script.

use std::fmt::Write as _;

use units::Bytes;

use crate::{Collector, LogKind, Options, Profile, ProfileError};

/// Two days of a small office: Friday the 20th and Saturday the 21st of November 2026.
const LOG: &str = "#Software: Microsoft Exchange Server\r
#Version: 15.02.0922.007\r
#Log-Type: Message Tracking Log\r
#Date: 2026-11-20T00:00:00.012Z\r
#Fields: date-time,client-ip,source,event-id,message-id,recipient-address,total-bytes,\
recipient-count,message-subject,sender-address\r
2026-11-20T09:15:00.100Z,,STOREDRIVER,RECEIVE,<1@a>,b@x;c@x,10240,2,\"Lunch, \"\"now\"\"\",a@x\r
2026-11-20T09:15:01.100Z,,STOREDRIVER,DELIVER,<1@a>,B@x;c@x,20480,2,Lunch,a@x\r
2026-11-20T10:00:00.000Z,,SMTP,RECEIVE,<1@a>,b@x,99999,1,not the store driver,a@x\r
2026-11-20T10:05:00.000Z,,STOREDRIVER,DELIVER,<2@a>,a@x,4096,1,,HealthMailbox1@x\r
2026-11-20T10:05:00.000Z,,STOREDRIVER,DELIVER,<3@journal.report.generator>,a@x,4096,1,,a@x\r
2026-11-20T10:30:00.000Z,,STOREDRIVER,DELIVER,<4@a>,a@x,1000,1,,ext@y\r
2026-11-21T11:00:00.000Z,,STOREDRIVER,DELIVER,<5@a>,a@x,1000,1,,ext@y\r
2026-11-20T12:00:00.000Z,,STOREDRIVER,DELIVER,<6@a>,a@x,many,1,,ext@y\r
2026-11-20T12:00:00.000Z,,STOREDRIVER,DELI";

fn profile(options: Options, files: &[(&str, &str)]) -> Profile {
    let mut collector = Collector::new(options);
    for (name, text) in files {
        collector.add(name, text).unwrap();
    }
    collector.finish().unwrap()
}

fn of(files: &[(&str, &str)]) -> Profile {
    profile(Options::default(), files)
}

/// Four messages on the one working day: one sent, three received.
#[test]
fn a_tracking_log() {
    let profile = of(&[("MSGTRKMD2026112009-1.LOG", LOG)]);
    let tier = &profile.tiers[0];
    assert_eq!(tier.mailboxes, 3);
    assert!((tier.messages_per_day - 4.0 / 3.0).abs() < 1e-12);
    assert_eq!(tier.average_message, Some(Bytes((10240 + 2 * 20480 + 1000) / 4)));
    let report = &profile.files[0];
    assert_eq!((report.kind, report.rows, report.bad_rows), (LogKind::MessageTracking, 9, 1));
    assert_eq!(
        report.bad_examples[0].to_string(),
        "line 13: total-bytes is \"many\", not a whole number"
    );
    let reasons: Vec<_> = report.left_out.iter().map(|(reason, rows)| (*reason, *rows)).collect();
    assert_eq!(
        reasons,
        [
            ("a health mailbox", 1),
            ("a journal report", 1),
            ("another event", 2),
            ("not a working day", 1)
        ]
    );
    assert_eq!(report.dates, Some(("2026-11-20".to_owned(), "2026-11-20".to_owned())));
    assert_eq!(profile.peak_hour(), Some((9, 0.75)));
    let script = profile.script.unwrap();
    assert_eq!((script.total_messages, script.sent_messages, script.received_messages), (2, 1, 1));
    // 4 messages with 52,200 bytes are 51 KB; the 3 received ones with 41,960 bytes are 41 KB.
    assert_eq!(
        (script.total_kilobytes, script.sent_kilobytes, script.received_kilobytes),
        (13, 10, 14)
    );
}

#[test]
fn every_day_counts_where_asked_and_the_clock_is_local() {
    let options = Options {
        working_days_only: false,
        utc_offset_hours: 2,
        mailboxes: Some(10),
        ..Options::default()
    };
    let profile = profile(options, &[("log", LOG)]);
    assert!((profile.tiers[0].messages_per_day - 5.0 / 2.0 / 10.0).abs() < 1e-12);
    assert_eq!(profile.peak_hour().unwrap().0, 11);
}

/// Fields in a different order, and redefined in the middle of the file.
#[test]
fn the_fields_line_says_where_columns_are() {
    let log = "#Fields: event-id,source,recipient-address,total-bytes,date-time\n\
               DELIVER,STOREDRIVER,a@x,1000,2026-11-20T09:00:00Z\n\
               #Fields: date-time,total-bytes,recipient-address,source,event-id\n\
               2026-11-20T09:00:00Z,3000,b@x,STOREDRIVER,DELIVER\n";
    let profile = of(&[("log", log)]);
    assert_eq!(profile.tiers[0].average_message, Some(Bytes(2000)));
}

const SITES: &str = "\"SiteName\",\"Mailboxes\",\"AvgTotalMsgs\",\"AvgTotalKB\",\"AvgSentMsgs\",\
    \"AvgRcvdMsgs\",\"AvgSentKB\",\"AvgRcvdKB\",\"SentMsgs\",\"RcvdMsgs\",\"SentKB\",\"RcvdKB\",\
    \"UTCOffset\",\"TimeSpan\",\"TotalDays\"\n\
    \"Berlin\",\"100\",\"31\",\"50\",\"11\",\"21\",\"60\",\"45\",\
    \"5000\",\"10000\",\"300000\",\"450000\",\"1\",\"x\",\"5\"\n\
    \"Oslo\",\"50\",\"10\",\"20\",\"5\",\"5\",\"20\",\"20\",\
    \"500\",\"500\",\"10000\",\"10000\",\"1\",\"x\",\"2\"\n\
    \"~All Sites\",\"150\",\"99\",\"99\",\"9\",\"9\",\"9\",\"9\",\
    \"5500\",\"10500\",\"310000\",\"460000\",\"1\",\"x\",\"7\"\n";

#[test]
fn a_message_profile_has_a_tier_per_site() {
    let profile = of(&[("profile.csv", SITES)]);
    let tiers: Vec<_> = profile
        .tiers
        .iter()
        .map(|tier| (tier.name.as_str(), tier.mailboxes, tier.average_message.unwrap().0))
        .collect();
    assert_eq!(tiers, [("Berlin", 100, 50 * 1024), ("Oslo", 50, 20 * 1024)]);
    assert!((profile.tiers[0].messages_per_day - 30.0).abs() < 1e-12);
    assert!((profile.tiers[1].messages_per_day - 10.0).abs() < 1e-12);
}

/// As in the script's merge: messages and days add up, the latest number of mailboxes counts.
#[test]
fn the_same_site_again_is_merged() {
    let later = SITES.replace("\"100\"", "\"120\"");
    let profile = of(&[("a.csv", SITES), ("b.csv", &later)]);
    assert_eq!(profile.tiers[0].mailboxes, 120);
    assert!((profile.tiers[0].messages_per_day - 25.0).abs() < 1e-12);
}

const USAGE: &str = "Report Refresh Date,User Principal Name,Is Deleted,Item Count,\
    Storage Used (Byte),Prohibit Send/Receive Quota (Byte),Deleted Item Size (Byte),Has Archive,\
    Report Period\n\
    2026-11-18,A1,False,10,1073741824,2147483648,107374182,False,7\n\
    2026-11-18,B2,False,10,2147483648,53687091200,0,True,7\n\
    2026-11-18,C3,True,10,999,2147483648,0,False,7\n\
    2026-11-18,a1,False,10,1073741824,2147483648,107374182,False,7\n\
    2026-11-18,D4,False,10,oops,2147483648,0,False,7\n";

const ACTIVITY: &str = "Report Refresh Date;Report Period;Receive Count;Send Count;\
    User Principal Name;Is Deleted\n\
    18.11.2026;7;70;30;X1;False\n18.11.2026;7;30;10;X2;False\n18.11.2026;7;0;0;X3;True\n";

#[test]
fn reports_of_microsoft_365() {
    let profile = of(&[("usage.csv", USAGE), ("activity.csv", ACTIVITY)]);
    let sizes: Vec<_> = profile
        .tiers
        .iter()
        .map(|tier| (tier.mailboxes, tier.initial_size.unwrap(), tier.size_limit.unwrap()))
        .collect();
    let gib = Bytes::from_gib;
    assert_eq!(sizes, [(1, gib(1), gib(2)), (1, gib(2), gib(50))]);
    // 140 messages of two users in a week, all on its working days: 14 a day each.
    assert!((profile.tiers[0].messages_per_day - 14.0).abs() < 1e-9);
    assert_eq!(profile.tiers[0].average_message, None);
    assert_eq!(profile.archives, 1);
    assert!((profile.deleted_share.unwrap() - 0.1 / 3.1).abs() < 1e-6);
    let usage = &profile.files[0];
    assert_eq!((usage.rows, usage.bad_rows), (5, 1));
    assert_eq!(usage.left_out["counted already"], 1);
    assert_eq!(usage.dates.as_ref().unwrap().0, "2026-11-18");
    assert_eq!(profile.files[1].dates, None, "a local date is no ISO date");
}

#[test]
fn mailbox_statistics_in_any_language() {
    let english = "#TYPE Microsoft.Exchange.Data.Mapi.MailboxStatistics\r\n\
        \"DisplayName\",\"ItemCount\",\"TotalItemSize\",\"TotalDeletedItemSize\",\
        \"DisconnectDate\"\r\n\
        \"A\",\"1\",\"1.2 GB (1,288,490,188 bytes)\",\"0 B (0 bytes)\",\r\n\
        \"Gone\",\"1\",\"1 GB (1,073,741,824 bytes)\",\"0 B (0 bytes)\",\"1/2/2026\"\r\n\
        \"HealthMailbox-x\",\"1\",\"1 GB (1,073,741,824 bytes)\",\"0 B (0 bytes)\",\r\n";
    let german = "DisplayName;ItemCount;TotalItemSize\n\
                  B;1;3,0 GB (3.221.225.472 Bytes)\nC;1;1 MB (1 048 576 octets)\nD;1;1 MB\n";
    let options = Options { mailboxes: Some(30), ..Options::default() };
    let profile = profile(options, &[("a.csv", english), ("b.csv", german), ("log", LOG)]);
    let tier = &profile.tiers[0];
    assert_eq!((tier.mailboxes, tier.size_limit), (30, Some(Bytes::from_gib(3))));
    let used = (1_288_490_188 + 3_221_225_472 + 1_048_576) / 3;
    assert_eq!(tier.initial_size, Some(Bytes(used)));
    assert_eq!(profile.files[1].bad_rows, 1);
}

/// Seven quotas become four tiers, and no mailbox loses space.
#[test]
fn small_groups_join_the_next_larger_quota() {
    let headers = "User Principal Name,Item Count,Storage Used (Byte),\
                   Prohibit Send/Receive Quota (Byte)\n";
    let mut usage = headers.to_owned();
    for (quota, users) in [(1, 5), (2, 1), (3, 9), (4, 2), (5, 8), (6, 7), (7, 1)] {
        for user in 0..users {
            let bytes = Bytes::from_gib(quota).0;
            writeln!(usage, "u{quota}-{user},1,1024,{bytes}").unwrap();
        }
    }
    let profile = of(&[("usage", &usage), ("activity", ACTIVITY)]);
    let tiers: Vec<_> = profile
        .tiers
        .iter()
        .map(|tier| (tier.size_limit.unwrap().0 >> 30, tier.mailboxes))
        .collect();
    assert_eq!(tiers, [(3, 15), (5, 10), (6, 7), (7, 1)]);
}

#[test]
fn log_files_by_hour_of_either_script() {
    let mut by_database = "Server;LogFolderPath".to_owned();
    let mut row = "EX1;D:\\Logs".to_owned();
    for hour in 0..24 {
        write!(by_database, ";Hour-{hour:02}").unwrap();
        row.push_str(match hour {
            9 => ";30",
            10 => ";10",
            _ => ";",
        });
    }
    let by_database = format!("{by_database}\n{row}\n");
    let by_hour =
        "Hour,TotalLogsCreated,TotalSampleIntervalSeconds\n9,60,7200\n10,10,3600\n24,1,3600\n";
    for text in [by_database.as_str(), by_hour] {
        let profile = of(&[("hours.csv", text), ("log", LOG)]);
        assert_eq!(profile.peak_hour(), Some((9, 0.75)));
        let sum: f64 = profile.hourly_shares.unwrap().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_makes_no_profile_says_why() {
    let mut collector = Collector::new(Options::default());
    let unknown = collector.add("x.csv", "Name,Colour\nA,red\n").unwrap_err();
    let text = unknown.to_string();
    for part in ["x.csv", "Name, Colour", "TotalItemSize, ItemCount", "message tracking log"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let empty = collector.add("y.csv", "\n\n").unwrap_err();
    assert_eq!(empty, ProfileError::Empty { file: "y.csv".to_owned() });
    let bad = collector.add("z.csv", "ItemCount,TotalItemSize\n1,1 GB\n").unwrap_err();
    assert!(bad.to_string().contains("line 2: TotalItemSize"), "{bad}");
    assert_eq!(collector.finish().unwrap_err(), ProfileError::NoMailboxes);
    let mut collector = Collector::new(Options::default());
    collector.add("usage", USAGE).unwrap();
    assert_eq!(collector.finish().unwrap_err(), ProfileError::NoMessages);
}

/// A missing value only needs its line uncommented.
#[test]
fn a_hint_is_a_line_to_uncomment() {
    let text = of(&[("log", LOG)]).to_toml();
    assert!(text.contains("# size_limit = "), "{text}");
    let table: toml::Table = text.replace("# size_limit", "size_limit").parse().unwrap();
    assert_eq!(table["tier"][0]["size_limit"].as_str(), Some("2GiB"));
}

#[test]
fn the_document_says_where_numbers_come_from() {
    let text = of(&[("usage\n.csv", USAGE), ("log", LOG)]).to_toml();
    for part in [
        "\"usage\\u000A.csv: Microsoft 365 mailbox usage, 5 rows; 2026-11-18 to 2026-11-18",
        "csv: line 6: Storage Used (Byte) is \\\"oops\\\", not a whole number\"",
        "# busiest from 9:00 to 10:00, with 75.0 % of the day",
        "size_limit = \"50GiB\"",
        "messages_per_day = 2.0",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let servers = "\n[availability]\nservers_per_site = 2\ncopies = 2\n";
    let deployment = plan::Deployment::parse("profile.toml", &format!("{text}{servers}")).unwrap();
    assert!(deployment.provenance[0].starts_with("usage\n.csv: Microsoft 365"));
    assert!(deployment.provenance.iter().any(|line| line.starts_with("messages: ")));
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["tier"].as_array().unwrap().len(), 2);
    assert_eq!(table["replication"]["hourly_percent"].as_array().unwrap().len(), 24);
}

proptest::proptest! {
    /// No input makes a collector panic, whatever its headers.
    #[test]
    fn any_bytes(bytes: Vec<u8>, kind in 0_usize..7, rows in "[0-9a-zA-Z,;\"\n .:@-]{0,200}") {
        let mut collector = Collector::new(Options::default());
        let _ = collector.add("bytes", &String::from_utf8_lossy(&bytes));
        let headers = LogKind::ALL[kind].needed().join(",");
        let _ = collector.add("rows", &format!("{headers}\n{rows}"));
        let _ = collector.finish();
    }
}

#[test]
fn a_binary_file_is_called_one() {
    let mut collector = Collector::new(Options::default());
    let refused = collector.add("x", "\x7fELF\x02\x01\x01\0\0\0").unwrap_err();
    assert_eq!(refused.to_string(), "x: is no text; export it again as comma-separated values");
}

/// Messages of Exchange's internal mailboxes, and a sender who receives nothing.
const ARBITRATED: &str = "#Fields: date-time,server-hostname,source,event-id,internal-message-id,\
message-id,recipient-address,total-bytes,sender-address\n\
2026-11-20T08:00:00.000Z,E1,STOREDRIVER,RECEIVE,1,<1@a>,b@x;c@x,2048,a@x\n\
2026-11-20T08:00:01.000Z,E1,STOREDRIVER,DELIVER,1,<1@a>,b@x;c@x,2048,a@x\n\
2026-11-20T08:01:00.000Z,E1,STOREDRIVER,DELIVER,2,<2@a>,SystemMailbox{e0dc1c29-1111}@x,2048,a@x\n\
2026-11-20T08:02:00.000Z,E1,STOREDRIVER,DELIVER,3,<3@a>,Migration.8f3e7716@x;b@x,2048,a@x\n\
2026-11-20T08:03:00.000Z,E1,STOREDRIVER,RECEIVE,4,<4@a>,b@x,2048,FederatedEmail.4c1f@x\n";

#[test]
fn senders_are_mailboxes_and_those_of_exchange_are_not() {
    let profile = of(&[("MSGTRK.LOG", ARBITRATED)]);
    assert_eq!(profile.mailboxes(), 3);
    // One sent, three received.
    assert!((profile.tiers[0].messages_per_day - 4.0 / 3.0).abs() < 1e-12);
    let left_out: Vec<_> = profile.files[0].left_out.iter().collect();
    assert_eq!(left_out, [(&"a federation mailbox", &1), (&"an arbitration mailbox", &1)]);
    let names = "system mailboxes left out: 3: federatedemail.4c1f@x, migration.8f3e7716@x, \
                 systemmailbox{e0dc1c29-1111}@x";
    assert!(profile.rules.iter().any(|rule| rule == names), "{:?}", profile.rules);
}

#[test]
fn evidence_under_two_names_counts_once() {
    let once = of(&[("a.log", ARBITRATED)]);
    let whole = of(&[("a.log", ARBITRATED), ("copy of a.log", ARBITRATED)]);
    assert_eq!(whole.tiers, once.tiers);
    assert_eq!(whole.files[1].left_out.get("counted already"), Some(&5));
    // Two overlapping logs, and one from another server, which counts.
    let longer = format!("{ARBITRATED}{}", ARBITRATED.lines().nth(2).unwrap());
    assert_eq!(of(&[("a.log", ARBITRATED), ("b.log", &longer)]).tiers, once.tiers);
    let other = ARBITRATED.replace(",E1,", ",E2,");
    let both = of(&[("a.log", ARBITRATED), ("b.log", &other)]);
    assert!((both.tiers[0].messages_per_day - 8.0 / 3.0).abs() < 1e-12);
    let sites =
        "SiteName,Mailboxes,SentMsgs,RcvdMsgs,SentKB,RcvdKB,TotalDays\nHere,10,5,5,50,50,1\n";
    let sites = of(&[("p.csv", sites), ("q.csv", sites)]);
    assert_eq!(sites.files[1].left_out.get("counted already"), Some(&1));
}

#[test]
fn rows_with_no_message_id_or_a_repeated_one_are_counted_and_said() {
    // Nothing distinguishes the two deliveries without ids, and the last two are one.
    let rows = "#Fields: date-time,source,event-id,internal-message-id,message-id,\
        recipient-address,total-bytes,sender-address\n\
        2026-11-20T08:00:01.000Z,STOREDRIVER,DELIVER,,,b@x,2048,a@x\n\
        2026-11-20T08:00:01.000Z,STOREDRIVER,DELIVER,,,b@x,2048,a@x\n\
        2026-11-20T08:01:00.000Z,STOREDRIVER,DELIVER,1,<1@a>,b@x,2048,a@x\n\
        2026-11-20T08:01:00.000Z,STOREDRIVER,DELIVER,1,<1@a>,b@x,2048,a@x\n";
    let profile = of(&[("MSGTRK.LOG", rows)]);
    assert!((profile.tiers[0].messages_per_day - 3.0).abs() < 1e-12);
    assert_eq!(profile.files[0].left_out.get("counted already"), Some(&1));
    let said = "messages: 2 rows without a message id count too; if a log repeats them, they count \
                twice";
    assert!(profile.rules.iter().any(|rule| rule == said), "{:?}", profile.rules);
    let known = of(&[("a.log", ARBITRATED)]);
    assert!(!known.rules.iter().any(|rule| rule.contains("without a message id")));
}

/// As the script `email_stats` writes it.
const STATS: &str = "\"Date\",\"User\",\"Domain\",\"Sent Total\",\"Sent MB Total\",\
\"Received Total\",\"Received MB Total\",\"Sent Unique Total\"\n\
\"11/19/2026\",\"kim\",\"x.test\",\"20\",\"2.00\",\"50\",\"5.00\",\"15\"\n\
\"11/19/2026\",\"lee\",\"x.test\",\"10\",\"1,00\",\"40\",\"4.00\",\"5\"\n\
\"11/19/2026\",\"HealthMailbox12ab\",\"x.test\",\"900\",\"1.00\",\"900\",\"1.00\",\"900\"\n\
\"11/19/2026\",\"max\",\"x.test\",\"many\",\"1.00\",\"1\",\"1.00\",\"1\"\n";

#[test]
fn statistics_of_users_and_days() {
    let profile = of(&[("email_stats_2026_11_19.csv", STATS)]);
    assert_eq!(profile.mailboxes(), 2);
    assert!((profile.tiers[0].messages_per_day - 60.0).abs() < 1e-9);
    assert_eq!(profile.tiers[0].average_message, Some(Bytes((12 << 20) / 120)));
    assert!(
        profile.rules.iter().any(|rule| rule.ends_with("they are 55.0")),
        "{:?}",
        profile.rules
    );
    let report = &profile.files[0];
    assert_eq!((report.kind, report.rows, report.bad_rows), (LogKind::EmailStats, 4, 1));
    assert_eq!(report.dates, Some(("2026-11-19".to_owned(), "2026-11-19".to_owned())));
    // Logs describe the same messages.
    let logs = of(&[("a.log", ARBITRATED)]);
    let both = of(&[("stats.csv", STATS), ("a.log", ARBITRATED)]);
    assert_eq!(both.tiers, logs.tiers);
    assert!(both.rules.iter().any(|rule| rule.contains("not sent and received totals")));
}

/// As `Get-MessageTrackingLog | Export-Csv` writes it.
const EXPORT: &str = "\"PSComputerName\",\"Timestamp\",\"ServerHostname\",\"Source\",\"EventId\",\
\"InternalMessageId\",\"MessageId\",\"Recipients\",\"TotalBytes\",\"RecipientCount\",\"Sender\"\n\
\"e1\",\"11/19/2026 1:01:02 PM\",\"E1\",\"STOREDRIVER\",\"DELIVER\",\"9\",\"<9@x>\",\
\"System.String[]\",\"20480\",\"2\",\"out@y.test\"\n\
\"e1\",\"11/19/2026 1:03:02 PM\",\"E1\",\"STOREDRIVER\",\"RECEIVE\",\"8\",\"<8@x>\",\
\"System.String[]\",\"10240\",\"1\",\"kim@x.test\"\n\
\"e1\",\"11/19/2026 1:04:02 PM\",\"E1\",\"SMTP\",\"SEND\",\"8\",\"<8@x>\",\"System.String[]\",\
\"10240\",\"1\",\"kim@x.test\"\n";

#[test]
fn exported_tracking_without_names_of_recipients() {
    let profile = of(&[("tracking.csv", EXPORT)]);
    assert_eq!(profile.files[0].kind, LogKind::TrackingExport);
    assert_eq!(profile.files[0].left_out.get("another event"), Some(&1));
    assert_eq!(profile.mailboxes(), 1, "only the sender is known");
    assert!((profile.tiers[0].messages_per_day - 3.0).abs() < 1e-12);
    assert_eq!(profile.peak_hour(), Some((13, 1.0)));
    assert!(profile.rules.iter().any(|rule| rule.contains("System.String[]")));
    let named = EXPORT.replacen("System.String[]", "kim@x.test;lee@x.test", 1);
    let profile = of(&[("tracking.csv", &named)]);
    assert_eq!(profile.mailboxes(), 2);
}
