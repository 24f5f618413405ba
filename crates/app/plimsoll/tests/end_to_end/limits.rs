//! `limits`: values of real servers, and edits that change nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::samples;

use crate::scene::{Ran, Scene};

/// Files of an Exchange 2016 and a 2019 server; they lie outside the repository.
fn real_files(scene: &Scene) -> bool {
    let Some(packed) = samples::find("webconfig.tar.gz") else {
        return false;
    };
    let unpacked =
        Command::new("tar").arg("xzf").arg(&packed).arg("-C").arg(&scene.folder).status();
    assert!(unpacked.unwrap().success());
    true
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.expect_code(0).out).unwrap()
}

/// Protocol, side, setting, bytes, places; 0 places is a default.
type Row = (&'static str, &'static str, &'static str, u64, u64);

const CONTENT: &str = "maxAllowedContentLength";
const REQUEST: &str = "maxRequestLength";
const RECEIVED: &str = "maxReceivedMessageSize";
const STRING: &str = "maxStringContentLength";
const DOCUMENTS: &str = "MaxDocumentDataSize";

/// As documented and as found in both servers.
const EXPECTED: [Row; 23] = [
    ("EWS", "front end", CONTENT, 67_108_864, 1),
    ("EWS", "front end", REQUEST, 2_097_151 << 10, 1),
    ("EWS", "back end", CONTENT, 67_108_864, 1),
    ("EWS", "back end", RECEIVED, 67_108_864, 14),
    ("OWA", "front end", CONTENT, 35_000_000, 1),
    ("OWA", "front end", REQUEST, 35_000 << 10, 1),
    ("OWA", "back end", CONTENT, 35_000_000, 1),
    ("OWA", "back end", REQUEST, 35_000 << 10, 1),
    ("OWA", "back end", RECEIVED, 35_000_000, 2),
    ("OWA", "back end", STRING, 35_000_000, 2),
    ("ActiveSync", "front end", CONTENT, 30_000_000, 0),
    ("ActiveSync", "front end", REQUEST, 10_240 << 10, 1),
    ("ActiveSync", "back end", CONTENT, 30_000_000, 0),
    ("ActiveSync", "back end", REQUEST, 10_240 << 10, 1),
    ("ActiveSync", "back end", DOCUMENTS, 10_240_000, 1),
    ("REST", "front end", CONTENT, 67_108_864, 1),
    ("REST", "back end", CONTENT, 209_715_200, 1),
    ("REST", "back end", REQUEST, 204_800 << 10, 1),
    ("ECP", "front end", CONTENT, 35_000_000, 1),
    ("MAPI", "front end", CONTENT, 2_147_483_648, 1),
    ("MAPI", "back end", CONTENT, 4_194_304, 1),
    ("RPC", "front end", CONTENT, 2_147_483_648, 1),
    // From applicationHost.config: the file itself says nothing.
    ("RPC", "back end", CONTENT, 2_147_483_648, 1),
];

#[test]
fn real_servers_have_the_documented_limits() {
    let scene = Scene::new("limits-real");
    if !real_files(&scene) {
        return;
    }
    let shown = json(&scene.run(["limits", "show", "webconfig", "--json"]));
    let servers = shown["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 2);
    for server in servers {
        let protocol = |name: &str| {
            let mut protocols = server["protocols"].as_array().unwrap().iter();
            protocols.find(|row| row["protocol"] == name).unwrap()
        };
        for (name, side, setting, bytes, places) in EXPECTED {
            let limits = protocol(name)["limits"].as_array().unwrap();
            let found = limits
                .iter()
                .find(|limit| limit["side"] == side && limit["setting"] == setting)
                .unwrap();
            assert_eq!(found["bytes"], bytes, "{name} {side} {setting}");
            assert_eq!(found["places"].as_u64().unwrap_or(0), places, "{name} {side} {setting}");
        }
        assert_eq!(protocol("OWA")["upload"]["bytes"], 35_000_000);
        assert_eq!(protocol("EWS")["upload"]["bytes"], 67_108_864);
        assert_eq!(protocol("ActiveSync")["upload"]["bytes"], 10_240 << 10);
        assert_eq!(protocol("ActiveSync")["download"]["bytes"], 10_240_000);
        assert_eq!(protocol("OWA")["download"], Value::Null);
    }
    let text = scene.run(["limits", "show", "webconfig/E19"]);
    text.expect_code(0).expect_out(&[
        "35000000 bytes (33.4 MiB), decided by",
        "ExchangeBackEnd-OWA_web.config:77",
        "perhaps without effect",
        "not limited by these files",
    ]);
}

/// The file without the values of the attributes that may change.
fn masked(text: &str, names: &[&str]) -> (String, usize) {
    let text = text.replace("MaxDocumentDataSize\" value=", "MaxDocumentDataSize value=");
    let mut parts: Vec<&str> = text.split('"').collect();
    let mut count = 0;
    for at in 1..parts.len() {
        let named = names.iter().any(|name| parts[at - 1].ends_with(name));
        let number = !parts[at].is_empty() && parts[at].bytes().all(|byte| byte.is_ascii_digit());
        if named && number {
            parts[at] = "N";
            count += 1;
        }
    }
    (parts.join("\""), count)
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(&path).unwrap())
        })
        .collect()
}

