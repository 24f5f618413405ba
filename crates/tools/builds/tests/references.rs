//! Compares the embedded table with the documents that print version numbers.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use builds::{
    BuildNumber, BuildTable, BuildTableError, Identity, Preparation, Release, ReleaseKind, mentions,
};
use proptest::prelude::*;

fn label(text: &str) -> String {
    let table = BuildTable::embedded();
    table.identify(BuildNumber::parse(text).unwrap()).to_string()
}

#[test]
fn the_table_is_whole() {
    let table = BuildTable::embedded();
    assert_eq!(table.releases().len(), 444);
    assert_eq!(table.date(), "2026-08-20");
    let count = |kind: ReleaseKind| {
        let is_kind = |release: &&Release| release.kind == kind;
        table.releases().iter().filter(is_kind).count()
    };
    assert_eq!(count(ReleaseKind::CumulativeUpdate), 61);
    assert_eq!(count(ReleaseKind::SecurityUpdate), 241);
    assert_eq!(count(ReleaseKind::Rollup), 111);
    for release in table.releases() {
        assert_eq!(table.identify(release.version), Identity::Exact(release));
        assert_eq!(table.named(&release.name()).unwrap().name(), release.name());
    }
}

/// Printed in test reports, help pages, logs and configuration files.
#[test]
fn printed_versions_are_what_their_documents_say() {
    let expected = [
        ("15.0.1076.9", "Exchange Server 2013 CU8"),
        ("15.1.2375.7", "Exchange Server 2016 CU22"),
        ("Version 15.1 (Build 2375.7)", "Exchange Server 2016 CU22"),
        ("15.2.922.7", "Exchange Server 2019 CU10"),
        ("15.0.1104.5", "Exchange Server 2013 CU9"),
        ("14.3.248.2", "Exchange Server 2010 SP3 RU10"),
        ("8.3.417.1", "Exchange Server 2007 SP3 RU17"),
        ("08.03.0417.001", "Exchange Server 2007 SP3 RU17"),
        ("15.02.2562.046", "Exchange Server SE RTM Aug26SU"),
        // A library lags behind the release that it belongs to.
        ("14.01.0218.012", "about Exchange Server 2010 SP1 (14.1.218.15)"),
        ("15.00.0995.021", "about Exchange Server 2013 CU6 (15.0.995.29)"),
        ("15.1.2375.10", "about Exchange Server 2016 CU22 (15.1.2375.7)"),
        ("15.0.995.0", "about Exchange Server 2013 CU6 (15.0.995.29)"),
        // The path of Outlook on the web leaves the last number out.
        ("15.2.922", "about Exchange Server 2019 CU10 (15.2.922.7)"),
        ("14.01.0180.003", "a build before Exchange Server 2010 SP1 (14.1.218.15)"),
    ];
    for (text, name) in expected {
        assert_eq!(label(text), name, "{text}");
    }
    assert!(label("15.2.9999.1").starts_with("a build after Exchange Server SE RTM Aug26SU"));
    assert!(label("15.1.2400.1").starts_with("an interim build between Exchange Server 2016"));
    assert_eq!(label("16.0.1.1"), "no release of Exchange known here");
}

#[test]
fn versions_in_text_are_found_and_addresses_are_not() {
    let table = BuildTable::embedded();
    let text = "#Version: 15.01.2375.007\r\nEse Version 15.0.1076.9.\n\
        10.0.0.1 8.8.8.8 15.0.0.0 14.1.2.3 v15.1.2375.7 15.1.2375.7x 1.15.1.2375.7\n\
        <a href=\"/owa/15.2.922/\"> Version 15.1 (Build 32507.6) and 15.1.2375.7 again\n";
    let found: Vec<(usize, String, usize)> = mentions(&table, text)
        .into_iter()
        .map(|mention| (mention.line, mention.version.to_string(), mention.count))
        .collect();
    let expected =
        [(1, "15.1.2375.7", 2), (2, "15.0.1076.9", 1), (4, "15.2.922", 1), (4, "15.1.2507.6", 1)];
    assert_eq!(found, expected.map(|(line, version, count)| (line, version.to_owned(), count)));
}

#[test]
fn the_way_from_build_to_build_is_known() {
    let table = BuildTable::embedded();
    let named = |name: &str| table.named(name).unwrap();
    let same = table.compare(named("2016 CU23"), named("2016 CU23 Oct25SU"));
    assert_eq!((same.preparations, same.first), (vec![], None));
    let (new, old) = (named("2016 CU23 Oct25SU"), named("2016 CU1"));
    let long = table.compare(new, old);
    assert_eq!(long.first.unwrap().name(), "Exchange Server 2016 CU23");
    let schema = Preparation::Schema { from: 15323, to: 15334 };
    assert_eq!(long.preparations[0], schema);
    assert_eq!(long.preparations.len(), 3);
    // Setup of 2010 refuses if 2007 SP3 has already raised the schema.
    let refused = table.compare(named("2007 SP3"), named("2010 RTM"));
    assert_eq!(refused.sinking_schema, Some((14625, 14622)));
    let in_place = |one, other| table.compare(named(one), named(other)).is_in_place();
    assert!(in_place("2019 CU14", "SE RTM") && in_place("2016 CU1", "2016 CU23"));
    assert!(!in_place("2016 CU23", "SE RTM") && !in_place("2016 CU23", "2019 CU15"));
}

#[test]
fn another_table_is_read_by_its_headers() {
    let text = "notes,sources,extended_support_end,meso_object_version,org_object_version,\
        schema_range_upper,release_date,build,update,kind,level,product\n\
        ,x,2035-12-31,13243,16763,17003,2027-01-12,15.2.3000.1,,CU,CU1,Exchange Server SE\n";
    let table = BuildTable::parse(text).unwrap();
    assert_eq!(table.date(), "2027-01-12");
    let version = BuildNumber::parse("15.2.3000.1").unwrap();
    assert_eq!(table.identify(version).to_string(), "Exchange Server SE CU1");
    let bad = text.replace("15.2.3000.1", "15.2");
    let error = BuildTable::parse(&bad).unwrap_err();
    assert!(matches!(error, BuildTableError::Line { line: 2, .. }), "{error}");
    let error = BuildTable::parse("a,b\n1,2\n").unwrap_err();
    assert_eq!(error, BuildTableError::NoColumn("product"));
    let head = text.lines().next().unwrap();
    assert_eq!(BuildTable::parse(head).unwrap_err(), BuildTableError::Empty);
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "[0-9.()Build \u{e9}\n]{0,80}") {
        let table = BuildTable::embedded();
        let _ = mentions(&table, &text);
        let _ = BuildNumber::parse(&text);
        let _ = BuildTable::parse(&text);
    }
}
