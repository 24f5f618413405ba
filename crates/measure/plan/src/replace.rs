//! Replaces values of a document before it is read, for a command line or a sweep.
//!
//! They pass the same checks as values in the document; complaints about them name no line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::complaint::{Complaint, Problem};
use crate::reader::{OUTSIDE, TomlPlace};

/// Replaces the value at `path` with `value`, which is TOML or a bare word. The path is
/// `section.key`, in which sections in double brackets are counted from 1.
pub(crate) fn put<'a>(
    table: &mut DeTable<'a>,
    path: &'a str,
    value: &'a str,
) -> Result<(), Complaint> {
    let parsed = DeValue::parse(value).map(Spanned::into_inner);
    let parsed = parsed.unwrap_or_else(|_| DeValue::String(value.into()));
    let mut steps: Vec<&str> = path.split('.').collect();
    let key = steps.pop().unwrap_or_default();
    let mut steps = steps.into_iter();
    let mut table = table;
    while let Some(section) = steps.next() {
        let entry = table.entry(outside(section.into()));
        let entry = entry.or_insert_with(|| outside(DeValue::Table(DeTable::new())));
        table = match entry.get_mut() {
            DeValue::Table(below) => below,
            DeValue::Array(items) => steps
                .next()
                .and_then(|number| number.parse::<usize>().ok()?.checked_sub(1))
                .and_then(|index| items.get_mut(index))
                .and_then(|item| as_table(item.get_mut()))
                .ok_or_else(|| wrong(path, "names no section; count them from 1: tier.1.KEY"))?,
            _ => {
                return Err(wrong(path, "leads through a value; name a section and a key"));
            }
        };
    }
    table.remove(key); // with its place, which an insertion would keep
    table.insert(outside(key.into()), outside(parsed));
    Ok(())
}

fn as_table<'t, 'a>(value: &'t mut DeValue<'a>) -> Option<&'t mut DeTable<'a>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn outside<T>(value: T) -> Spanned<T> {
    Spanned::new(OUTSIDE..OUTSIDE, value)
}

fn wrong(path: &str, message: &str) -> Complaint {
    let (key, message) = (path.to_owned(), message.to_owned());
    TomlPlace { line: 0, key }.complaint(Problem::Conflict { message })
}
