//! The customer's edition: a page without terminal marks, with names, dates and costs.

use plan::Deployment;
use provision::size;

use super::sizing_text;
use crate::{Candidate, Sized, ranked, scenarios, scenarios_json, sizing_html, sizing_json};

const DESIGN: &str = "name = \"Post & Sons\"\ndescription = \"Move of the old site\"\n\
    customer = \"Contoso <AG>\"\nauthor = \"A. Smith\"\ndate = \"2026-11-27\"\n\
    [[tier]]\nmailboxes = 90000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
    [availability]\nservers_per_site = 16\ncopies = 3\n";

fn parsed(text: &str) -> Deployment {
    Deployment::parse("d.toml", text).expect("a deployment")
}

#[test]
fn a_page_names_customer_date_author_and_what_it_is_about() {
    let deployment = parsed(DESIGN);
    let sizing = size(&deployment);
    let sized = Sized::new(&deployment, &sizing);
    let (page, text) = (sizing_html(sized, &[]), sizing_text(sized));
    assert!(page.contains("Contoso &lt;AG&gt;, 2026-11-27, Exchange 2016"), "{page}");
    for words in ["Contoso <AG>", "2026-11-27", "A. Smith", "Move of the old site"] {
        assert!(text.contains(words), "{words}");
    }
    assert!(page.contains("A. Smith") && page.contains("Move of the old site"));
}

/// No terminal marks, no fractions of a mailbox, no empty rows, no hundred thousand GB.
#[test]
fn a_page_reads_as_print() {
    let deployment = parsed(DESIGN);
    let sizing = size(&deployment);
    let page = sizing_html(Sized::new(&deployment, &sizing), &[]);
    assert!(!page.contains('`'), "a backtick");
    let shown = page.split("id=\"trace\"").next().expect("what is before the formulas");
    assert!(!shown.contains("<span>0</span></td><td class=\"plain\" data-label=\"unit\">GiB"));
    assert!(shown.contains("<span>TiB</span>"), "{shown}");
    let each = shown.split(" mailboxes</span>").next().expect("a figure");
    let mailboxes = each.rsplit("<span>of ").next().expect("mailboxes of a database");
    assert!(mailboxes.parse::<u32>().is_ok(), "{mailboxes}");
    assert!(page.contains("@page { @top-left { content: \"Post & Sons\"; "), "no running title");
}

/// A caption that explains keys is hidden with them.
#[test]
fn no_caption_explains_a_hidden_column() {
    let deployment = parsed(DESIGN);
    let sizing = size(&deployment);
    let page = sizing_html(Sized::new(&deployment, &sizing), &[]);
    let start = "aria-label=\"plimsoll size FILE --explain";
    let starting = start.replacen('=', "^=", 1);
    let hidden = format!("body:not(:has(#keys:checked)) [{starting}\"] caption");
    assert!(page.contains(&hidden), "no rule {hidden}");
    assert!(page.contains(start), "no caption begins like the rule");
}

/// The right number is that of the simulated layout, which differs with eight servers.
#[test]
fn both_numbers_of_two_failed_servers_are_given() {
    let deployment = parsed(&DESIGN.replace("servers_per_site = 16", "servers_per_site = 8"));
    let sizing = size(&deployment);
    let text = sizing_text(Sized::new(&deployment, &sizing));
    let known = text.split("Known mistakes").nth(1).expect("mistakes");
    let after = known.split("two servers failed").nth(1).expect("two failed servers");
    let note = after.split("fail.active_per_server_two_failed").next().expect("its key");
    for number in ["its number: 46", "right number: 45"] {
        assert!(note.contains(number), "{number}: {note}");
    }
}

const PRICES: &str = "[prices]\ncurrency = \"CHF\"\nserver = 6000\nmemory_gb = 5\ndisk = 250\n";

