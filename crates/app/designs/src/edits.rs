//! Changes of a deployment for a design that fails or cannot be judged: one list with one wording
//! for `--predict` and `--prove`.

use blueprint::{DesignEdit, SimulatedEdit};
use plan::Deployment;
use provision::LighterDesign;
use sizing::{Decision, DesignFinding, Key, ShownQuantity};

/// A change with its simulation, if it was simulated.
pub(crate) struct TriedEdit {
    pub design: LighterDesign,
    pub simulated: Option<SimulatedEdit>,
}

/// The changes to try, the cheapest first. With `needs_servers`, for a design that fails by the
/// formulas, some of them add servers.
pub(crate) fn to_try((file, text): &(String, String), needs_servers: bool) -> Vec<TriedEdit> {
    provision::changes_to_try(file, text, needs_servers)
        .into_iter()
        .map(|design| TriedEdit { design, simulated: None })
        .collect()
}

/// The changes in the words of a page; costs are in the currency of the document.
pub(crate) fn written(all: &[TriedEdit], deployment: &Deployment) -> Vec<DesignEdit> {
    let prices = deployment.prices.as_ref();
    let currency = prices.map_or("", |prices| prices.currency.as_str());
    all.iter().map(|of| edit(&of.design, currency, of.simulated.clone())).collect()
}

/// One change in words.
pub(crate) fn edit(
    of: &LighterDesign,
    currency: &str,
    simulated: Option<SimulatedEdit>,
) -> DesignEdit {
    let (section, key) = of.edit.key.split_once('.').unwrap_or(("", &of.edit.key));
    DesignEdit {
        section: section.to_owned(),
        line: format!("{key} = {}", of.edit.value),
        effect: format!(
            "{}{}{}{}",
            meaning(key),
            load(of.load),
            counts(of.disks, "disks"),
            counts(of.servers, "servers"),
        ),
        also: side_effects(of, currency),
        cost: of.cost.map(|(_, after)| after),
        simulated,
    }
}

/// Cost, decisions, other numbers and findings that a change moves, a sentence each.
fn side_effects(of: &LighterDesign, currency: &str) -> Vec<String> {
    let mut said: Vec<String> = cost(of, currency).into_iter().collect();
    let decisions: Vec<String> = of.decisions.iter().map(decision).collect();
    if !decisions.is_empty() {
        said.push(decisions.join("; "));
    }
    let others: Vec<String> = of.others.iter().map(number).collect();
    if !others.is_empty() {
        said.push(others.join("; "));
    }
    let findings = [("new", &of.appeared), ("no longer", &of.gone)];
    for (word, all) in findings {
        said.extend(all.iter().map(|one| finding(word, one)));
    }
    if of.appeared.is_empty() && of.gone.is_empty() {
        said.push("no finding comes or goes".to_owned());
    }
    said
}

/// What the changed design costs. The document has one price for all disks.
fn cost(of: &LighterDesign, currency: &str) -> Option<String> {
    let changed = changed_cost(of.cost?, currency);
    if !of.edit.key.ends_with("disks.database") {
        return changed;
    }
    let priced = "each disk at the price of the present ones (set prices.disk to that of the new)";
    Some(changed.map_or_else(
        || format!("the cost is the same with {priced}"),
        |changed| format!("{changed}, with {priced}"),
    ))
}

/// A cost before the edit and after it; `None` if both are written alike.
fn changed_cost((before, after): (f64, f64), currency: &str) -> Option<String> {
    let (before, after) = (whole(before), whole(after));
    (before != after).then(|| format!("cost {currency} {after} instead of {currency} {before}"))
}

fn number(&(key, before, after): &(Key, f64, f64)) -> String {
    let [before, after] = [before, after].map(|of| ShownQuantity::of_number(key, of).written());
    format!("{} {after} instead of {before}", key.title())
}

fn decision(&(key, before, after): &(Key, Decision, Decision)) -> String {
    format!("{} {} instead of {}", key.title(), after.name(), before.name())
}

