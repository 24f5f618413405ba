//! A fleet plan for all servers of a provision, along with the plan of each.

use std::fmt::{self, Write as _};

use plan::{quoted, sound_name};

use super::Document;
use crate::{Group, PlanError, Provision, Server, TestPlan};

/// Name of the fleet plan.
const FLEET: &str = "FLEET.toml";

/// The fleet plan and the plans of its hosts. `test` gives folder and scale; its server is ignored.
pub fn fleet(provision: &Provision, test: &TestPlan) -> Result<Vec<Document>, PlanError> {
    let mut documents = vec![Document::written(FLEET.to_owned(), |text| write(provision, text))];
    for server in tested(provision) {
        let test = TestPlan { server: Some(server.name.clone()), ..test.clone() };
        documents.push(Document { name: plan_of(server), text: test.to_toml(provision)? });
    }
    Ok(documents)
}

/// Servers that hold databases.
fn tested(provision: &Provision) -> impl Iterator<Item = &Server> {
    let servers = provision.groups.iter().flat_map(|group| &group.servers);
    servers.filter(|server| server.databases().next().is_some())
}

fn plan_of(server: &Server) -> String {
    format!("{}.toml", server.name)
}

fn write(provision: &Provision, text: &mut String) -> fmt::Result {
    let needs = &provision.needs;
    let name = sound_name(&needs.title).unwrap_or_else(|| "plimsoll".to_owned());
    writeln!(text, "# Every server of the design at once: `plimsoll fleet run {FLEET}`, after")?;
    writeln!(
        text,
        "# `plimsoll agent` on each (docs/fleet.md). Every copy is loaded like an active"
    )?;
    writeln!(text, "# one, as the servers were sized.")?;
    if let Some(assumption) = &needs.assumption {
        writeln!(text, "# {assumption}.")?;
    }
    writeln!(text, "name = {}", quoted(&name))?;
    let copied: Vec<&Group> =
        provision.groups.iter().filter(|group| group.databases.iter().any(has_copies)).collect();
    if !copied.is_empty() {
        writeln!(text, "passive_percent = 100")?;
    }
    for server in tested(provision) {
        let (host, plan) = (quoted(&server.name), quoted(&plan_of(server)));
        writeln!(text, "\n[[host]]\nhost = {host}\nplan = {plan}")?;
    }
    for group in &copied {
        for database in &group.databases {
            let copies: Vec<String> =
                database.copies.iter().map(|copy| quoted(&copy.server)).collect();
            let (name, copies) = (quoted(&database.name), copies.join(", "));
            writeln!(text, "\n[[database]]\nname = {name}\ncopies = [{copies}]")?;
        }
    }
    if let Some(lost) = copied.first().and_then(|group| group.servers.first()) {
        writeln!(
            text,
            "\n# The worst case of the design: a server is lost, and the holders of the"
        )?;
        writeln!(text, "# next copies carry its databases.")?;
        writeln!(text, "# [[event]]\n# at = \"30min\"\n# lose = {}", quoted(&lost.name))?;
    }
    Ok(())
}

fn has_copies(database: &crate::Database) -> bool {
    database.copies.len() > 1
}
