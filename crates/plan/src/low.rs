//! The document as it was written: every value optional, of its kind, with its place.

use units::{Bytes, Nanos};

use crate::complaint::Complaint;
use crate::reader::{Given, Lines, NumberOrAuto, Place, Section, parse};

/// A plan before its values have been checked.
pub(crate) struct Document {
    pub name: Option<Given<String>>,
    pub description: Option<Given<String>>,
    pub seed: Option<Given<i128>>,
    pub preset: Option<Given<String>>,
    pub mailboxes: Option<LowMailboxes>,
    pub databases: Databases,
    pub listed: Vec<Listed>,
    pub engine: Engine,
    pub workload: Workload,
    pub test: Test,
    pub limits: Limits,
}

/// What the storage is to carry.
pub(crate) struct LowMailboxes {
    pub place: Place,
    pub count: Option<Given<i128>>,
    pub iops_each: Option<Given<f64>>,
    pub size: Option<Given<Bytes>>,
    pub headroom: Option<Given<i128>>,
}

pub(crate) struct Databases {
    pub place: Place,
    pub folders: Option<Vec<Given<String>>>,
    pub log_folders: Option<Vec<Given<String>>>,
    pub count: Option<Given<i128>>,
    pub size: Option<Given<Bytes>>,
    pub page_size: Option<Given<Bytes>>,
}

/// One `[[database]]`.
pub(crate) struct Listed {
    pub place: Place,
    pub folder: Option<Given<String>>,
    pub log_folder: Option<Given<String>>,
}

pub(crate) struct Engine {
    pub cache_minimum: Option<Given<Bytes>>,
    pub cache_maximum: Option<Given<Bytes>>,
    pub checkpoint_depth: Option<Given<Bytes>>,
}

pub(crate) struct Workload {
    pub threads: Option<Given<NumberOrAuto>>,
    pub target_iops: Option<Given<i128>>,
    pub insert: Option<Given<i128>>,
    pub delete: Option<Given<i128>>,
    pub replace: Option<Given<i128>>,
    pub lazy_commits: Option<Given<i128>>,
    pub batch_updates: Option<Given<i128>>,
    pub commits_per_batch: Option<Given<i128>>,
    pub short_pad: Option<Given<Bytes>>,
    pub long_pad: Option<Given<Bytes>>,
}

pub(crate) struct Test {
    pub kind: Option<Given<String>>,
    pub duration: Option<Given<Nanos>>,
    pub warm_up_limit: Option<Given<Nanos>>,
    pub interval: Option<Given<Nanos>>,
    pub give_up: Option<Given<Nanos>>,
    pub checksum: Option<Given<bool>>,
    pub maintenance: Option<Given<bool>>,
    pub maintenance_throttle: Option<Given<Nanos>>,
}

pub(crate) struct Limits {
    pub read_average: Option<Given<Nanos>>,
    pub read_maximum: Option<Given<Nanos>>,
    pub log_write_average: Option<Given<Nanos>>,
    pub log_write_maximum: Option<Given<Nanos>>,
    pub longest_request: Option<Given<Nanos>>,
}

/// Reads the text; none where it is not TOML at all.
pub(crate) fn read(text: &str, complaints: &mut Vec<Complaint>) -> Option<Document> {
    let lines = Lines::of_text(text);
    let table = parse(text, "plimsoll plan", complaints)?;
    Some(document(Section::root(&table, &lines), complaints))
}

fn document(mut root: Section<'_>, complaints: &mut Vec<Complaint>) -> Document {
    let document = Document {
        name: root.take("name", complaints),
        description: root.take("description", complaints),
        seed: root.take("seed", complaints),
        preset: root.take("preset", complaints),
        mailboxes: root
            .has("mailboxes")
            .then(|| mailboxes(root.section("mailboxes", complaints), complaints)),
        databases: databases(root.section("databases", complaints), complaints),
        listed: root
            .sections("database", complaints)
            .into_iter()
            .map(|section| listed(section, complaints))
            .collect(),
        engine: engine(root.section("engine", complaints), complaints),
        workload: workload(root.section("workload", complaints), complaints),
        test: test(root.section("test", complaints), complaints),
        limits: limits(root.section("limits", complaints), complaints),
    };
    root.finish(complaints);
    document
}

fn mailboxes(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> LowMailboxes {
    let mailboxes = LowMailboxes {
        place: section.place(""),
        count: section.take("count", complaints),
        iops_each: section.take("iops_each", complaints),
        size: section.take("size", complaints),
        headroom: section.take("headroom", complaints),
    };
    section.finish(complaints);
    mailboxes
}

fn databases(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Databases {
    let databases = Databases {
        place: section.place(""),
        folders: section.take_list("folders", complaints),
        log_folders: section.take_list("log_folders", complaints),
        count: section.take("count", complaints),
        size: section.take("size", complaints),
        page_size: section.take("page_size", complaints),
    };
    section.finish(complaints);
    databases
}

fn listed(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Listed {
    let listed = Listed {
        place: section.place(""),
        folder: section.take("folder", complaints),
        log_folder: section.take("log_folder", complaints),
    };
    section.finish(complaints);
    listed
}

fn engine(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Engine {
    let engine = Engine {
        cache_minimum: section.take("cache_minimum", complaints),
        cache_maximum: section.take("cache_maximum", complaints),
        checkpoint_depth: section.take("checkpoint_depth", complaints),
    };
    section.finish(complaints);
    engine
}

fn workload(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Workload {
    let workload = Workload {
        threads: section.take("threads", complaints),
        target_iops: section.take("target_iops", complaints),
        insert: section.take("insert", complaints),
        delete: section.take("delete", complaints),
        replace: section.take("replace", complaints),
        lazy_commits: section.take("lazy_commits", complaints),
        batch_updates: section.take("batch_updates", complaints),
        commits_per_batch: section.take("commits_per_batch", complaints),
        short_pad: section.take("short_pad", complaints),
        long_pad: section.take("long_pad", complaints),
    };
    section.finish(complaints);
    workload
}

fn test(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Test {
    let test = Test {
        kind: section.take("type", complaints),
        duration: section.take("duration", complaints),
        warm_up_limit: section.take("warm_up_limit", complaints),
        interval: section.take("interval", complaints),
        give_up: section.take("give_up", complaints),
        checksum: section.take("checksum", complaints),
        maintenance: section.take("maintenance", complaints),
        maintenance_throttle: section.take("maintenance_throttle", complaints),
    };
    section.finish(complaints);
    test
}

fn limits(mut section: Section<'_>, complaints: &mut Vec<Complaint>) -> Limits {
    let limits = Limits {
        read_average: section.take("read_average", complaints),
        read_maximum: section.take("read_maximum", complaints),
        log_write_average: section.take("log_write_average", complaints),
        log_write_maximum: section.take("log_write_maximum", complaints),
        longest_request: section.take("longest_request", complaints),
    };
    section.finish(complaints);
    limits
}