/// With prices, few expensive servers may rank behind many cheap ones.
#[test]
fn prices_are_in_the_bill_and_rank_designs() {
    let text = format!("{DESIGN}{PRICES}");
    let deployment = parsed(&text);
    let sizing = size(&deployment);
    let page = sizing_html(Sized::new(&deployment, &sizing), &[]);
    assert!(page.contains("CHF, without what has no price: System disks (32)<"), "{page}");
    let used = "Prices in CHF, from [prices]: a server 6,000, a GiB of memory 5, a disk of any \
                type and size 250;";
    assert!(page.contains(used), "{page}");
    let swept = |key: [&str; 2], values: [&str; 2]| {
        values.map(|value| {
            let edit =
                plan::deployment::Replacement { key: key.join("."), value: value.to_owned() };
            let parsed = Deployment::parse_with("d.toml", &text, std::slice::from_ref(&edit));
            Candidate::of(vec![edit], parsed)
        })
    };
    let candidates = swept(["availability", "copies"], ["3", "4"]);
    let table = scenarios(&ranked(candidates.to_vec()));
    let head = table.lines().next().expect("a heading");
    assert!(head.contains("cost, CHF"), "{table}");
    assert!(table.contains(&format!("Ranked by cost. {used}")), "{table}");
    let page = sizing_html(Sized::new(&deployment, &sizing), &ranked(candidates.to_vec()));
    assert!(page.contains("Cost, CHF") && page.contains("cost, CHF"), "{page}");
    assert!(page.contains(">availability.copies</th>"), "{page}");
    assert!(!page.contains("what changes</th>") && !page.contains("Latency To Spare"), "{page}");
    assert!(!head.contains("watts"), "{table}");
    // Designs that differ only in a price: each is costed at its own, and the cheaper one comes
    // first.
    let by_price = ranked(swept(["prices", "disk"], ["250", "100"]).to_vec());
    assert_eq!(by_price[0].replacements[0].value, "100", "{}", scenarios(&by_price));
    assert!(scenarios(&by_price).contains("Ranked by cost, each at its own prices"));
    let without = scenarios(&[Candidate::of(Vec::new(), Ok(parsed(DESIGN)))]);
    assert!(!without.contains("cost"), "{without}");
}

/// The table of these values of a key.
fn table_of(key: &str, values: &[&str]) -> String {
    let candidates = values.iter().map(|value| {
        let edit =
            plan::deployment::Replacement { key: key.to_owned(), value: (*value).to_owned() };
        let parsed = Deployment::parse_with("d.toml", DESIGN, std::slice::from_ref(&edit));
        Candidate::of(vec![edit], parsed)
    });
    scenarios(&ranked(candidates.collect()))
}

/// More mailboxes are no worse design, and what makes no difference shares a rank.
#[test]
fn a_rank_compares_designs_for_one_demand() {
    let differs = "serve different mailboxes";
    let more = table_of("tier.1.mailboxes", &["9000", "18000"]);
    assert!(more.contains(differs), "{more}");
    let alike = table_of("transport.queue_expiration", &["2d", "3d"]);
    assert!(!alike.contains(differs), "{alike}");
    let ranks: Vec<&str> =
        alike.lines().skip(1).take(2).filter_map(|row| row.split_whitespace().next()).collect();
    assert_eq!(ranks, ["1", "1"], "{alike}");
}

/// No 10K disk of 4 TB is sold.
#[test]
fn a_type_of_disk_that_keeps_a_size_it_does_not_have_is_named() {
    let table = table_of("disks.database.type", &["7.2K SAS 3.5", "10K SAS 2.5"]);
    let said = "10K SAS 2.5 disks are counted with 4 TB each, the size of the document, and the \
                largest that `--predict` proposes has 2.4 TB";
    assert!(table.contains(said) && !table.contains("7.2K SAS 3.5 disks are counted"), "{table}");
}

#[test]
fn a_size_that_is_given_with_the_type_of_disk_is_not_named() {
    let edits = [("disks.database.type", "10K SAS 2.5"), ("disks.database.size", "4TB")];
    let edits = edits.map(|(key, value)| plan::deployment::Replacement {
        key: key.to_owned(),
        value: value.to_owned(),
    });
    let parsed = Deployment::parse_with("d.toml", DESIGN, &edits);
    let table = scenarios(&[Candidate::of(edits.to_vec(), parsed)]);
    assert!(!table.contains("disks are counted"), "{table}");
}

