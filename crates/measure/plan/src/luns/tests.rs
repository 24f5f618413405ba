//! Valid LUN documents, and the complaints about invalid ones.

use std::net::SocketAddr;

use units::Bytes;

use super::{ChapMode, LunAccess, LunContent, LunDocument};

const SMALL: &str = r#"
target = "iqn.2026-01.org.example:mail"
portals = ["127.0.0.1", "[::1]:3261"]

[[pool]]
folder = "/srv/luns"

[[initiator]]
name = "EX01"
iqn = "iqn.1991-05.com.microsoft:ex01"

[[initiator]]
name = "BACKUP"
iqn = "eui.02004567A425678D"
access = "none"

[[lun]]
size = "20GiB"

[[lun]]
name = "log"
size = "16GiB"
holds = "logs"
read_write = ["EX01"]
read = ["BACKUP"]
"#;

fn complaints(text: &str) -> String {
    LunDocument::parse("luns.toml", text).unwrap_err().to_string()
}

#[test]
fn the_example_is_a_document() {
    let document = LunDocument::parse("example", LunDocument::example()).unwrap();
    assert_eq!(document.authentication, ChapMode::OneWay);
    assert_eq!(document.luns[0].content, Some(Bytes::from_gib(900)));
}

#[test]
fn what_is_not_said_has_its_default() {
    let document = LunDocument::parse("luns.toml", SMALL).unwrap();
    let portals = ["127.0.0.1:3260", "[::1]:3261"].map(|text| text.parse::<SocketAddr>().unwrap());
    assert_eq!(document.portals, portals);
    assert_eq!((document.luns[0].name.as_str(), document.luns[0].pool.as_str()), ("lun1", "pool1"));
    assert_eq!(document.luns[0].holds, LunContent::Databases);
    assert_eq!(document.luns[0].access, None);
    let named = (vec!["EX01".to_owned()], vec!["BACKUP".to_owned()]);
    assert_eq!(document.luns[1].access, Some(named));
    assert_eq!(document.initiators[1].access, LunAccess::None);
}

#[test]
fn every_contradiction_is_named_with_the_way_out() {
    for (from, to, expected) in [
        ("iqn.2026-01.org.example:mail", "iqn.2026-13.org.example", "is no name of iSCSI"),
        ("iqn.2026-01.org.example:mail", "iqn.2026-01.org.example:Mail", "small letters"),
        ("127.0.0.1", "localhost", "`localhost` is no address"),
        ("/srv/luns", "srv/luns", "whole path"),
        ("/srv/luns", "/srv/../etc", "whole path"),
        ("/srv/luns", "/srv/a,b", "commas"),
        ("\"EX01\"\niqn", "\"EX 01\"\niqn", "no name for a part of a target"),
        ("\"log\"", "\"Lun1\"", "`lun1` is there twice"),
        ("[\"EX01\"]", "[\"EX09\"]", "`EX09` is the name of no [[initiator]]"),
        ("read = [\"BACKUP\"]", "read = [\"EX01\"]", "stands in `read_write` too"),
        ("\"20GiB\"", "\"20 bananas\"", "takes a size"),
        ("holds = \"logs\"", "holds = \"mail\"", "`mail` is not known"),
        ("holds = \"logs\"", "hold = \"logs\"", "did you mean `holds`"),
        ("[[pool]]", "array = \"vnxe3300\"\n[[pool]]", "give `deployment` as well"),
        ("folder = \"/srv/luns\"", "folder = \"/srv/luns\"\nholds = [\"logs\"]", "lies nowhere"),
    ] {
        let said = complaints(&SMALL.replacen(from, to, 1));
        assert!(said.contains(expected), "{to}: {said}");
    }
    assert!(complaints("name = \"x\"").contains("[[initiator]]"));
}
