//! A value that several forms print is the same in all: text, page, JSON, scenarios, the layout and
//! its document, over deployments drawn from every product, build and kind of site.

use plan::Deployment;
use provision::{Provision, Requirements, provision, size};
use serde_json::Value as Json;
use sizing::{Key, ServerKind, ShownQuantity, Sizing};

use crate::{
    Candidate, Sized, scenarios, scenarios_json, sizing_html, sizing_json, sizing_text_within,
};

const PRODUCTS: [&str; 5] = ["2010", "2013", "2016", "2019", "SE"];
const MAILBOXES: [u32; 4] = [800, 3_000, 9_375, 25_000];

/// The deployments: each product with each build in one site and in two, with and without lagged
/// copies.
fn documents() -> Vec<String> {
    let mut all = Vec::new();
    for at in 0..PRODUCTS.len() * 8 {
        let product = PRODUCTS[at / 8];
        let [raid, two_sites, lagged] = [1, 2, 4].map(|bit| at & bit != 0);
        let build = if raid { "raid" } else { "calculated" };
        let figures = match product {
            "2010" => "[figures]\nfrom = \"2013\"\n",
            "2019" | "SE" => "[figures]\nfrom = \"2016\"\n",
            _ => "",
        };
        let (lagged, sites) = (u32::from(lagged), 1 + u32::from(two_sites));
        let second = format!(
            "[second_site]\nmodel = \"active/active\"\ncopies = 2\nlagged_copies = {lagged}\n\
             [replication]\nlink_mbps = 45\nhourly_percent = [{}]\n",
            ["4"; 22].join(", ") + ", 6, 6"
        );
        all.push(format!(
            "product = \"{product}\"\n{figures}[[tier]]\nmailboxes = {}\nmessages_per_day = 120\n\
             size_limit = \"4GiB\"\n[availability]\nservers_per_site = 4\ncopies = {}\n\
             lagged_copies = {}\n[servers]\nspec_rate = 600\n[data]\nrestore_volume = {raid}\n\
             [storage]\nbuild = \"{build}\"\nautoreseed_volumes = 1\n{}",
            MAILBOXES[at % MAILBOXES.len()],
            if two_sites { 4 } else { 3 },
            lagged * sites,
            if two_sites { second.as_str() } else { "" },
        ));
    }
    all
}

/// A text without line breaks and repeated spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page without its tags.
fn bare(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    flat(&parts.collect::<String>())
}

fn parsed(json: &str) -> Json {
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn all_forms_agree() {
    for text in documents() {
        let deployment = Deployment::parse("d.toml", &text).expect("a deployment");
        let sizing = size(&deployment);
        let sized = Sized::new(&deployment, &sizing);
        let json = parsed(&sizing_json(sized));
        let said = flat(&sizing_text_within(sized, 1_000));
        // A narrow text lists findings one below another, so that their words stay together.
        let listed = flat(&sizing_text_within(sized, 60));
        findings_agree(&json, &listed, &bare(&sizing_html(sized, &[])));
        scenarios_agree(&deployment, &sizing, &json);
        let needs = Requirements::of(&deployment, &sizing.sheet, sizing.architecture);
        if let Ok(built) = needs.and_then(provision) {
            layout_agrees(&built, &sizing);
            failures_agree(&built, &json, &said);
        }
    }
}

/// Every finding is in text and page, and none is printed twice.
fn findings_agree(json: &Json, text: &str, page: &str) {
    let findings = json["findings"].as_array().expect("findings");
    for (at, of) in findings.iter().enumerate() {
        assert!(!findings[..at].contains(of), "twice: {of}");
        for part in ["text", "remedy"] {
            let words = flat(of[part].as_str().expect(part));
            assert!(text.contains(&words), "{words} is missing in {text}");
            let words = words.replace('`', "");
            assert!(page.contains(&*report::escape(&words)), "{words} is missing in the page");
        }
    }
}

/// A row of the scenarios has the numbers of the design.
fn scenarios_agree(deployment: &Deployment, sizing: &Sizing, json: &Json) {
    let candidates = [Candidate::of(Vec::new(), Ok(deployment.clone()))];
    let row = scenarios(&candidates);
    let cells: Vec<&str> = row.lines().nth(1).expect("a row").split("  ").map(str::trim).collect();
    let values = scenarios_json(&candidates)["ranked"][0]["values"].clone();
    for key in [Key::ServerAll, Key::DatabaseAll, Key::DiskAll, Key::MemoryAllGb] {
        let name = &*key.name();
        assert_eq!(values[name], json["values"][name]["value"], "{name}");
        let shown = ShownQuantity::of_number(key, sizing.number(key).expect(name)).written();
        assert!(cells.contains(&&*shown), "{name} {shown}: {cells:?}");
    }
    let worst = Key::ProcessorUtilWorst;
    let worst = ShownQuantity::of_number(worst, sizing.number(worst).expect("a share")).written();
    assert!(cells.contains(&&*worst), "{worst}: {cells:?}");
    let said = sizing_text_within(Sized::new(deployment, sizing), 1_000);
    assert!(said.contains(&format!("{worst} of the processors at the worst")), "{worst}: {said}");
}

/// The servers of the layout have the volumes of the sizing, and the limits that it is for.
fn layout_agrees(built: &Provision, sizing: &Sizing) {
    let number = |key: Key| sizing.number(key);
    let server = &built.groups[0].servers[0];
    assert_eq!(number(Key::VolumeTotalPerServer), Some(server.volumes.len() as f64));
    let servers: usize = built.groups.iter().map(|group| group.servers.len()).sum();
    assert_eq!(number(Key::ServerAll), Some(servers as f64));
    let databases: usize = built.groups.iter().map(|group| group.databases.len()).sum();
    assert_eq!(number(Key::DatabaseAll), Some(databases as f64));
    let sized = number(Key::ServerWorstActiveDbs(ServerKind::First));
    assert_eq!(Some(server.limits.most as f64), sized);
    let document = built.to_markdown();
    let limit = built.groups[0].limits().most;
    assert!(document.contains(&format!("Active databases of a server: {limit} at most")));
}

/// Text, JSON and document have the same failures, and a group without a quorum serves nothing.
fn failures_agree(built: &Provision, json: &Json, text: &str) {
    let failures = json["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), built.modes.len());
    let document = built.to_markdown();
    let databases = built.groups[0].databases.len();
    for of in failures {
        let name = of["failure"].as_str().expect("a name");
        let (least, most) = (&of["active"][0], &of["active"][1]);
        let (down, lost, ways) = (&of["not_active"], &of["lost"], &of["ways"]);
        let quorum = of["quorum"].as_str().expect("a quorum");
        let row = format!("{name} {ways} {quorum} {least} {most} ");
        let after = text.split_once(&row).unwrap_or_else(|| panic!("no {row}: {text}")).1;
        let cells: Vec<&str> = after.split(' ').take(5).collect();
        let expected = [down.to_string(), lost.to_string()];
        assert_eq!(cells[3..], expected, "{row}");
        let cells = format!("| {least} to {most} | {down} | {lost} |");
        let mut lines = document.lines().filter(|line| line.starts_with(&format!("| {name} |")));
        assert!(lines.any(|line| line.contains(&cells)), "{cells}: {document}");
        if quorum == "lost" {
            assert_eq!((least.as_u64(), down.as_u64()), (Some(0), Some(databases as u64)), "{row}");
        }
        if of["ways_stopped"] == *ways && quorum == "lost" {
            assert_eq!(most.as_u64(), Some(0), "{row}");
        }
    }
}