const SET: [&str; 9] =
    ["limits", "set", "webconfig", "--owa", "50MiB", "--ews", "100MiB", "--activesync", "25MiB"];

#[test]
fn set_and_read_changes_only_what_was_meant() {
    let scene = Scene::new("limits-set");
    if !real_files(&scene) {
        return;
    }
    let folders = ["webconfig/E16", "webconfig/E19"].map(|folder| scene.path(folder));
    let before = folders.clone().map(|folder| files(&folder));
    // A dry run shows everything and writes nothing.
    let dry = scene.run(SET);
    dry.expect_code(0).expect_out(&[
        "maxReceivedMessageSize (httpsBinding) 35000000 -> 52428800",
        "maxAllowedContentLength not set -> 26214400",
        "Nothing was written",
    ]);
    assert_eq!(folders.clone().map(|folder| files(&folder)), before);
    let written = scene.run(SET.into_iter().chain(["--write"]));
    written.expect_code(0).expect_out(&[
        "backup: ",
        "recycle MSExchangeOWAAppPool",
        "recycle MSExchangeSyncAppPool",
    ]);
    for (folder, before) in folders.iter().zip(&before) {
        compare(before, &files(folder));
    }
    let shown = json(&scene.run(["limits", "show", "webconfig", "--json"]));
    for server in shown["servers"].as_array().unwrap() {
        for (name, bytes) in [("OWA", 50 << 20), ("EWS", 100 << 20), ("ActiveSync", 25 << 20)] {
            let mut protocols = server["protocols"].as_array().unwrap().iter();
            let protocol = protocols.find(|row| row["protocol"] == name).unwrap();
            assert_eq!(protocol["upload"]["bytes"], bytes, "{name}");
            assert_eq!(protocol["upload"]["perhaps_bytes"], bytes, "{name}");
        }
    }
    // A second time there is nothing to do.
    scene.run(SET.into_iter().chain(["--write"])).expect_code(0).expect_out(&["Nothing to do"]);
}

fn compare(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    let mut changed = Vec::new();
    for (name, old) in before {
        let new = &after[name];
        if old == new {
            continue;
        }
        changed.push(name.as_str());
        let backup = after
            .iter()
            .find(|(other, _)| other.starts_with(&format!("{name}.")) && other.contains(".bak"));
        assert_eq!(backup.unwrap().1, old, "{name}: the backup is the old file");
        let [old, new] = [old, new].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
        let request = if name.contains("-EWS_") { " none" } else { " maxRequestLength=" };
        let names = [
            " maxAllowedContentLength=",
            request,
            " maxReceivedMessageSize=",
            " maxStringContentLength=",
            "MaxDocumentDataSize value=",
        ];
        // ActiveSync gets a section that was not there; without it the files are compared.
        let added = new
            .find("<security>")
            .filter(|_| name.contains("-EAS_") && new.contains("requestLimits"));
        let new = match added {
            Some(at) => {
                let start = new[..at].rfind('\n').unwrap() + 1;
                let end = new.find("</security>\n").unwrap() + "</security>\n".len();
                format!("{}{}", &new[..start], &new[end..])
            }
            None => new,
        };
        assert!(masked(&old, &names) == masked(&new, &names), "{name}: more has changed");
    }
    let expected = [
        "DefaultWebSite-EAS_web.config",
        "DefaultWebSite-EWS_web.config",
        "DefaultWebSite-OWA_web.config",
        "ExchangeBackEnd-EAS_web.config",
        "ExchangeBackEnd-EWS_web.config",
        "ExchangeBackEnd-OWA_web.config",
    ];
    assert_eq!(changed, expected);
}