fn finding(word: &str, of: &DesignFinding) -> String {
    let remedy = if word == "new" { format!("; {}", of.remedy) } else { String::new() };
    format!("{word}: {}: {}: {}{remedy}", of.severity.word(), of.key.title(), of.text)
}

/// Explains an edit of `key` to readers who do not know the document.
fn meaning(key: &str) -> &'static str {
    match key {
        "databases_equal_copies" => "half as many databases on a volume",
        "several_databases_per_volume" => "one database on a volume",
        "build" => "redundant groups in place of single disks",
        "raid" => "mirrors in place of parity",
        "usable_disk_io_percent" => "more disks, for a reserve of I/O",
        "servers_per_site" => "more servers",
        "largest_database" => "smaller databases",
        _ => "other disks",
    }
}

/// The load of a disk after the edit and before it; empty if both are written alike.
fn load((before, after): (f64, f64)) -> String {
    let (before, after) = (whole(before * 100.0), whole(after * 100.0));
    if before == after {
        return String::new();
    }
    format!("; load of a disk {after} % instead of {before} %")
}

/// A count after the edit and before it; empty if they are equal.
fn counts((before, after): (f64, f64), what: &str) -> String {
    if before.total_cmp(&after).is_eq() {
        return String::new();
    }
    format!("; {} {what} instead of {}", whole(after), whole(before))
}

fn whole(value: f64) -> String {
    report::format::number(value, 0)
}

#[cfg(test)]
mod tests {
    use plan::Deployment;

    use super::{changed_cost, to_try, written};

    const TEXT: &str = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 150\n\
        size_limit = \"2GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n\
        [prices]\ncurrency = \"CHF\"\nserver = 6000\ndisk = 250\nserver_rack_units = 2\n\
        server_watts = 350\ndisk_watts = 8\n";

    #[test]
    fn a_cost_that_does_not_change_is_not_named() {
        assert_eq!(changed_cost((126_070.0, 126_070.2), "EUR"), None);
        let dearer = "cost EUR 126,071 instead of EUR 126,070";
        assert_eq!(changed_cost((126_070.0, 126_071.0), "EUR").as_deref(), Some(dearer));
    }

    /// What a change costs, in money, space, power and findings, is part of its advice.
    #[test]
    fn a_change_says_what_else_it_changes() {
        let deployment = Deployment::parse("d.toml", TEXT).expect("a deployment");
        let all = written(&to_try(&("d.toml".to_owned(), TEXT.to_owned()), false), &deployment);
        let said = |line: &str| {
            let edit = all.iter().find(|edit| edit.line == line).expect(line);
            edit.also.join("\n")
        };
        let servers = said("servers_per_site = 5");
        for words in
            ["cost CHF 47,500 instead of CHF 38,000", "rack units of all servers 10 instead of 8"]
        {
            assert!(servers.contains(words), "{words}: {servers}");
        }
        let disks = all.iter().find(|edit| edit.section == "disks").expect("other disks");
        assert!(disks.also.join("\n").contains("prices.disk"), "{disks:?}");
        assert!(
            all.iter().all(|edit| edit.also.iter().any(|of| of.contains("finding")
                || of.starts_with("new: ")
                || of.starts_with("no longer: "))),
            "{all:?}"
        );
    }
    /// A volume for each database may leave no case for single disks.
    #[test]
    fn a_change_names_the_decisions_that_it_turns() {
        let text = include_str!("../../../../examples/deployments/E1.toml");
        let deployment = Deployment::parse("E1.toml", text).expect("a deployment");
        let all = written(&to_try(&("E1.toml".to_owned(), text.to_owned()), false), &deployment);
        let line = "several_databases_per_volume = false";
        let edit = all.iter().find(|edit| edit.line == line).expect(line);
        assert!(edit.also.join("\n").contains("RAID instead of JBOD"), "{edit:?}");
    }
}
