//! The load: the system parameters of a result.

use record::PublishedLoad;

use crate::result::ResultError;
use crate::result::number::{leading, size};
use crate::result::outline::Outline;

pub(super) fn read(outline: &Outline) -> Result<PublishedLoad, ResultError> {
    let text = |name: &str| outline.value(name).unwrap_or_default();
    let percent = |name: &str| leading(name, text(name));
    let threads = leading("Thread Count", text("Thread Count"))?;
    let is_per_database = text("Thread Count").contains("per database");
    let mix = [
        percent("Insert Operations")?,
        percent("Delete Operations")?,
        percent("Replace Operations")?,
        percent("Read Operations")?,
    ];
    let copies = "Number of Copies per Database";
    Ok(PublishedLoad {
        threads_per_database: threads.filter(|_| is_per_database),
        threads_in_all: threads.filter(|_| !is_per_database),
        cache_maximum_bytes: size("Maximum Database Cache", text("Maximum Database Cache"))?,
        mix_percent: match mix {
            [Some(insert), Some(delete), Some(replace), Some(read)] => {
                Some([insert, delete, replace, read])
            }
            _ => None,
        },
        lazy_commit_percent: percent("Lazy Commits")?,
        background_maintenance: match text("Run Background Database Maintenance") {
            "True" | "true" => Some(true),
            "False" | "false" => Some(false),
            _ => None,
        },
        copies_per_database: leading(copies, text(copies))?,
    })
}