#[test]
fn an_installation_is_found_whatever_the_case_of_its_folders() {
    let scene = Scene::new("limits-installed");
    let file = "<configuration>\r\n  <system.web>\r\n\
        \x20   <httpRuntime maxRequestLength=\"9\" />\r\n\
        \x20 </system.web>\r\n  <system.webServer>\r\n  </system.webServer>\r\n\
        </configuration>\r\n";
    for folder in ["FrontEnd/HttpProxy/sync", "ClientAccess/SYNC"] {
        fs::create_dir_all(scene.path(folder)).unwrap();
        fs::write(scene.path(folder).join("Web.Config"), file).unwrap();
    }
    let shown = scene.run(["limits", "show", "."]);
    shown.expect_code(0).expect_out(&["ActiveSync", "9216 bytes"]);
    let words = ["limits", "set", ".", "--activesync", "1MiB", "--write"];
    scene.run(words).expect_code(0);
    let changed = fs::read_to_string(scene.path("ClientAccess/SYNC/Web.Config")).unwrap();
    assert!(changed.contains("maxRequestLength=\"1024\""), "{changed}");
    assert!(changed.contains("<requestLimits maxAllowedContentLength=\"1048576\" />\r\n"));
    scene
        .run(["limits", "set", ".", "--owa", "1MiB", "--write"])
        .expect_refusal(&["OWA", "nothing is changed"]);
    scene.run(["limits", "set", ".", "--activesync", "2GiB"]).expect_refusal(&["2147483647"]);
    let broken = changed.replace("</system.web>", "");
    fs::write(scene.path("ClientAccess/SYNC/Web.Config"), broken).unwrap();
    scene.run(["limits", "show", "."]).expect_refusal(&["ClientAccess", "not XML"]);
    let empty = Scene::new("limits-empty");
    empty
        .run(["limits", "show", "."])
        .expect_refusal(&["no configuration files", "DefaultWebSite-OWA_web.config"]);
    empty.run(["limits", "set", "."]).expect_code(64);
}

#[test]
fn what_the_server_locks_is_shown_and_not_set() {
    let scene = Scene::new("limits-locked");
    let own = "<configuration><system.webServer><security><requestFiltering><requestLimits \
         maxAllowedContentLength=\"7\"/></requestFiltering></security></system.webServer>\
         <system.web><httpRuntime maxRequestLength=\"7\"/></system.web></configuration>";
    scene.write("DefaultWebSite-OWA_web.config", own.as_bytes());
    scene.write("ExchangeBackEnd-OWA_web.config", own.as_bytes());
    let host = |location: &str| {
        format!(
            "<configuration>\n<location {location}><system.webServer><security><requestFiltering/>\
             </security></system.webServer></location>\n</configuration>"
        )
    };
    let folder = scene.folder.to_str().unwrap();
    let set = ["limits", "set", folder, "--owa", "50MiB", "--write"];
    let locked = host("path=\"Exchange Back End\" allowOverride=\"false\"");
    scene.write("applicationHost.config", locked.as_bytes());
    let before = scene.snapshot();
    let parts = ["Exchange Back End/owa", "allowOverride", "line 2", "nothing is changed"];
    scene.run(set).expect_refusal(&parts);
    assert_eq!(scene.snapshot(), before);
    let shown = scene.run(["limits", "show", folder]);
    shown.expect_code(0).expect_out(&["back end: maxAllowedContentLength is locked", "500.19"]);
    let shown = json(&scene.run(["limits", "show", folder, "--json"]));
    let locks = shown["servers"][0]["protocols"][0]["locks"].as_array().unwrap();
    assert_eq!((locks.len(), &locks[0]["by"]), (1, &Value::from("allowOverride")));
    let open = host("path=\"Exchange Back End\" overrideMode=\"Allow\"");
    scene.write("applicationHost.config", open.as_bytes());
    scene.run(set).expect_code(0).expect_out(&["backup: "]);
}
