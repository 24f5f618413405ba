//! Small files with the features of real ones: limits within locations, bindings, unusual line
//! ends.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use limits::{
    APPLICATIONS, Application, ConfigError, ConfigFile, Direction, Protocol, RulePlace, Server,
    SettingKind, Side, apply, hosted_applications, needs_recycling, plan,
};
use proptest::prelude::*;

const OWA_BACK: &str = "\u{feff}<?xml version=\"1.0\"?>\r\n<configuration>\r\n\
    \x20 <location inheritInChildApplications=\"false\">\r\n\
    \x20   <system.webServer>\r\n\
    \x20     <security><requestFiltering a=\"1\">\r\n\
    \x20       <requestLimits maxQueryString='4096' maxAllowedContentLength = \"35000000\" />\r\n\
    \x20     </requestFiltering></security>\r\n\
    \x20   </system.webServer>\r\n\
    \x20   <system.web>\
    <httpRuntime maxRequestLength=\"35000\" fcnMode=\"Disabled\"/></system.web>\r\n\
    \x20 </location>\r\n\
    \x20 <location path=\"smime\"><system.web>\
    <httpRuntime maxRequestLength=\"1\"/></system.web></location>\r\n\
    \x20 <!-- maxAllowedContentLength=\"7\" -->\r\n\
    \x20 <system.serviceModel><bindings><wsHttpBinding>\
    <binding name=\"x\" maxReceivedMessageSize=\"3\"/>\
    </wsHttpBinding><webHttpBinding>\
    <binding name=\"MsOnlineShellService_B\" maxReceivedMessageSize=\"102400\"/>\
    <binding name=\"httpsBinding\" maxReceivedMessageSize=\"35000000\">\
    <readerQuotas maxStringContentLength=\"34000000\" maxDepth=\"32\"/></binding>\
    </webHttpBinding></bindings></system.serviceModel>\r\n\
    </configuration>\r\n";

const SYNC: &str = "<configuration>\n\t<appSettings>\n\
    \t\t<add key=\"MaxDocumentDataSize\" value=\"10240000\">\n\t\t</add>\n\t</appSettings>\n\
    \t<system.web>\n\t\t<httpRuntime maxRequestLength=\"10240\" />\n\t</system.web>\n\
    \t<system.webServer>\n\t\t<modules>\n\
    \t\t\t<remove name=\"RequestFilteringModule\" />\n\t\t</modules>\n\t</system.webServer>\n\
    </configuration>";

fn application(protocol: Protocol, side: Side) -> Application {
    *APPLICATIONS.iter().find(|row| (row.protocol, row.side) == (protocol, side)).unwrap()
}

fn file(text: &str) -> ConfigFile {
    ConfigFile::parse("web.config", text.as_bytes()).unwrap()
}

fn server(protocol: Protocol, side: Side, text: &str) -> Server {
    Server { applications: vec![(application(protocol, side), file(text))], ..Server::default() }
}

#[test]
fn the_lowest_limit_of_the_whole_application_decides() {
    let chains = server(Protocol::Owa, Side::BackEnd, OWA_BACK).chains().unwrap();
    let [owa] = chains.as_slice() else {
        panic!("{chains:?}");
    };
    assert_eq!(owa.missing, [Side::FrontEnd]);
    let (bytes, deciding) = owa.effective(Direction::Upload).unwrap();
    assert_eq!((bytes, deciding.len()), (34_000_000, 1));
    assert_eq!(deciding[0].kind, SettingKind::StringContent);
    let all: Vec<(SettingKind, u64)> =
        owa.links.iter().map(|link| (link.kind, link.bytes)).collect();
    let expected = [
        (SettingKind::ContentLength, 35_000_000),
        (SettingKind::RequestLength, 35_000 * 1024),
        (SettingKind::ReceivedMessage, 35_000_000),
        (SettingKind::StringContent, 34_000_000),
    ];
    assert_eq!(all, expected);
    assert_eq!(owa.effective(Direction::Download), None);
}

