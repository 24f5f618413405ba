//! Facts about each product generation: figures with their provenance, read from data files.
//!
//! A figure that was never published is absent from the file, so the user has to supply it.

use toml::de::DeTable;

use crate::complaint::Complaint;
use crate::keys::Keys;
use crate::reader::{Lines, TomlSection, parse};

/// A number that describes a product, with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Source, and how far it can be trusted.
    pub source: String,
}

/// The generations that have data files.
const PRODUCTS: [(&str, &str); 5] = [
    ("2010", include_str!("../documents/products/2010.toml")),
    ("2013", include_str!("../documents/products/2013.toml")),
    ("2016", include_str!("../documents/products/2016.toml")),
    ("2019", include_str!("../documents/products/2019.toml")),
    ("2007", include_str!("../documents/products/2007.toml")),
];

/// The generation that shares its predecessor's figures.
const SUBSCRIPTION: &str = "SE";

/// Names of all generations.
pub(super) const WORDS: &[&str] = &["2007", "2010", "2013", "2016", "2019", "SE"];

/// Bounds of every figure: none is negative or anywhere near the upper bound.
pub(super) const BOUNDS: (f64, f64) = (0.0, 1e12);

macro_rules! figures {
    ($($(#[$meaning:meta])+ $name:ident,)+) => {
        /// The figures that sizing needs. Each name ends in its unit.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Figures {
            $($(#[$meaning])+ pub $name: Figure,)+
        }

        /// The figures in a file; any may be absent.
        #[derive(Default)]
        pub(super) struct Known {
            $($name: Option<Figure>,)+
        }

        impl Known {
            fn from_file(keys: &mut Keys<'_, '_>) -> Self {
                Self { $($name: figure_of_file(keys, stringify!($name)),)+ }
            }

            /// Applies `figure` to each name and its value from the file.
            pub(super) fn complete(
                self,
                mut figure: impl FnMut(&'static str, Option<Figure>) -> Figure,
            ) -> Figures {
                Figures { $($name: figure(stringify!($name), self.$name),)+ }
            }

            /// The figure called `name`.
            pub(super) fn named(&self, name: &str) -> Option<&Figure> {
                match name {
                    $(stringify!($name) => self.$name.as_ref(),)+
                    _ => None,
                }
            }
        }

        impl Figures {
        }
    };
}

figures! {
    /// Database reads and writes per second for each daily message of a mailbox, with copies.
    database_iops_per_message,
    /// The same without copies.
    database_iops_per_message_alone,
    /// 1 if I/O grows with message length, 0 if only the message count matters.
    iops_follow_message_size,
    /// Share of reads up to `heavy_user_messages`, with copies.
    read_share,
    /// Share of reads above it, with copies.
    read_share_heavy,
    /// Share of reads up to `heavy_user_messages`, without copies.
    read_share_alone,
    /// Share of reads above it, without copies.
    read_share_heavy_alone,
    /// Messages a day above which a user counts as heavy.
    heavy_user_messages,
    /// Megacycles of an active mailbox on the mailbox role, per message and day.
    active_megacycles_per_message,
    /// Additional load of client access, as a share of the above.
    client_access_share,
    /// Client access as a share of all cycles of an active mailbox; sizes the memory for client
    /// access.
    client_access_part,
    /// Megacycles of a passive mailbox, per message and day.
    passive_megacycles_per_message,
    /// Database cache of an active mailbox in MB, per message and day.
    cache_mb_per_message,
    /// Log files of 1 MB that a mailbox writes per day, per message and day, at the reference
    /// length.
    logs_per_message,
    /// Message length in KB at which the log factor is 1.
    reference_message_kb,
    /// Versions of items kept by single item recovery, as a share of the limit.
    single_item_recovery_share,
    /// Versions of calendar items, as a share of the limit.
    calendar_versions_share,
    /// Maximum size of a mailbox's recoverable items, in MB.
    recoverable_items_limit_mb,
    /// Content index, as a share of the databases on a volume.
    content_index_share,
    /// Room for merging the content index, as a share of one database.
    content_index_merge_share,
    /// Memory of the content index of a server in GB.
    content_index_memory_gb,
    /// Additional index memory per item in active copies in the worst case, in bytes.
    content_index_bytes_per_active_item,
    /// Additional index memory per item in the other copies, in bytes.
    content_index_bytes_per_passive_item,
    /// Log writes per database write, with copies.
    log_writes_per_database_write,
    /// The same without copies.
    log_writes_per_database_write_alone,
    /// Log I/O per database I/O, if only that is known; 0 if it follows from database writes.
    log_io_per_database_io,
    /// Log reads per log write for shipping the log to the other copies.
    log_reads_per_log_write,
    /// Background maintenance of a copy in MB per second; 0 if it reads none throughout the day.
    maintenance_mb_per_second,
    /// Share of the memory that becomes database cache.
    cache_share_of_memory,
    /// Memory of client access in GB, whatever its load.
    client_access_memory_gb,
    /// Memory of client access in GB per core that it occupies.
    client_access_memory_gb_per_busy_core,
    /// Memory of client access in GB per core, if its load is unknown.
    client_access_memory_gb_per_core,
    /// `SPECint_rate2006` of one core of the server that megacycles are counted in.
    baseline_spec_per_core,
    /// Megacycles of one core of that server.
    baseline_megacycles_per_core,
    /// Largest database without copies, in GB.
    largest_database_alone_gb,
    /// Largest database with copies, in GB.
    largest_database_gb,
    /// Databases that a server may hold.
    databases_per_server,
    /// Servers that a group may have.
    dag_members,
    /// Cores of a server above which the vendor has not tested.
    cores_limit,
    /// Memory of a server in GB above which the vendor has not tested.
    memory_limit_gb,
    /// Least memory that the vendor supports, in GB.
    memory_minimum_gb,
    /// Content index traffic per replicated log, uncompressed.
    index_traffic_share,
    /// Share of a day's messages in the queue in the worst case.
    queued_share,
    /// Space on the system disk that transport leaves free, in GB.
    system_disk_reserve_gb,
}

/// Name and figures of a generation, from its file.
pub(super) fn known(word: &str) -> (String, Known) {
    let year = if word == SUBSCRIPTION { "2019" } else { word };
    let text = PRODUCTS.iter().find(|(name, _)| *name == year);
    let text = text.map_or(PRODUCTS[2].1, |(_, text)| text);
    let mut complaints = Vec::new();
    let found = parse(text, "", &mut complaints)
        .map(|table| from_table(&table, &Lines::of_text(text), &mut complaints));
    assert!(complaints.is_empty(), "our own file {word}: {complaints:?}");
    let (name, figures) = found.unwrap_or_default();
    (if word == SUBSCRIPTION { format!("Exchange {SUBSCRIPTION}") } else { name }, figures)
}

fn from_table(
    table: &DeTable<'_>,
    lines: &Lines,
    complaints: &mut Vec<Complaint>,
) -> (String, Known) {
    let mut root = Keys::new(TomlSection::root(table, lines), complaints);
    let name = root.text("name", "");
    let mut figures = root.below("figures");
    let known = Known::from_file(&mut figures);
    figures.finish();
    root.finish();
    (name, known)
}

fn figure_of_file(keys: &mut Keys<'_, '_>, name: &'static str) -> Option<Figure> {
    if !keys.has(name) {
        return None;
    }
    let mut figure = keys.below(name);
    let value = figure.needed("value", BOUNDS, "`value`");
    let source = figure.text("source", "");
    if source.is_empty() {
        figure.missing("source", "`source`");
    }
    figure.finish();
    Some(Figure { value, source })
}

#[cfg(test)]
mod tests {
    use super::{PRODUCTS, known};

    #[test]
    fn every_product_file_is_whole() {
        for (word, _) in PRODUCTS {
            assert!(known(word).0.ends_with(word), "{word}");
        }
    }
}
