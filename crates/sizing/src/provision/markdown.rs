//! A provision for people: what to order, what goes where, what fails how.

use std::fmt::Write as _;

use super::{Group, Provision, Server};

impl Provision {
    /// A Markdown text.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("invariant: writing to a string cannot fail");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let needs = &self.needs;
        writeln!(text, "# {}\n", cell(&needs.title))?;
        writeln!(text, "| | |\n|---|---|")?;
        let databases: usize = self.groups.iter().map(|group| group.databases.len()).sum();
        let servers: usize = self.groups.iter().map(|group| group.servers.len()).sum();
        let mut row = |name: &str, value: String| writeln!(text, "| {name} | {value} |");
        row("servers", servers.to_string())?;
        row("databases", databases.to_string())?;
        row(
            "mailboxes per database",
            format!("{:.1}", needs.mailboxes_per_database),
        )?;
        row("database", needs.database.to_string())?;
        row("log of a database", needs.log.to_string())?;
        row(
            "I/O per second of a copy",
            format!("{:.2}", needs.iops_per_database),
        )?;
        row(
            "file system",
            format!(
                "{}, encryption {}",
                needs.build.file_system, needs.build.encryption
            ),
        )?;
        for (purpose, pool) in &needs.pools {
            let (disks, groups, level) = (pool.disks(), pool.groups, pool.level.name());
            let members = format!("{}+{}", pool.data_disks, pool.redundant_disks);
            let name = format!("disks of a server for {}", purpose.name());
            row(
                &name,
                format!("{disks} in {groups} groups of {level} {members}"),
            )?;
            row(
                "formatted",
                format!("{} of {}", pool.formatted(), pool.raw()),
            )?;
        }
        self.groups
            .iter()
            .try_for_each(|group| write_group(group, text))
    }
}

fn write_group(group: &Group, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n## {}\n", cell(&group.name))?;
    writeln!(
        text,
        "At most {} databases are active on a server, {} with two servers failed.\n",
        group.most_active, group.most_preferred_active
    )?;
    writeln!(
        text,
        "| database | servers by activation preference (late copies in brackets) |\n|---|---|"
    )?;
    for database in &group.databases {
        let copy = |copy: &super::DatabaseCopy| {
            if copy.lagged {
                format!("({})", cell(&copy.server))
            } else {
                cell(&copy.server)
            }
        };
        let copies: Vec<String> = database.copies.iter().map(copy).collect();
        writeln!(text, "| {} | {} |", cell(&database.name), copies.join(", "))?;
    }
    group
        .servers
        .iter()
        .try_for_each(|server| write_server(server, text))
}

fn write_server(server: &Server, text: &mut String) -> std::fmt::Result {
    writeln!(
        text,
        "\n### {}, site {}\n",
        cell(&server.name),
        server.site + 1
    )?;
    writeln!(
        text,
        "| volume | disk | size | for | databases |\n|---|---|---|---|---|"
    )?;
    for volume in &server.volumes {
        let databases: Vec<String> = volume.databases.iter().map(|name| cell(name)).collect();
        let (name, disk, purpose) = (&volume.name, volume.disk, volume.purpose.name());
        let databases = databases.join(", ");
        writeln!(
            text,
            "| {name} | {disk} | {} | {purpose} | {databases} |",
            volume.size
        )?;
    }
    Ok(())
}

/// A text that stays in its cell and is no mark-up.
fn cell(text: &str) -> String {
    let mut plain = String::new();
    for symbol in text.chars() {
        if "\\`*_{}[]<>#|&".contains(symbol) {
            plain.push('\\');
        }
        plain.push(if symbol.is_control() { ' ' } else { symbol });
    }
    plain
}
