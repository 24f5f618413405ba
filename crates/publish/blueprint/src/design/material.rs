//! The part that a customer reads first: the assumptions of the design.

use plan::deployment::Tier;
use report::document::{Block, Cell, Fact, Section};
use sizing::{Build, Key, ServerKind, TierKey, as_sold};
use units::{counted, three_digits};

use super::{Sized, bill, shown};

/// The document's inputs, in the reader's terms.
pub(super) fn assumptions(sized: Sized<'_>) -> Section {
    let deployment = sized.deployment;
    let data = &deployment.data;
    let tiers = deployment.tiers.iter().enumerate();
    let mailboxes = tiers.map(|(at, tier)| of_tier(sized, at + 1, tier)).collect::<Vec<_>>();
    let (system, disks) = (&deployment.file_system, &deployment.storage.first.database);
    let facts = [
        ("Product", product(sized)),
        ("Mailboxes", mailboxes.join("; ")),
        ("Availability", availability(sized)),
        (
            "Reserves",
            format!(
                "{} % room in databases, {} % of each volume free, {} % more I/O",
                three_digits(data.overhead * 100.0),
                three_digits(data.volume_free_space * 100.0),
                three_digits(deployment.io.overhead * 100.0),
            ),
        ),
        (
            "Disks for databases",
            format!(
                "{}, {}, {} random requests per second ({})",
                disks.kind,
                as_sold(disks.capacity),
                three_digits(disks.random_iops),
                disks.source,
            ),
        ),
        ("Volumes", format!("{}, encryption {}", system.name, system.encryption)),
        ("Processors", processors(sized)),
        ("System disks", bill::system_disks(sized)),
    ];
    let facts = facts.map(|(label, text)| Fact { label, metric: None, value: Cell::plain(text) });
    Section {
        id: "assumptions",
        title: "What is assumed",
        blocks: vec![Block::Facts(facts.into())],
    }
}

/// The product, with the figures that it borrows from another product.
fn product(sized: Sized<'_>) -> String {
    let product = &sized.deployment.product;
    let assumed = product.assumption().zip(product.assumed.as_ref());
    assumed.map_or_else(
        || product.name.clone(),
        |(said, assumed)| format!("{}. {said}: {}", product.name, assumed.names.join(", ")),
    )
}

fn of_tier(sized: Sized<'_>, number: usize, tier: &Tier) -> String {
    format!(
        "{} in {} of {}, {} a day each",
        shown(sized, Key::Tier(number, TierKey::Mailboxes)),
        tier.name,
        tier.size_limit,
        counted(&three_digits(tier.messages_per_day), "message"),
    )
}

fn availability(sized: Sized<'_>) -> String {
    let deployment = sized.deployment;
    let late = match deployment.availability.lagged_copies {
        0 => String::new(),
        late => format!(", {late} of them late"),
    };
    let sites = if deployment.second_site.is_some() { "two sites" } else { "one site" };
    let copies = match deployment.total_copies() {
        1 => "one copy".to_owned(),
        copies => format!("{copies} copies"),
    };
    format!("{copies} of each database{late}, {sites}")
}

fn processors(sized: Sized<'_>) -> String {
    let first = sized.deployment.servers.first;
    let rate = first.spec_rate.map_or_else(
        || "no SPECint_rate2006 given, so that their use is not known".to_owned(),
        |rate| format!("SPECint_rate2006 {}", three_digits(rate)),
    );
    format!("{} a server, {rate}", counted(&three_digits(first.cores), "core"))
}

/// Whether a row about disks applies to this design: a site of single disks has no redundant
/// groups, and the other way round; one site has no disks of a second.
pub(super) fn applies(sized: Sized<'_>, key: Key) -> bool {
    match key {
        Key::DiskRaidChoiceDb(site) | Key::DiskRaidDisksDb(site) => {
            is_built(sized, site, Build::Raid)
        }
        Key::DiskRaidDisksLog | Key::DiskRaidDisksRestore => {
            is_built(sized, ServerKind::First, Build::Raid)
        }
        Key::DiskJbodDisksPerServer(site) => is_built(sized, site, Build::Jbod),
        _ => true,
    }
}

/// Whether the disks of these servers are built as `wanted`.
fn is_built(sized: Sized<'_>, site: ServerKind, wanted: Build) -> bool {
    let build = sized.sizing.architecture;
    match site {
        ServerKind::First | ServerKind::Lagged => build.first == wanted,
        ServerKind::Second => sized.deployment.second_site.is_some() && build.second == wanted,
    }
}
