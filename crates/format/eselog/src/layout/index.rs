//! The table of layouts, indexed by type and field when the program is built: replay asks for
//! twenty fields of each record.

use super::{Field, FieldAt, RecordLayout, table};

/// Number of possible record types, known or not.
const KINDS: usize = 256;
/// Bits of an entry that hold a field's number within its group; the others number the group, from
/// one on.
const FIELD_BITS: u32 = 5;

/// Index of each type's layout in the table; out of range for unknown types.
static LAYOUTS: [u8; KINDS] = layouts();

/// Position of each field in the groups of each layout; 0 if absent.
static FIELDS: [[u8; Field::COUNT]; table::TABLE.len()] = fields();

/// The layout of a type.
pub(super) fn layout_of(kind: u8) -> Option<&'static RecordLayout> {
    table::TABLE.get(usize::from(LAYOUTS[usize::from(kind)]))
}

/// The place of a field in records of a type.
pub(super) fn find(kind: u8, field: Field) -> Option<FieldAt> {
    let layout = usize::from(LAYOUTS[usize::from(kind)]);
    let entry = usize::from(FIELDS.get(layout)?[field as usize]);
    let group = (entry >> FIELD_BITS).checked_sub(1)?;
    table::TABLE[layout].groups[group].get(entry & ((1 << FIELD_BITS) - 1)).copied()
}

const fn layouts() -> [u8; KINDS] {
    assert!(table::TABLE.len() < 0xFF);
    let mut layouts = [0xFF; KINDS];
    let mut index: u8 = 0;
    while (index as usize) < table::TABLE.len() {
        layouts[table::TABLE[index as usize].kind as usize] = index;
        index += 1;
    }
    layouts
}

const fn fields() -> [[u8; Field::COUNT]; table::TABLE.len()] {
    let mut fields = [[0; Field::COUNT]; table::TABLE.len()];
    let mut index = 0;
    while index < table::TABLE.len() {
        let groups = table::TABLE[index].groups;
        let mut group = 0;
        while group < groups.len() {
            let mut at = 0;
            while at < groups[group].len() {
                fields[index][groups[group][at].field as usize] = entry(group, at);
                at += 1;
            }
            group += 1;
        }
        index += 1;
    }
    fields
}

const fn entry(group: usize, at: usize) -> u8 {
    assert!(at < 1 << FIELD_BITS && group + 1 < 1 << (u8::BITS - FIELD_BITS));
    let [entry, ..] = ((group + 1) << FIELD_BITS | at).to_le_bytes();
    entry
}

#[cfg(test)]
mod tests {
    use super::{find, layout_of, table};

    #[test]
    fn the_index_finds_what_the_table_says() {
        for layout in table::TABLE {
            assert_eq!(layout_of(layout.kind).map(|found| found.name), Some(layout.name));
            for at in layout.fields() {
                let found = find(layout.kind, at.field).expect("in the index");
                assert_eq!((found.at, found.kind), (at.at, at.kind), "{}", layout.name);
            }
        }
        assert!(layout_of(200).is_none());
        assert!(find(0, super::Field::Page).is_none());
    }
}
