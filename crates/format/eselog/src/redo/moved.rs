//! Redo of pages that move within the file.

use ese::page::{PageError, PageMut, PageRef};
use ese::space::{Extents, SpaceHeader};
use units::PageNumber;

use super::edit;
use super::image;
use super::space::put_space_header;
use super::{BehindCause, LogReplay, PageStore};
use crate::layout::{Field, Part, types};
use crate::record::LogRecord;

/// In the flags of a move: the root of a tree, and that of its owned extents.
const MOVES_ROOT: u64 = 1;
const MOVES_OWNED: u64 = 2;

impl<S: PageStore> LogReplay<S> {
    /// Moves a page below a root; updates its parent and neighbours.
    pub(super) fn redo_page_move(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let (place, after) = (record.place(), record.number(Field::Dbtime));
        let (source, target) = (record.page(Field::Page), record.page(Field::NewPage));
        self.copy_moved(record, None)?;
        self.empty_page(source, record.number(Field::DbtimeBefore), after, place)?;
        let (left, right) = (record.page(Field::LeftPage), record.page(Field::RightPage));
        for (page, before) in [(left, Field::LeftBefore), (right, Field::RightBefore)] {
            if !page.is_some() {
                continue;
            }
            if let Some(mut bytes) = self.open(page, record.number(before), after, place)? {
                if page == left {
                    edit::set_next(&mut bytes, target);
                } else {
                    edit::set_previous(&mut bytes, target);
                }
                self.close(page, bytes, after, place, Ok(()))?;
            }
        }
        let (parent, before) = (record.page(Field::ParentPage), record.number(Field::ParentBefore));
        if let Some(mut bytes) = self.open(parent, before, after, place)? {
            let line = record.size(Field::ParentLine);
            let done = edit::replace_data(&mut bytes, line, &target.0.to_le_bytes());
            self.close(parent, bytes, after, place, done)?;
        }
        Ok(())
    }

    /// Makes the page at its new location from the image in the record.
    fn copy_moved(
        &mut self,
        record: &LogRecord<'_>,
        owned: Option<PageNumber>,
    ) -> Result<(), S::Error> {
        let (target, after) = (record.page(Field::NewPage), record.number(Field::Dbtime));
        if !self.is_to_renew(target, after)? {
            return Ok(());
        }
        let Some(mut bytes) = image::of_move(record, self.pages.page_size()) else {
            self.leave_behind(target, record.place(), BehindCause::BadRecord);
            return Ok(());
        };
        let done = owned.map_or(Ok(()), |owned| point_to_space(&mut bytes, owned));
        self.renew_or_leave(target, bytes, record, done)
    }

    /// Moves the root of a tree and the roots of its space trees, and updates the trees below it
    /// and the catalog.
    pub(super) fn redo_root_move(
        &mut self,
        records: &[LogRecord<'static>],
    ) -> Result<(), S::Error> {
        let owned = records.iter().find(|record| moves_owned(record));
        let owned = owned.map(|record| record.page(Field::NewPage));
        for record in records {
            let (page, place) = (record.page(Field::Page), record.place());
            let (before, after) =
                (record.number(Field::DbtimeBefore), record.number(Field::Dbtime));
            match record.kind() {
                types::PAGE_MOVE => {
                    let is_root = record.number(Field::MoveFlags) & MOVES_ROOT != 0;
                    self.copy_moved(record, owned.filter(|_| is_root))?;
                    self.empty_page(page, before, after, place)?;
                }
                types::SET_EXTERNAL_HEADER => {
                    if let Some(mut bytes) = self.open(page, before, after, place)? {
                        let header = SpaceHeader::decode(record.part(Part::Data));
                        let done = header.map_or(Err(PageError::Damaged { tag: 0 }), |header| {
                            put_space_header(&mut bytes, &header)
                        });
                        self.close(page, bytes, after, place, done)?;
                    }
                }
                types::REPLACE => self.replace_in_catalog(record)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Updates a row of the catalog. Two records of a macro may change one page, with the same
    /// database times before and after.
    fn replace_in_catalog(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let (page, place) = (record.page(Field::Page), record.place());
        let (before, after) = (record.number(Field::DbtimeBefore), record.number(Field::Dbtime));
        let line = record.size(Field::Line);
        let data = record.part(Part::Data);
        let opened = match self.open(page, before, after, place)? {
            Some(bytes) => Some(bytes),
            // Changed by the macro's first record for this page a moment ago.
            None if self.is_at(page, after) => self.pages.take(page),
            None => None,
        };
        let Some(mut bytes) = opened else {
            return Ok(());
        };
        let done = edit::replace_data(&mut bytes, line, data);
        self.close(page, bytes, after, place, done)
    }

    fn is_at(&self, page: PageNumber, dbtime: u64) -> bool {
        let bytes = self.pages.bytes(page).filter(|_| !self.behind.contains_key(&page));
        bytes.is_some_and(|bytes| PageRef::new(bytes).dbtime() == dbtime)
    }
}

/// Whether a record moves the root of owned extents.
fn moves_owned(record: &LogRecord<'_>) -> bool {
    record.kind() == types::PAGE_MOVE && record.number(Field::MoveFlags) & MOVES_OWNED != 0
}

/// Points a moved root to the new location of its owned extents.
fn point_to_space(bytes: &mut [u8], owned: PageNumber) -> Result<(), PageError> {
    let external = PageRef::new(bytes).external_header().to_vec();
    let at = external.len().checked_sub(SpaceHeader::BYTES).map_or(0, |more| usize::from(more > 0));
    let header = external.get(at..).and_then(SpaceHeader::decode);
    let header = header.ok_or(PageError::Damaged { tag: 0 })?;
    let moved = SpaceHeader { extents: Extents::Multiple { owned }, ..header };
    put_space_header(bytes, &moved)?;
    PageMut::new(bytes).reorganise()
}
