//! The load: the system parameters of a result.

use record::PublishedLoad;

use crate::result::ResultError;
use crate::result::number::{leading, size};
use crate::result::outline::Outline;

pub(super) fn read(outline: &Outline) -> Result<PublishedLoad, ResultError> {
    let threads = number(outline, "Thread Count")?;
    let is_per_database = text(outline, "Thread Count").contains("per database");
    let mix = [
        number(outline, "Insert Operations")?,
        number(outline, "Delete Operations")?,
        number(outline, "Replace Operations")?,
        number(outline, "Read Operations")?,
    ];
    Ok(PublishedLoad {
        threads_per_database: threads.filter(|_| is_per_database),
        threads_in_all: threads.filter(|_| !is_per_database),
        cache_maximum_bytes: size(
            "Maximum Database Cache",
            text(outline, "Maximum Database Cache"),
        )?,
        mix_percent: match mix {
            [Some(insert), Some(delete), Some(replace), Some(read)] => {
                Some([insert, delete, replace, read])
            }
            _ => None,
        },
        lazy_commit_percent: number(outline, "Lazy Commits")?,
        background_maintenance: match text(outline, "Run Background Database Maintenance") {
            "True" | "true" => Some(true),
            "False" | "false" => Some(false),
            _ => None,
        },
        copies_per_database: number(outline, "Number of Copies per Database")?,
    })
}

fn text<'a>(outline: &'a Outline, name: &str) -> &'a str {
    outline.value(name).unwrap_or_default()
}

fn number(outline: &Outline, name: &str) -> Result<Option<u32>, ResultError> {
    leading(name, text(outline, name))
}
