//! Sizings in every form: no form loses anything, every key is explained, and no link is broken.

use plan::Deployment;
use provision::size;
use sizing::{Key, ServerKind};

use super::sizing_text;
use crate::{Sized, explain, sizing_html, sizing_json, sizing_text_within};

/// One site with copies; two sites with everything; servers without copies; with SSDs.
pub(super) const DEPLOYMENTS: [&str; 4] = [
    "[availability]\nservers_per_site = 4\ncopies = 3\n",
    "[availability]\nservers_per_site = 4\ncopies = 4\nlagged_copies = 2\n[second_site]\n\
     model = \"active/active\"\ncopies = 2\nlagged_copies = 1\n[servers]\nspec_rate = 540\n\
     [replication]\nlink_mbps = 10\nhourly_percent = [2, 2, 2, 3, 2, 5, 4, 8, 8, 9, 6, 7, 7, 7, 5, \
     6, 3, 2, 4, 1, 2, 2, 1, 2]\n",
    "[availability]\nservers_per_site = 3\ncopies = 1\n[backup]\nmethod = \"software snapshots\"\n\
     [servers]\nmulti_role = false\nspec_rate = 540\n",
    "[availability]\nservers_per_site = 4\ncopies = 3\n[metacache]\nssd_size = \"1.92TB\"\n\
     [figures]\nactive_megacycles_per_message = 0.0597\n\
     client_access_share = 0.5\nclient_access_part = 0.3\n\
     cache_mb_per_message = 0.048\ncontent_index_memory_gb = 0\n\
     content_index_bytes_per_active_item = 0\ncontent_index_bytes_per_passive_item = 0\n\
     baseline_spec_per_core = 33.75\nbaseline_megacycles_per_core = 2000\n",
];

/// A deployment of [`DEPLOYMENTS`] with its mailboxes.
pub(super) fn deployment(rest: &str) -> Deployment {
    let year = if rest.contains("[metacache]") { 2019 } else { 2013 };
    let text = format!(
        "name = \"<b>\"\nproduct = \"{year}\"\n[[tier]]\nmailboxes = 5000\nmessages_per_day = 120\n\
         size_limit = \"2GiB\"\ninitial_size = \"1GiB\"\n{rest}"
    );
    Deployment::parse("d.toml", &text).unwrap()
}