#[test]
fn defaults_count_and_a_removed_filter_is_doubted() {
    let chains = server(Protocol::ActiveSync, Side::FrontEnd, SYNC).chains().unwrap();
    let content = &chains[0].links[0];
    assert_eq!((content.bytes, &content.place), (30_000_000, &RulePlace::Default));
    assert!(!content.is_certain);
    let documents = chains[0].effective(Direction::Download).unwrap();
    assert_eq!(documents.0, 10_240_000);
    // If the uncertain limit is the lowest, both answers are given.
    let high = SYNC.replace("10240\"", "2000000\"");
    let chains = server(Protocol::ActiveSync, Side::FrontEnd, &high).chains().unwrap();
    assert_eq!(chains[0].effective(Direction::Upload).unwrap().0, 2_000_000 << 10);
    assert_eq!(chains[0].perhaps(Direction::Upload).unwrap().0, 30_000_000);
}

#[test]
fn limits_are_inherited_unless_a_location_forbids_it() {
    let empty = "<configuration><system.webServer/></configuration>";
    let limits = "<system.webServer><security><requestFiltering>\
        <requestLimits maxAllowedContentLength=\"5\"/></requestFiltering></security>\
        </system.webServer>";
    let host = format!(
        "<configuration><location path=\"Default Web Site/owa\">{limits}</location></configuration>"
    );
    let mut server = server(Protocol::Owa, Side::FrontEnd, empty);
    let content = |server: &Server| server.chains().unwrap()[0].links[0].bytes;
    assert_eq!(content(&server), 30_000_000);
    server.host = Some(file(&host));
    assert_eq!(content(&server), 5);
    server.host = Some(file(&host.replace("/owa", "/ecp")));
    assert_eq!(content(&server), 30_000_000);
    let site = format!("<configuration>{limits}</configuration>").replace('5', "6");
    server.sites = vec![(Side::FrontEnd, file(&site))];
    assert_eq!(content(&server), 6);
    let closed = site.replace(
        "<configuration>",
        "<configuration><location inheritInChildApplications=\"false\">",
    );
    let closed = closed.replace("</configuration>", "</location></configuration>");
    server.sites = vec![(Side::FrontEnd, file(&closed))];
    assert_eq!(content(&server), 30_000_000);
}

#[test]
fn only_the_numbers_change() {
    let old = file(OWA_BACK);
    let place = application(Protocol::Owa, Side::BackEnd);
    let edits = plan(&old, &place, 41_943_040).unwrap();
    let new = apply(&old, &edits);
    let expected = OWA_BACK
        .replace("h = \"35000000\"", "h = \"41943040\"")
        .replace("\"35000\"", "\"40960\"")
        .replace("Size=\"35000000\"", "Size=\"41943040\"")
        .replace("34000000", "41943040");
    assert_eq!(new, expected);
    assert!(needs_recycling(&old).unwrap());
    // A second pass finds nothing left to do.
    assert_eq!(plan(&file(&new), &place, 41_943_040).unwrap(), []);
    // One byte more needs another kilobyte.
    let edits = plan(&old, &place, 41_943_041).unwrap();
    let request = edits.iter().find(|edit| edit.kind == SettingKind::RequestLength);
    assert_eq!(request.unwrap().new, 40_961);
}

#[test]
fn a_missing_section_is_added_in_the_manner_of_the_file() {
    let old = file(SYNC);
    let place = application(Protocol::ActiveSync, Side::FrontEnd);
    let edits = plan(&old, &place, 20 << 20).unwrap();
    let added = "\t\t</modules>\n\t\t<security>\n\t\t\t<requestFiltering>\n\
        \t\t\t\t<requestLimits maxAllowedContentLength=\"20971520\" />\n\
        \t\t\t</requestFiltering>\n\t\t</security>\n\t</system.webServer>";
    let expected = SYNC
        .replace("\t\t</modules>\n\t</system.webServer>", added)
        .replace("10240\"", "20480\"")
        .replace("10240000", "20971520");
    assert_eq!(apply(&old, &edits), expected);
    let bare = "<configuration><system.web><httpRuntime/></system.web><system.webServer><security>\
        <requestFiltering><requestLimits/></requestFiltering></security></system.webServer>\
        </configuration>";
    let edits = plan(&file(bare), &place, 1 << 20).unwrap();
    let new = apply(&file(bare), &edits);
    assert!(new.contains("<httpRuntime maxRequestLength=\"1024\"/>"), "{new}");
    assert!(new.contains("<requestLimits maxAllowedContentLength=\"1048576\"/>"), "{new}");
}

