//! `builds list`: the table, or one product of it.

use builds::{BuildTable, Release};
use serde_json::json;

use super::{Answer, as_json};
use console::error::CommandError;

/// Lists all builds whose product name contains `product`.
pub(super) fn run(table: &BuildTable, product: Option<&str>) -> Result<Answer, CommandError> {
    let wanted = product.unwrap_or("").to_ascii_lowercase();
    let releases: Vec<&Release> = table
        .releases()
        .iter()
        .filter(|release| release.product.to_ascii_lowercase().contains(&wanted))
        .collect();
    if releases.is_empty() {
        let mut products: Vec<&str> =
            table.releases().iter().map(|release| release.product.as_str()).collect();
        products.dedup();
        products.sort_unstable();
        products.dedup();
        return Err(CommandError::new(format!(
            "no product is called {wanted:?}; known are: {}",
            products.join(", ")
        )));
    }
    Ok(Answer {
        lines: releases.iter().map(|release| line(release)).collect(),
        json: json!({
            "builds": releases.iter().map(|release| as_json(release)).collect::<Vec<_>>(),
        }),
    })
}

fn line(release: &Release) -> String {
    let note =
        if release.note.is_empty() { String::new() } else { format!("  ({})", release.note) };
    format!("{:<13} {:<10} {}{note}", release.version.to_string(), release.released, release.name())
}
