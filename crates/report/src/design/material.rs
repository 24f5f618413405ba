//! What a customer reads first: what the design takes for granted, and what is to be bought.

use plan::deployment::Tier;
use sizing::{Build, Key, ServerKind};
use units::Bytes;

use super::columns::{key_column, number_column, table};
use super::{Sized, shown};
use crate::document::{Block, Cell, Column, Fact, Section, TableRow, Tone};
use crate::format::three_digits;

/// What the document gives, in its reader's words.
pub(super) fn assumptions(sized: Sized<'_>) -> Section {
    let deployment = sized.deployment;
    let mailboxes = deployment.tiers.iter().map(of_tier).collect::<Vec<_>>().join("; ");
    let data = &deployment.data;
    let (system, disks) = (&deployment.file_system, &deployment.storage.first.database);
    let facts = [
        ("Product", deployment.product.name.clone()),
        ("Mailboxes", mailboxes),
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
    ];
    let facts = facts.map(|(label, text)| Fact { label, metric: None, value: Cell::plain(text) });
    Section {
        id: "assumptions",
        title: "What is assumed",
        blocks: vec![Block::Facts(facts.into())],
    }
}

fn of_tier(tier: &Tier) -> String {
    format!(
        "{} in {} of {}, {} messages a day each",
        three_digits(tier.mailboxes * (1.0 + tier.growth)),
        tier.name,
        tier.size_limit,
        three_digits(tier.messages_per_day),
    )
}

fn availability(sized: Sized<'_>) -> String {
    let deployment = sized.deployment;
    let late = match deployment.availability.lagged_copies {
        0 => String::new(),
        late => format!(", {late} of them late"),
    };
    let sites = if deployment.second_site.is_some() { "two sites" } else { "one site" };
    format!("{} copies of each database{late}, {sites}", deployment.total_copies())
}

/// A disk's size in decimal units, as its label has it.
fn as_sold(capacity: Bytes) -> String {
    let gigabytes = capacity.0 as f64 / 1e9;
    if gigabytes < 1_000.0 {
        format!("{} GB", three_digits(gigabytes))
    } else {
        format!("{} TB", three_digits(gigabytes / 1_000.0))
    }
}

fn processors(sized: Sized<'_>) -> String {
    let first = sized.deployment.servers.first;
    let rate = first.spec_rate.map_or_else(
        || "no SPECint_rate2006 given, so that their use is not known".to_owned(),
        |rate| format!("SPECint_rate2006 {}", three_digits(rate)),
    );
    format!("{} cores a server, {rate}", three_digits(first.cores))
}

/// What is to be bought, as far as the design decides it.
pub(super) fn bill(sized: Sized<'_>) -> Section {
    let servers = format!(
        "{} cores and {} GB of memory each",
        three_digits(sized.deployment.servers.first.cores),
        shown(sized, Key::MemoryRamGb(ServerKind::First)),
    );
    let disks = &sized.deployment.storage.first.database;
    let disks = format!(
        "{}, {} each; databases, logs, spares and restores, {}",
        disks.kind,
        as_sold(disks.capacity),
        sized.sizing.architecture.first.name(),
    );
    let ssds = format!("{} GB each, for MetaCache databases", shown(sized, Key::MetaCacheSsdGb));
    let rows = [
        ("Servers", Key::ServerAll, servers),
        ("Servers for client access", Key::ServerClientAccess, String::new()),
        ("Disks", Key::DiskAll, disks),
        ("SSDs", Key::MetaCacheSsdsAll, ssds),
        ("Memory, GB", Key::MemoryAllGb, "of all servers together".to_owned()),
    ];
    let columns = vec![
        Column::text("what"),
        number_column("number", None),
        Column::text("of which kind"),
        key_column("key for --explain"),
    ];
    let rows = rows.into_iter().filter_map(|(what, key, kind)| {
        let number = sized.sizing.number(key).filter(|number| *number > 0.0)?;
        Some(TableRow::body(vec![
            Cell::plain(what),
            Cell::plain(three_digits(number)),
            Cell::plain(kind),
            Cell::plain(key.name()).toned(Tone::Muted),
        ]))
    });
    let caption =
        "Without system disks, controllers, shelves and network, which the design leaves open.";
    Section {
        id: "bill",
        title: "Bill of materials",
        blocks: table(caption, columns, rows.collect()),
    }
}

/// Whether a row about disks says anything of this design: one of single disks has no redundant
/// groups, and the other way round.
pub(super) fn applies(sized: Sized<'_>, key: Key) -> bool {
    let build = sized.sizing.architecture;
    let all = [build.first, build.second];
    match key {
        Key::DiskRaidChoiceDb(_)
        | Key::DiskRaidDisksDb(_)
        | Key::DiskRaidDisksLog
        | Key::DiskRaidDisksRestore => all.contains(&Build::Raid),
        Key::DiskJbodDisksPerServer(_) => all.contains(&Build::Jbod),
        _ => true,
    }
}