#[test]
fn what_is_not_understood_is_refused() {
    let place = application(Protocol::Owa, Side::BackEnd);
    let planned = |text: &str| plan(&file(text), &place, 1 << 20).unwrap_err();
    let twice = OWA_BACK.replace(
        "</configuration>",
        "<system.web><httpRuntime maxRequestLength=\"9\"/></system.web></configuration>",
    );
    assert!(matches!(planned(&twice), ConfigError::Twice { .. }));
    let odd = OWA_BACK.replace("\"35000\"", "\"35 MB\"");
    assert!(matches!(planned(&odd), ConfigError::NoNumber { line: 9, .. }));
    let entity = OWA_BACK.replace("\"35000\"", "\"3&#53;000\"");
    assert!(matches!(planned(&entity), ConfigError::NoNumber { .. }));
    let moved = OWA_BACK.replace("<httpRuntime ", "<httpRuntime configSource=\"r.config\" ");
    assert!(matches!(planned(&moved), ConfigError::Elsewhere { line: 9, .. }));
    let closed =
        "<configuration><system.web><httpRuntime/></system.web><system.webServer/></configuration>";
    assert!(matches!(planned(closed), ConfigError::NoPlace { section: "system.webServer", .. }));
    let parse = |bytes: &[u8]| ConfigFile::parse("f", bytes).unwrap_err();
    assert!(matches!(parse(b"<a/>"), ConfigError::NotConfiguration { .. }));
    assert!(matches!(parse(b"<a>"), ConfigError::NotXml { .. }));
    assert!(matches!(parse(b"\xFF\xFE<\0"), ConfigError::NotText { .. }));
    let typed = b"<!DOCTYPE a [<!ENTITY e 'x'>]><configuration>&e;</configuration>";
    assert!(matches!(parse(typed), ConfigError::NotXml { .. }));
}

#[test]
fn applications_and_their_pools_are_listed() {
    let host = "<configuration><system.applicationHost><sites><site name=\"Exchange Back End\">\
        <application path=\"/owa\" applicationPool=\"P\">\
        <virtualDirectory path=\"/x\" physicalPath=\"no\"/>\
        <virtualDirectory path=\"/\" physicalPath=\"C:\\E\\owa\"/></application></site></sites>\
        </system.applicationHost></configuration>";
    let found = hosted_applications(&file(host)).unwrap();
    assert_eq!(found.len(), 1);
    let row = &found[0];
    let fields = [&row.site, &row.path, &row.pool, &row.folder].map(String::as_str);
    assert_eq!(fields, ["Exchange Back End", "/owa", "P", "C:\\E\\owa"]);
}

proptest! {
    #[test]
    fn any_wanted_size_is_what_is_read_afterwards(bytes in 1_u64..=limits::LARGEST_BYTES) {
        for (protocol, side, text) in [
            (Protocol::Owa, Side::BackEnd, OWA_BACK),
            (Protocol::ActiveSync, Side::FrontEnd, SYNC),
        ] {
            let edits = plan(&file(text), &application(protocol, side), bytes).unwrap();
            let new = apply(&file(text), &edits);
            let chains = server(protocol, side, &new).chains().unwrap();
            prop_assert_eq!(chains[0].perhaps(Direction::Upload).unwrap().0, bytes);
        }
    }

    #[test]
    fn no_damage_makes_it_panic(at in 0_usize..OWA_BACK.len(), byte in any::<u8>()) {
        let mut bytes = OWA_BACK.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(file) = ConfigFile::parse("f", &bytes) {
            let place = application(Protocol::Owa, Side::BackEnd);
            if let Ok(edits) = plan(&file, &place, 1 << 20) {
                let _ = apply(&file, &edits);
            }
        }
    }
}
