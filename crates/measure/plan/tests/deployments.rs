//! Deployments as a user writes them: the embedded example, defaults, every diagnostic.

#![expect(clippy::float_cmp, reason = "what is read is what was written, to the last digit")]

use plan::Deployment;
use plan::deployment::{Mode, Replacement, SiteModel};
use proptest::prelude::*;
use units::Bytes;

const SHORT: &str = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
                     [availability]\nservers_per_site = 4\ncopies = 3\n";

/// The figures of Exchange 2019 that were never published.
const FIGURES_OF_2019: &str = "active_megacycles_per_message = 0.0597\nclient_access_share = 0.5\n\
                               client_access_part = 0.3\ncache_mb_per_message = 0.048\n\
                               content_index_memory_gb = 0\n\
                               content_index_bytes_per_active_item = 0\n\
                               content_index_bytes_per_passive_item = 0\n\
                               baseline_spec_per_core = 33.75\n\
                               baseline_megacycles_per_core = 2000";

/// Cases `=== name`, the deployment, `---`, the complaints.
const DIAGNOSTICS: &str = include_str!("deployments.txt");

#[test]
fn seven_lines_make_a_deployment() {
    let deployment = Deployment::parse("d.toml", SHORT).unwrap();
    assert_eq!(deployment.mode, Mode::Corrected);
    assert_eq!(deployment.product.name, "Exchange 2016");
    assert_eq!(deployment.total_copies(), 3);
    assert_eq!(deployment.copies_in_first_site(), (3, 0));
    assert_eq!(deployment.tiers[0].size_limit, Bytes::from_gib(2));
    let disk = &deployment.storage.second.system;
    assert_eq!((disk.random_iops, disk.slow), (57.5, true));
}

#[test]
fn the_example_spells_out_the_defaults() {
    let example = Deployment::parse("example", Deployment::example()).unwrap();
    assert_eq!(example, Deployment::parse("short", SHORT).unwrap());
}