/// Every form of a design that uses another product's figures starts by stating this.
#[test]
fn assumed_figures_are_marked_in_every_form() {
    let text = format!("product = \"SE\"\n{DESIGN}[figures]\nfrom = \"2016\"\n");
    let deployment = parsed(&text);
    let sizing = size(&deployment);
    let sized = Sized::new(&deployment, &sizing);
    let said = "ASSUMPTION: 9 figures are those of Exchange 2016, because none are published for \
                Exchange SE";
    let (page, text) = (sizing_html(sized, &[]), sizing_text(sized));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = words.split("What is assumed").next().expect("a beginning");
    assert!(head.contains("Exchange SE with figures of Exchange 2016 (ASSUMPTION)"), "{head}");
    assert!(head.contains(said) && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let running = page.split("@top-left").nth(1).expect("a running title");
    assert!(running.split('}').next().expect("its rule").contains(said), "{running}");
    assert!(page.matches(said).count() >= 3, "{}", page.matches(said).count());
    let json: serde_json::Value = serde_json::from_str(&sizing_json(sized)).expect("JSON");
    assert_eq!(json["assumed_figures"]["from"], "Exchange 2016");
    assert_eq!(json["assumed_figures"]["names"].as_array().map(Vec::len), Some(9));
    let candidates = [Candidate::of(Vec::new(), Ok(deployment.clone()))];
    let table = scenarios(&candidates);
    assert!(table.contains(&format!("{said}.")), "{table}");
    assert!(scenarios_json(&candidates)["assumptions"].to_string().contains(said));
}

const PRICED: &str = "[[tier]]\nmailboxes = 1500\nmessages_per_day = 100\nsize_limit = \"5GiB\"\n\
    growth_percent = 10\n[availability]\nservers_per_site = 3\ncopies = 2\n[disks]\n\
    database = { size = \"8TB\", type = \"7.2K SAS 3.5\" }\n[prices]\ncurrency = \"EUR\"\n\
    server = 6000\nmemory_gb = 5\ndisk = 250\nserver_rack_units = 2\nrack_unit_year = 300\n";

/// The words of a deployment's page, before the formulas.
fn flat(text: &str) -> String {
    let deployment = parsed(text);
    let page = sizing_html(Sized::new(&deployment, &size(&deployment)), &[]);
    let shown = page.split("id=\"trace\"").next().expect("what is before the formulas");
    let mut words = String::new();
    for part in shown.split('<') {
        words.push(' ');
        words += part.split_once('>').map_or(part, |(_, text)| text);
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 1,500 * 1.1 is a little more than 1,650 in floating point.
#[test]
fn grown_mailboxes_are_as_many_wherever_they_are_counted() {
    for (today, grown) in [(1_500, "1,650"), (1_600, "1,760"), (1_501, "1,652")] {
        let text = flat(&PRICED.replace("= 1500", &format!("= {today}")));
        assert!(text.contains(&format!("{grown} mailboxes in ")), "{text}");
        assert!(text.contains(&format!("Mailboxes {grown} in tier 1")), "{text}");
    }
}

/// Every place that prints the vendor's minimum says that it is one.
#[test]
fn memory_to_buy_is_told_from_the_memory_that_the_load_needs() {
    let text = flat(&format!("{PRICED}[figures]\nmemory_minimum_gb = 128\n"));
    let why = "the least that the vendor supports; the load needs ";
    assert_eq!(text.matches(why).count(), 2, "headline and bill: {text}");
    assert!(text.contains("memory to buy for a server, first site 128 GiB"), "{text}");
    let plain = flat(&format!("{PRICED}[figures]\nmemory_minimum_gb = 1\n"));
    assert!(!plain.contains(why), "{plain}");
}

#[test]
fn a_total_says_what_it_lacks_and_which_disks_its_price_is_for() {
    let text = flat(PRICED);
    assert!(text.contains("In all EUR, without what has no price: System disks (6) "), "{text}");
    assert!(text.contains("each at prices.disk, whatever its type and size"), "{text}");
    let priced = flat(&format!("{PRICED}system_disk = 120\n"));
    assert!(priced.contains("In all EUR ") && !priced.contains("has no price"), "{priced}");
    let pair = "a mirrored pair in each server, ";
    assert_eq!(text.matches(pair).count(), 2, "{text}");
    assert!(!text.contains("System disks 8 TB"), "{text}");
}

#[test]
fn a_workable_design_of_unknown_speed_says_that_its_processors_are_not_sized() {
    let text = flat(PRICED);
    assert!(text.contains("Workable, processors not sized 3 servers"), "{text}");
    assert!(text.contains("add spec_rate to [servers]"), "{text}");
    let deployment = parsed(PRICED);
    let sizing = size(&deployment);
    let json: serde_json::Value =
        serde_json::from_str(&sizing_json(Sized::new(&deployment, &sizing))).expect("JSON");
    assert_eq!((&json["not_sized"][0], &json["exit_code"]), (&"processors".into(), &0.into()));
    let sized = flat(&format!("{PRICED}[servers]\nspec_rate = 540\n"));
    assert!(sized.contains("Workable 3 servers") && !sized.contains("not sized"), "{sized}");
}

/// All copies of a database on failed servers are no lost data.
#[test]
fn databases_without_a_copy_left_are_not_called_lost() {
    let text = flat(PRICED);
    assert!(text.contains("no copy left") && !text.contains("databases lost"), "{text}");
}

#[test]
fn a_table_of_scenarios_says_that_it_is_sized_and_not_simulated() {
    let all = ranked(vec![Candidate::of(Vec::new(), Ok(parsed(PRICED)))]);
    assert!(scenarios(&all).starts_with("rank (sized, not simulated)  servers"));
    let deployment = parsed(PRICED);
    let sizing = size(&deployment);
    let page = sizing_html(Sized::new(&deployment, &sizing), &all);
    assert!(page.contains("Scenarios, sized and not simulated</h2>"), "{page}");
}
