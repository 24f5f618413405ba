//! Integrity of a whole database: does everything in it agree with everything else?
//!
//! Checksums say that pages are as they were written; this says that what was written makes
//! sense. Every owned page must be reached exactly once or be available; leaves must be chained
//! as the tree orders them; keys must ascend and lie between their separators; indexes must say
//! what the rows say; long values must be referenced as often as they claim. Memory is two bits
//! per page and eight bytes per long value.

mod finding;
mod index;
mod long_values;
mod page_map;
mod rows;
mod space;
mod tree;

pub use finding::{Finding, Notice, Problem, Report, Subject};

use crate::catalog::{CatalogTable, TreePlace};
use crate::reader::{PageSource, ReadError, Reader, TreeKind};
use finding::Log;
use page_map::PageMap;

/// Examines the database behind `source`. Damage becomes findings; only an error of the source
/// itself ends the examination.
pub fn verify<S: PageSource>(source: S) -> Result<Report, S::Error> {
    let mut log = Log::default();
    let page_count = source.page_count();
    let reader = match Reader::open(source) {
        Ok(reader) => reader,
        Err(error) => {
            log.damage(&Subject::default(), error)?;
            return Ok(log.report);
        }
    };
    let mut examination = Examination {
        reader,
        log,
        map: PageMap::new(page_count),
    };
    examination.run()?;
    Ok(examination.log.report)
}

/// A database under examination.
struct Examination<S> {
    reader: Reader<S>,
    log: Log,
    map: PageMap,
}

impl<S: PageSource> Examination<S> {
    fn run(&mut self) -> Result<(), S::Error> {
        let tables = self.reader.tables().to_vec();
        let mut trees = Vec::new();
        let database = self.tree_space(&Subject::default(), TreeKind::Database, DATABASE)?;
        trees.extend(database);
        for table in &tables {
            for (subject, kind, place) in trees_of(table) {
                trees.extend(self.tree_space(&subject, kind, place)?);
            }
        }
        for tree in &trees {
            self.walk_trees_of(tree)?;
        }
        self.account_for_space(&trees);
        for table in &tables {
            self.compare_table(table)?;
        }
        Ok(())
    }

    /// What the tree of `subject` owns; none, and a finding, where that cannot be read.
    fn tree_space(
        &mut self,
        subject: &Subject,
        kind: TreeKind,
        place: TreePlace,
    ) -> Result<Option<crate::reader::TreeSpace>, S::Error> {
        let (table, index) = (subject.table.as_str(), subject.index.as_str());
        let space = crate::reader::tree_space(self.reader.source(), kind, table, index, place);
        self.log.keep(subject, space)
    }
}

/// The tree that owns all space.
const DATABASE: TreePlace = TreePlace {
    object: crate::catalog::system_trees::DATABASE.object,
    root: crate::catalog::system_trees::DATABASE.root,
};

/// The trees of a table, the table itself first.
fn trees_of(table: &CatalogTable) -> Vec<(Subject, TreeKind, TreePlace)> {
    let name = table.definition.name.as_str();
    let mut trees = vec![(Subject::table(name), TreeKind::Table, table.place)];
    trees.extend(
        table
            .secondaries()
            .map(|(index, place)| (Subject::index(name, &index.name), TreeKind::Index, place)),
    );
    trees.extend(table.long_values.map(|place| {
        (
            Subject::index(name, "long values"),
            TreeKind::LongValues,
            place,
        )
    }));
    trees
}

/// Damage that a read came upon, apart from errors of the source.
type Damage = ReadError<std::convert::Infallible>;

#[cfg(test)]
mod tests;