/// Keys that the example only mentions after a `#` are valid too.
#[test]
fn the_keys_in_comments_are_known() {
    let hint = |line: &str| {
        let rest = line.strip_prefix("# ").map(str::to_owned);
        rest.filter(|rest| rest.starts_with('[') || rest.contains(" = "))
    };
    let text: Vec<String> = Deployment::example()
        .lines()
        .map(|line| hint(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    let text = text.join("\n");
    let text = text.replace("product = \"2016\"", "product = \"2019\"");
    let text = text.replace("active_megacycles_per_message = 0.0597", FIGURES_OF_2019);
    let deployment = Deployment::parse("example", &text).unwrap();
    assert!(deployment.metacache.is_some());
    assert_eq!(deployment.site_model(), Some(SiteModel::ActiveActive));
    assert!(deployment.replication.hourly_shares.is_some());
    assert!(deployment.tiers[0].given_iops.is_some());
}

#[test]
fn a_second_site_takes_over_what_it_does_not_say() {
    let text = format!(
        "{SHORT}[servers]\ncores = 20\nspec_rate = 900\n[disks]\n\
         database = {{ size = \"8TB\", type = \"10K SAS 2.5\" }}\n\
         restore = {{ size = \"2TB\" }}\n[second_site]\nmodel = \"active/passive\"\ncopies = 1\n\
         cores = 8\n"
    );
    let deployment = Deployment::parse("d.toml", &text).unwrap();
    let second = deployment.servers.second;
    assert_eq!((second.cores, second.spec_rate), (8.0, Some(900.0)));
    let disks = &deployment.storage.second;
    assert_eq!(disks, &deployment.storage.first);
    assert_eq!(disks.restore.capacity, Bytes(2_000_000_000_000));
    assert_eq!(disks.restore.random_iops, 165.0);
    assert_eq!(deployment.copies_in_first_site(), (2, 0));
}

/// One complaint names them all, with lines to copy that say whose they are and why to doubt them.
#[test]
fn what_was_never_published_has_to_be_given() {
    let text = format!("product = \"SE\"\n{SHORT}");
    let error = Deployment::parse("d.toml", &text).unwrap_err().to_string();
    assert!(error.contains("9 figures of Exchange SE have never been published"), "{error}");
    assert!(error.contains("Add `from = \"2016\"` to [figures]"), "{error}");
    let (_, block) = error.split_once("\n\n").unwrap();
    assert_eq!(block.lines().count(), 10, "{block}");
    for line in block.lines().skip(1) {
        assert!(line.contains(" # Exchange 2016 (S-") && line.contains("; doubtful: "), "{line}");
    }
    let deployment = Deployment::parse("d.toml", &format!("{text}{block}")).unwrap();
    assert_eq!(deployment.product.assumption(), None);
    let figure = deployment.product.figures.active_megacycles_per_message;
    assert_eq!((figure.value, figure.source.as_str()), (0.0597, "given in line 10"));
}

/// One figure decides the pause of every test and simulation of a design: the product's, or that of
/// the document.
#[test]
fn the_pause_of_background_maintenance_follows_from_its_rate() {
    let pause = |head: &str, figures: &str| {
        let text = format!("{head}{SHORT}[figures]\n{figures}");
        let deployment = Deployment::parse("d.toml", &text).unwrap();
        let rate = deployment.product.figures.maintenance_mb_per_second.value;
        (rate, deployment.product.maintenance_pause().map(|pause| pause.0 / 1_000_000))
    };
    assert_eq!(pause("", ""), (1.0, Some(250)));
    // Figures of another product do not replace the published one.
    assert_eq!(pause("product = \"2010\"\n", "from = \"2013\"\n"), (5.0, Some(20)));
    assert_eq!(pause("", "maintenance_mb_per_second = 2\n"), (2.0, Some(119)));
    assert_eq!(pause("", "maintenance_mb_per_second = 0\n"), (0.0, None));
}

/// Figures of another product are used only as an assumption, and published ones stay.
#[test]
fn another_products_figures_are_an_assumption() {
    let text = format!("product = \"2019\"\n{SHORT}[figures]\ncache_mb_per_message = 0.048\n");
    let deployment = Deployment::parse("d.toml", &format!("{text}from = \"2016\"\n")).unwrap();
    let product = deployment.product;
    let assumed = product.assumed.as_ref().unwrap();
    assert_eq!((assumed.from.as_str(), assumed.names.len()), ("Exchange 2016", 8));
    let said = product.assumption().unwrap();
    assert!(said.starts_with("ASSUMPTION: 8 figures are those of Exchange 2016"), "{said}");
    let figures = product.figures;
    assert!(figures.baseline_spec_per_core.source.starts_with("ASSUMED for Exchange 2019"));
    assert_eq!(figures.cache_mb_per_message.value, 0.048);
    assert_eq!(figures.memory_minimum_gb.value, 128.0);
    for (from, part) in [("2019", "is Exchange 2019 itself"), ("2031", "`2031` is not known")] {
        let wrong = Deployment::parse("d.toml", &format!("{text}from = \"{from}\"\n"));
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn prices_and_origin_are_read() {
    let text = format!(
        "customer = \"Contoso\"\nauthor = \"A. Smith\"\ndate = \"2026-11-27\"\n{SHORT}[prices]\n\
         currency = \"USD\"\ndisk = 250\n"
    );
    let deployment = Deployment::parse("d.toml", &text).unwrap();
    let origin = (deployment.origin.customer.as_str(), deployment.origin.date.as_str());
    assert_eq!(origin, ("Contoso", "2026-11-27"));
    let prices = deployment.prices.unwrap();
    assert_eq!((prices.currency.as_str(), prices.disk, prices.server), ("USD", Some(250.0), None));
    assert_eq!(Deployment::parse("d.toml", SHORT).unwrap().prices, None);
}

/// Without copies there is no group to share SSDs.
#[test]
fn ssds_need_the_product_and_a_group() {
    let with = |copies: u32| {
        let text = SHORT.replace("copies = 3", &format!("copies = {copies}"));
        let text = format!(
            "product = \"SE\"\n{text}[metacache]\nssd_size = \"1.92TB\"\nssds_per_server = 3\n\
             [figures]\n{FIGURES_OF_2019}\n"
        );
        Deployment::parse("d.toml", &text).map_err(|error| error.to_string())
    };
    let metacache = with(3).unwrap().metacache.unwrap();
    assert_eq!(metacache.ssd, Bytes(1_920_000_000_000));
    assert_eq!((metacache.ssds_per_server, metacache.capacity), (Some(3), 0.05));
    let error = with(1).unwrap_err();
    let said = "d.toml:9: [metacache]: MetaCache databases need a database availability group";
    assert!(error.contains(said), "{error}");
}

fn replaced(key: &str, value: &str) -> Result<Deployment, String> {
    let (key, value) = (key.to_owned(), value.to_owned());
    Deployment::parse_with("d.toml", SHORT, &[Replacement { key, value }])
        .map_err(|error| error.to_string())
}

#[test]
fn values_are_replaced_before_they_are_checked() {
    let tier = |key, value| replaced(key, value).unwrap().tiers.remove(0);
    assert_eq!(tier("tier.1.mailboxes", "7").mailboxes, 7.0);
    assert_eq!(tier("tier.1.size_limit", "5GiB").size_limit, Bytes::from_gib(5));
    assert_eq!(replaced("data.overhead_percent", "50").unwrap().data.overhead, 0.5);
    assert_eq!(
        replaced("product", "2016").unwrap().product,
        replaced("product", "\"2016\"").unwrap().product
    );
    assert_eq!(
        replaced("availability.copies", "9").unwrap_err(),
        "d.toml: [availability] copies: 9 copies of a database in a site need 9 servers, and it \
         has 4; raise `servers_per_site` or give fewer copies"
    );
    for (key, part) in [
        ("tier.2.mailboxes", "count them from 1"),
        ("tier.mailboxes", "count them from 1"),
        ("data.colour", "unknown key"),
        ("availability.copies.more", "leads through a value"),
        ("", "unknown key"),
    ] {
        let error = replaced(key, "1").unwrap_err();
        assert!(error.contains(part), "{key}: {error}");
    }
}

#[test]
fn every_diagnostic_names_line_key_and_remedy() {
    let cases: Vec<_> = DIAGNOSTICS.split("=== ").skip(1).collect();
    assert!(cases.len() > 10, "the golden file is there");
    let answer = |case: &str| {
        let (head, _) = case.split_once("---\n").expect("a case has complaints");
        let (_, text) = head.split_once('\n').expect("a case has a name");
        let answer = match Deployment::parse("d.toml", text) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        format!("=== {head}---\n{answer}\n")
    };
    let actual = cases.into_iter().map(answer).collect::<Vec<_>>().join("\n");
    assert!(actual == DIAGNOSTICS, "diagnostics changed; they now read:\n{actual}");
}

proptest! {
    #[test]
    fn no_damaged_deployment_panics(at in 0_usize..8192, with in "\\PC{0,6}", cut in 0_usize..40) {
        let example: Vec<char> = Deployment::example().chars().collect();
        let at = at % example.len();
        let end = (at + cut).min(example.len());
        let text: String = example[..at].iter().copied().chain(with.chars())
            .chain(example[end..].iter().copied()).collect();
        if let Err(error) = Deployment::parse("d.toml", &text) {
            prop_assert!(!error.complaints.is_empty());
        }
    }

    #[test]
    fn no_replacement_panics(key in "[a-z.0-9]{0,20}", value in "\\PC{0,12}") {
        let _ = replaced(&key, &value);
    }
}
