//! One cell of a row as text: for people and spreadsheets in CSV, lossless in JSON.
//!
//! JSON is written by hand: members follow the order of the schema, and numbers keep every bit.
//! Values that JSON cannot express are written as objects, a form that no ordinary value has.

use ese::reader::{ChunkContent, FieldValue, PartialValue, Salvaged};
use ese::schema::ColumnDefinition;
use ese::value::Value;
use units::hexadecimal;

/// The values of one column of one row.
pub(super) struct ExportCell<'a> {
    pub column: &'a ColumnDefinition,
    pub values: &'a [Salvaged],
}

impl ExportCell<'_> {
    /// A JSON value: null, one value, or an array of several.
    pub(super) fn json(&self) -> String {
        let texts: Vec<String> = self.values.iter().map(|value| self.one_json(value)).collect();
        match texts.as_slice() {
            [] => "null".to_owned(),
            [one] => one.clone(),
            several => format!("[{}]", several.join(",")),
        }
    }

    fn one_json(&self, value: &Salvaged) -> String {
        match value {
            Salvaged::Whole(FieldValue::Bytes(bytes)) => {
                value_json(&Value::decode(self.column, bytes))
            }
            Salvaged::Whole(FieldValue::Encrypted(bytes)) => {
                format!("{{\"encrypted\":\"{}\"}}", hexadecimal(bytes))
            }
            Salvaged::Partial(partial) => partial_json(partial),
        }
    }

    /// Formats a CSV field. Several values become a JSON array of their texts; so does a single
    /// value that looks like such an array, in a column that may have several.
    pub(super) fn csv(&self) -> String {
        let texts: Vec<String> = self.values.iter().map(|value| self.text(value)).collect();
        let may_repeat = self.column.is_multi_valued();
        match texts.as_slice() {
            [] => String::new(),
            [one] if !(may_repeat && one.starts_with('[')) => csv_field(one),
            several => csv_field(&serde_json::json!(several).to_string()),
        }
    }

    fn text(&self, value: &Salvaged) -> String {
        match value {
            Salvaged::Whole(FieldValue::Bytes(bytes)) => {
                Value::decode(self.column, bytes).to_string()
            }
            Salvaged::Whole(FieldValue::Encrypted(bytes)) => hexadecimal(bytes),
            Salvaged::Partial(partial) => format!("!{}", partial.reason),
        }
    }
}

fn value_json(value: &Value) -> String {
    match value {
        Value::Bit(bit) => bit.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
        Value::Real(number) => real_json(*number),
        Value::DateTime(days) => match value.to_string() {
            date if date.ends_with('Z') => string(&date),
            _ => real_json(*days),
        },
        Value::Text(text) => string(text),
        Value::OddText { stored, .. } => format!("{{\"stored\":\"{}\"}}", hexadecimal(stored)),
        Value::Guid(_) | Value::Binary(_) => string(&value.to_string()),
    }
}

/// JSON cannot express NaN and infinities.
fn real_json(number: f64) -> String {
    if number.is_finite() {
        return serde_json::json!(number).to_string();
    }
    if number.is_nan() && number.to_bits() != f64::NAN.to_bits() {
        return format!("\"NaN:{:016x}\"", number.to_bits());
    }
    format!("\"{number}\"")
}

fn partial_json(partial: &PartialValue) -> String {
    let chunks: Vec<String> = partial
        .chunks
        .iter()
        .map(|chunk| {
            let (word, bytes) = match &chunk.content {
                ChunkContent::Bytes(bytes) => ("bytes", bytes),
                ChunkContent::Stored(bytes) => ("stored", bytes),
            };
            let offset = chunk.offset;
            format!("{{\"offset\":{offset},\"{word}\":\"{}\"}}", hexadecimal(bytes))
        })
        .collect();
    let length = partial.bytes.map_or("null".to_owned(), |bytes| bytes.to_string());
    format!(
        "{{\"incomplete\":{},\"length\":{length},\"chunks\":[{}]}}",
        string(&partial.reason.to_string()),
        chunks.join(",")
    )
}

/// A string of JSON.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Formats a field according to RFC 4180. An empty text is quoted, to distinguish it from null.
pub(super) fn csv_field(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportCell, csv_field};
    use ese::reader::{FieldValue, Salvaged};
    use ese::schema::{ColumnDefinition, ColumnType};

    fn cell(kind: ColumnType, flags: u32, code_page: u32, values: &[&[u8]]) -> (String, String) {
        let mut column = ColumnDefinition::new(256, "C", kind, 0);
        column.flags = flags;
        column.code_page = code_page;
        let values: Vec<Salvaged> =
            values.iter().map(|bytes| Salvaged::Whole(FieldValue::Bytes(bytes.to_vec()))).collect();
        let cell = ExportCell { column: &column, values: &values };
        (cell.csv(), cell.json())
    }

    fn both(csv: &str, json: &str) -> (String, String) {
        (csv.to_owned(), json.to_owned())
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let fields = ["a", "b,c", "d\"e", ""].map(csv_field);
        assert_eq!(fields, ["a", "\"b,c\"", "\"d\"\"e\"", "\"\""]);
    }

    #[test]
    fn null_and_empty_are_told_apart() {
        assert_eq!(cell(ColumnType::Text, 0, 1252, &[]), both("", "null"));
        assert_eq!(cell(ColumnType::Text, 0, 1252, &[b""]), both("\"\"", "\"\""));
    }

    #[test]
    fn several_values_are_told_from_one_that_looks_like_them() {
        // The flag of a column whose rows may have several values.
        let many = 0x8;
        let text = |flags, values: &[&[u8]]| cell(ColumnType::Text, flags, 1252, values).0;
        assert_eq!(text(many, &[b"a;b", b"c"]), "\"[\"\"a;b\"\",\"\"c\"\"]\"");
        assert_eq!(text(many, &[b"a;b"]), "a;b");
        assert_eq!(text(many, &[b"[\"a\"]"]), "\"[\"\"[\\\"\"a\\\"\"]\"\"]\"");
        assert_eq!(text(0, &[b"[a]"]), "[a]");
    }

    #[test]
    fn json_loses_nothing() {
        let json = |kind, bytes: &[u8]| cell(kind, 0, 1200, &[bytes]).1;
        assert_eq!(json(ColumnType::Double, &f64::NAN.to_le_bytes()), "\"NaN\"");
        let odd = f64::from_bits(0x7FF8_0000_0000_0001);
        assert_eq!(json(ColumnType::Double, &odd.to_le_bytes()), "\"NaN:7ff8000000000001\"");
        let infinite = f64::NEG_INFINITY.to_le_bytes();
        assert_eq!(json(ColumnType::Double, &infinite), "\"-inf\"");
        assert_eq!(json(ColumnType::UnsignedLongLong, &[255; 8]), "18446744073709551615");
        assert_eq!(json(ColumnType::LongText, b"a\0\0\0"), "\"a\\u0000\"");
        assert_eq!(json(ColumnType::LongText, &[0, 0xD8]), "{\"stored\":\"00d8\"}");
    }
}
