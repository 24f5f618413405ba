//! Integrity of a whole database: does everything in it agree with everything else?
//!
//! Checksums prove that pages are as written; this verifies that their contents make sense. Every
//! owned page must be reached exactly once or be available; leaves must be chained in tree order;
//! keys must ascend and fall between their separators; indexes must agree with the rows; long
//! values must be referenced as often as they claim. Memory is two bits per page, and eight bytes
//! per reference to a long value of one table. If pages are lost, everything else is still
//! examined.

mod finding;
mod index;
mod long_values;
mod notice;
mod objects;
mod page_map;
mod problem;
mod rows;
mod runs;
mod space;
mod subject;
mod tree;

pub use finding::{Report, VerifyFinding};
pub use notice::Notice;
pub use problem::Problem;
pub use subject::Subject;

use std::collections::BTreeSet;

use units::PageNumber;

use crate::catalog::{CatalogTable, OBJECTS_NAME, OBJECTS_SHADOW_NAME, TreePlace};
use crate::header::{DatabaseHeader, DatabaseState};
use crate::reader::{DATABASE, PageSource, Reader, TreeKind, TreeSpace, salvage_space};
use crate::space::{Extent, ExtentSet};
use finding::LogNeeded;
use page_map::PageMap;

/// Examines the database behind `source`, whose header is `header`. Damage becomes findings; only
/// an error of the source itself ends the examination.
pub fn verify<S: PageSource>(source: S, header: &DatabaseHeader) -> Result<Report, S::Error> {
    examine(source, Some(header))
}

/// Examines a database whose header is lost: everything except how late its pages are.
pub fn verify_without_header<S: PageSource>(source: S) -> Result<Report, S::Error> {
    examine(source, None)
}

fn examine<S: PageSource>(source: S, header: Option<&DatabaseHeader>) -> Result<Report, S::Error> {
    let mut log = LogNeeded::default();
    let page_count = source.page_count();
    let Some(reader) = open(source, &mut log)? else {
        return Ok(log.report);
    };
    let mut examination = Examination {
        reader,
        header,
        log,
        map: PageMap::new(page_count),
        lost_space: BTreeSet::new(),
    };
    examination.run()?;
    Ok(examination.log.report)
}

/// Opens the database with its catalog or, if that is damaged, with the catalog's second copy.
fn open<S: PageSource>(mut source: S, log: &mut LogNeeded) -> Result<Option<Reader<S>>, S::Error> {
    let catalog = Subject::table(OBJECTS_NAME);
    let tables = Reader::read_catalog(&mut source);
    if let Some(tables) = log.keep(&catalog, tables)? {
        return Ok(Some(Reader::with_catalog(source, tables)));
    }
    let shadow = Subject::table(OBJECTS_SHADOW_NAME);
    let tables = Reader::read_shadow_catalog(&mut source);
    if let Some(tables) = log.keep(&shadow, tables)? {
        log.report.notices.push(Notice::ShadowCatalog);
        return Ok(Some(Reader::with_catalog(source, tables)));
    }
    let salvaged = log.keep(&catalog, Reader::open_salvaged(source))?;
    Ok(salvaged.map(|(reader, losses)| {
        log.report.notices.push(Notice::SalvagedCatalog);
        for loss in losses {
            log.lost(&catalog, loss.error);
        }
        reader
    }))
}

/// A database under examination.
struct Examination<'h, S> {
    reader: Reader<S>,
    header: Option<&'h DatabaseHeader>,
    log: LogNeeded,
    map: PageMap,
    /// Roots of trees with partly unknown space.
    lost_space: BTreeSet<PageNumber>,
}

impl<S: PageSource> Examination<'_, S> {
    fn run(&mut self) -> Result<(), S::Error> {
        let tables = self.reader.tables().to_vec();
        let mut trees = Vec::new();
        let database = self.tree_space(&Subject::default(), TreeKind::Database, DATABASE)?;
        trees.extend(database);
        for table in &tables {
            for (subject, kind, place) in trees_of(table) {
                let space = self.tree_space(&subject, kind, place)?;
                if let Some(space) = &space {
                    self.check_space_header(&subject, space, table);
                }
                trees.extend(space);
            }
        }
        for tree in &trees {
            self.walk_trees_of(tree)?;
        }
        self.compare_times();
        self.account_for_space(&trees);
        for table in &tables {
            self.compare_table(table)?;
        }
        self.compare_objects(&tables)?;
        Ok(())
    }

    /// Checks that no page of a closed database is later than its header; an open database may be
    /// ahead of it.
    fn compare_times(&mut self) {
        let Some(header) = self.header else {
            return;
        };
        let (pages, highest) = (self.log.report.later_pages, header.dbtime);
        if pages > 0 && header.state == DatabaseState::CleanShutdown {
            let (latest, stated) = self.log.latest;
            let problem = Problem::Dbtime { pages, stated, highest };
            self.log.add(&Subject::default(), latest, &[], problem);
        }
    }

    /// Checks that the space header names the parent tree that provides the space, and whether keys
    /// may repeat.
    fn check_space_header(&mut self, subject: &Subject, tree: &TreeSpace, table: &CatalogTable) {
        let expected = match tree.kind {
            TreeKind::Database => PageNumber::NONE,
            TreeKind::Table => DATABASE.root,
            TreeKind::Index | TreeKind::LongValues => table.place.root,
        };
        let stated = tree.header.parent;
        if stated != expected {
            let problem = Problem::Parent { stated, expected };
            self.log.add(subject, tree.root, &[], problem);
        }
        let index = table.secondaries().find(|(_, place)| place.root == tree.root);
        let may_repeat = index.is_some_and(|(index, _)| !index.is_unique());
        if tree.header.is_non_unique != may_repeat {
            self.log.add(subject, tree.root, &[], Problem::Uniqueness);
        }
    }

    /// The space owned by the tree of `subject`, as far as readable, with a finding for the rest;
    /// `None` if its root is lost.
    fn tree_space(
        &mut self,
        subject: &Subject,
        kind: TreeKind,
        place: TreePlace,
    ) -> Result<Option<TreeSpace>, S::Error> {
        let (table, index) = (subject.table.as_str(), subject.index.as_str());
        let mut losses = Vec::new();
        let source = self.reader.source();
        let space = salvage_space(source, kind, table, index, place, &mut losses);
        let is_partial = !losses.is_empty();
        for loss in losses {
            self.log.lost(subject, loss.error);
        }
        let mut space = self.log.keep(subject, space)?;
        if let Some(space) = space.as_mut().filter(|_| is_partial) {
            // The lost part may name any page.
            let all = Extent::starting(PageNumber(1), self.reader.source().page_count());
            space.owned = ExtentSet::new([all]);
            space.owned_extents = vec![all];
            self.lost_space.insert(place.root);
        }
        Ok(space)
    }
}

/// The trees of a table, the table itself first.
fn trees_of(table: &CatalogTable) -> Vec<(Subject, TreeKind, TreePlace)> {
    let name = table.definition.name.as_str();
    let mut trees = vec![(Subject::table(name), TreeKind::Table, table.place)];
    trees.extend(
        table
            .secondaries()
            .map(|(index, place)| (Subject::index(name, &index.name), TreeKind::Index, place)),
    );
    trees.extend(
        table
            .long_values
            .map(|place| (Subject::index(name, "long values"), TreeKind::LongValues, place)),
    );
    trees
}

#[cfg(test)]
mod tests;