fn each(mut check: impl FnMut(Sized<'_>)) {
    for rest in DEPLOYMENTS {
        let deployment = deployment(rest);
        let sizing = size(&deployment);
        check(Sized::new(&deployment, &sizing));
    }
}

#[test]
fn every_number_is_explained() {
    each(|sized| {
        for fact in sized.sizing.sheet.facts() {
            let text = explain(sized, &fact.key.name()).unwrap();
            let is_cost = fact.key.name().starts_with("cost.");
            let currency = sized.deployment.prices.as_ref().map_or("", |of| &of.currency);
            assert!(!is_cost || text.contains(&format!("= {currency} ")), "{text}");
            assert!(text.contains("source   "), "{text}");
            assert!(!fact.source.is_empty(), "{}", fact.key);
            let given =
                fact.source.starts_with("the deployment") || matches!(fact.key, Key::Figure(_));
            assert_eq!(fact.formula.is_empty(), given, "{text}");
        }
    });
}

/// Every name in a formula is a key, so that its numbers can be traced to the inputs.
#[test]
fn every_name_in_a_formula_is_a_key() {
    each(|sized| {
        for fact in sized.sizing.sheet.facts() {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
            let words = fact.formula.split(|c| !is_name(c));
            let named = words.filter(|word| {
                word.contains('.') && word.starts_with(|c: char| c.is_ascii_lowercase())
            });
            for word in named {
                let word = word.trim_end_matches('.');
                assert!(sized.sizing.sheet.named(word).is_some(), "{word} in {}", fact.key);
            }
        }
    });
}

#[test]
fn all_forms_show_the_same_numbers() {
    each(|sized| {
        let (page, text) = (sizing_html(sized, &[]), sizing_text(sized));
        let json: serde_json::Value = serde_json::from_str(&sizing_json(sized)).unwrap();
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b></h1>"));
        for part in ["<script", "http://", "https://", "src="] {
            assert!(!page.contains(part), "the page reaches for {part}");
        }
        for key in [
            Key::ServerAll,
            Key::DatabaseCount,
            Key::VolumeDbVolumeGb,
            Key::MemoryRamGb(ServerKind::First),
        ] {
            let name = &*key.name();
            assert!(page.contains(name) && text.contains(name), "{name}");
            let value = json["values"][name]["value"].as_f64().unwrap();
            let exact = sized.sizing.number(key).unwrap();
            assert!((value - exact).abs() <= 1e-11 * exact.abs(), "{key}: {value}");
        }
        for failure in json["failures"].as_array().unwrap() {
            let (name, quorum) = (failure["failure"].as_str(), failure["quorum"].as_str());
            let row = format!(">{}</", name.unwrap());
            assert!(page.contains(&row) && quorum.is_some(), "{row}");
        }
        assert_eq!(json["workable"], sized.sizing.is_workable());
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    });
}

/// On terminals of 60 columns or more, no line has to be truncated, and no row is printed twice.
#[test]
fn a_text_is_as_wide_as_its_terminal() {
    each(|sized| {
        for width in [60, 80, 120] {
            let text = sizing_text_within(sized, width);
            let wide: Vec<&str> =
                text.lines().filter(|line| line.chars().count() > width).collect();
            assert!(wide.is_empty(), "{width}: {wide:?}");
            assert_eq!(text.matches("srv.all").count(), 2, "{width}: {text}");
        }
    });
}

/// The remarks of `plimsoll profile` about its files appear in every form.
#[test]
fn the_figures_name_their_files() {
    let given = deployment(&format!(
        "{}[provenance]\nfiles = [\"log1.csv: 300 rows\"]\nbad_rows = [\"row 7: <no> date\"]\n",
        DEPLOYMENTS[0]
    ));
    let sizing = size(&given);
    let sized = Sized::new(&given, &sizing);
    let (page, text) = (sizing_html(sized, &[]), sizing_text(sized));
    assert!(page.contains("log1.csv: 300 rows") && page.contains("row 7: &lt;no&gt; date"));
    assert!(text.contains("log1.csv: 300 rows\n") && text.contains("row 7: <no> date\n"));
    let json: serde_json::Value = serde_json::from_str(&sizing_json(sized)).unwrap();
    assert_eq!(json["provenance"][1], "row 7: <no> date");
}

/// By hand: 120 messages of 75 KB and five days are 43.945 MB a week, 190.43 MB a month, so 1 GB
/// more takes 5.4 months; if three fifths are kept, 9.0.
#[test]
fn the_picture_of_growth_says_when_mailboxes_are_full() {
    each(|sized| {
        let page = sizing_html(sized, &[]);
        for words in [
            "GiB in a database by months from now",
            "100 % of new mail is kept: the last tier is full after 5.4 months",
            "60 % of new mail is kept: the last tier is full after 9.0 months",
            "size that it is planned for",
        ] {
            assert!(page.contains(words), "{words}");
        }
    });
    let unknown = Deployment::parse("d.toml", Deployment::example()).unwrap();
    let sizing = size(&unknown);
    let page = sizing_html(Sized::new(&unknown, &sizing), &[]);
    assert!(!page.contains("months from now"));
}

/// Text without line breaks of the layout.
fn flat(deployment: &str) -> String {
    let parsed = Deployment::parse("d.toml", deployment).expect("a deployment");
    let sizing = size(&parsed);
    let text = sizing_text_within(Sized::new(&parsed, &sizing), 1_000);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const TIER: &str = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 200\nsize_limit = \"10GiB\"\n";

#[test]
fn servers_without_copies_form_no_group() {
    let text = flat(&format!(
        "{TIER}[availability]\nservers_per_site = 2\ncopies = 1\n[backup]\n\
         method = \"software snapshots\"\n"
    ));
    for wrong in
        ["per DAG", " of a DAG", "groups", "left after the worst failure", "Availability 1 copies"]
    {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(text.contains("databases of a server"), "{text}");
}

#[test]
fn the_queue_has_disks_wherever_it_lies() {
    let design = |system: &str| {
        let text = format!(
            "{TIER}[availability]\nservers_per_site = 4\ncopies = 3\n[disks]\n\
             system = {{ size = \"{system}\", type = \"10K SAS 2.5\" }}\n"
        );
        let parsed = Deployment::parse("d.toml", &text).expect("a deployment");
        sizing_html(Sized::new(&parsed, &size(&parsed)), &[])
    };
    let small = design("100GB");
    assert!(small.contains("100 GB each for the system; not counted: a pair more"), "{small}");
    assert!(!small.contains("or more each for system and queue"), "{small}");
    assert!(design("8TB").contains("or more each for system and queue"));
}

#[test]
fn a_waiting_second_site_is_busy_once_the_first_is_lost() {
    let text = flat(&format!(
        "{TIER}[availability]\nservers_per_site = 3\ncopies = 3\n[second_site]\n\
         model = \"active/passive\"\ncopies = 1\n[servers]\ncores = 16\nspec_rate = 540\n"
    ));
    let row = text.split("a site failed ").nth(1).expect("a row of the formulas");
    let used: Vec<&str> = row.split(' ').take(3).collect();
    assert!(used[2].parse::<f64>().is_ok_and(|percent| percent > 0.0), "{used:?}");
}
