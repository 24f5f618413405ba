//! Settings that applicationHost.config and a site's file lock for the files of applications.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use limits::{APPLICATIONS, Application, ConfigFile, Protocol, Server, Side};

const OWN: &str = "<configuration>\n<system.webServer><security><requestFiltering>\
    <requestLimits maxAllowedContentLength=\"7\"/></requestFiltering></security>\
    </system.webServer>\n</configuration>";

fn owa() -> Application {
    *APPLICATIONS
        .iter()
        .find(|row| (row.protocol, row.side) == (Protocol::Owa, Side::FrontEnd))
        .unwrap()
}

fn file(name: &str, text: &str) -> ConfigFile {
    ConfigFile::parse(name, text.as_bytes()).unwrap()
}

fn host(body: &str) -> Server {
    let text = format!("<configuration>\n{body}\n</configuration>");
    Server {
        host: Some(file("applicationHost.config", &text)),
        applications: vec![(owa(), file("web.config", OWN))],
        ..Server::default()
    }
}

fn location(attributes: &str, filtering: &str, limits: &str) -> String {
    format!(
        "<location {attributes}><system.webServer><security><requestFiltering {filtering}>\
         <requestLimits {limits}/></requestFiltering></security></system.webServer></location>\n"
    )
}

fn locked_by(server: &Server) -> Option<(u32, &'static str)> {
    let chain = server.chains().unwrap().remove(0);
    let lock = chain.locks.into_iter().next();
    let refusal = server.refuse_locked(&owa());
    assert_eq!(lock.is_some(), refusal.is_err());
    if let Err(error) = refusal {
        let text = error.to_string();
        assert!(text.starts_with("Default Web Site/owa: maxAllowedContentLength is locked by "));
        assert!(text.contains("nothing is changed"), "{text}");
    }
    lock.map(|(_, lock)| (lock.line, lock.by))
}

#[test]
fn a_location_locks_what_lies_below_it() {
    let locks = |attributes: &str| locked_by(&host(&location(attributes, "", "")));
    assert_eq!(locks("overrideMode=\"Deny\""), Some((2, "overrideMode")));
    let site = "path=\"default web site\" allowOverride=\"false\"";
    assert_eq!(locks(site), Some((2, "allowOverride")));
    assert_eq!(locks("path=\".\" overrideMode=\"Deny\""), Some((2, "overrideMode")));
    for open in [
        "path=\"Exchange Back End\" overrideMode=\"Deny\"",
        "path=\"Default Web Site/ews\" overrideMode=\"Deny\"",
        "path=\"Default Web Site/owa\" overrideMode=\"Inherit\"",
        "path=\"Default Web Site/owa\"",
    ] {
        assert_eq!(locks(open), None, "{open}");
    }
    let other = "<location overrideMode=\"Deny\"><system.webServer><handlers/></system.webServer>\
        </location>";
    assert_eq!(locked_by(&host(other)), None, "another section is locked");
}

#[test]
fn the_nearest_word_counts() {
    let deny = |path: &str| location(&format!("path=\"{path}\" overrideMode=\"Deny\""), "", "");
    let allow = |path: &str| location(&format!("path=\"{path}\" overrideMode=\"Allow\""), "", "");
    let locks = |body: String| locked_by(&host(&body));
    let site = "Default Web Site";
    assert_eq!(locks(deny(site) + &allow("Default Web Site/owa")), None);
    assert_eq!(locks(allow("Default Web Site/owa") + &deny(site)), None);
    assert_eq!(locks(allow(site) + &deny("Default Web Site/owa")), Some((3, "overrideMode")));
    assert_eq!(locks(deny(site) + &allow(site)), Some((2, "overrideMode")));
}

#[test]
fn the_declaration_of_the_section_locks_until_a_location_opens_it() {
    let declared = |word: &str| {
        format!(
            "<configSections><sectionGroup name=\"system.webServer\"><section name=\"x\"/>\
             <sectionGroup name=\"security\">\
             <section name=\"access\" overrideModeDefault=\"Deny\"/>\
             <section name=\"requestFiltering\" {word}/></sectionGroup></sectionGroup>\
             </configSections>\n"
        )
    };
    let denied = declared("overrideModeDefault=\"Deny\"");
    assert_eq!(locked_by(&host(&declared("overrideModeDefault=\"Allow\""))), None);
    assert_eq!(locked_by(&host(&denied)), Some((2, "overrideModeDefault")));
    let open = location("overrideMode=\"Allow\"", "", "");
    assert_eq!(locked_by(&host(&(denied + &open))), None);
    let only = declared("allowDefinition=\"AppHostOnly\"");
    assert_eq!(locked_by(&host(&only)), Some((2, "allowDefinition")));
}

#[test]
fn single_attributes_and_elements_are_locked() {
    let locks = |filtering: &str, limits: &str| {
        locked_by(&host(&location("path=\"Default Web Site\"", filtering, limits)))
            .map(|(_, by)| by)
    };
    let named = "lockAttributes=\"maxUrl, maxAllowedContentLength\"";
    assert_eq!(locks("", named), Some("lockAttributes"));
    assert_eq!(locks("", "lockAttributes=\"*\""), Some("lockAttributes"));
    assert_eq!(locks("", "lockAttributes=\"maxUrl\""), None);
    let but = "lockAllAttributesExcept=\"maxUrl\"";
    assert_eq!(locks("", but), Some("lockAllAttributesExcept"));
    let but = "lockAllAttributesExcept=\"maxAllowedContentLength\"";
    assert_eq!(locks("", but), None);
    assert_eq!(locks("", "lockItem=\"true\""), Some("lockItem"));
    assert_eq!(locks("lockItem=\"true\"", ""), Some("lockItem"));
    assert_eq!(locks("lockElements=\"requestLimits\"", ""), Some("lockElements"));
    let but = "lockAllElementsExcept=\"verbs\"";
    assert_eq!(locks(but, ""), Some("lockAllElementsExcept"));
    assert_eq!(locks("lockElements=\"verbs\"", "lockItem=\"false\""), None);
}

#[test]
fn the_file_of_a_site_locks_its_applications() {
    let site = |path: &str| {
        let text = location(&format!("path=\"{path}\" allowOverride=\"false\""), "", "");
        let text = format!("<configuration>\n{text}</configuration>");
        let mut server = host("");
        server.sites = vec![(Side::FrontEnd, file("site.config", &text))];
        locked_by(&server)
    };
    assert_eq!(site("."), Some((2, "allowOverride")));
    assert_eq!(site("OWA"), Some((2, "allowOverride")));
    assert_eq!(site("ecp"), None);
}
