"""Rows as Arrow record batches."""

from __future__ import annotations

import datetime
import uuid

import pyarrow

from ._values import Damage, Incomplete

_TYPES = {
    "Bit": pyarrow.bool_(),
    "UnsignedByte": pyarrow.uint8(),
    "Short": pyarrow.int16(),
    "UnsignedShort": pyarrow.uint16(),
    "Long": pyarrow.int32(),
    "UnsignedLong": pyarrow.uint32(),
    "LongLong": pyarrow.int64(),
    "UnsignedLongLong": pyarrow.uint64(),
    "Currency": pyarrow.int64(),
    "Single": pyarrow.float32(),
    "Double": pyarrow.float64(),
    "DateTime": pyarrow.timestamp("us", tz="UTC"),
    "Guid": pyarrow.binary(16),
    "Text": pyarrow.string(),
    "LongText": pyarrow.string(),
}


def schema(columns) -> pyarrow.Schema:
    fields = []
    for column in columns:
        kind = _TYPES.get(column.kind, pyarrow.binary())
        fields.append((column.name, pyarrow.list_(kind) if column.is_multi_valued else kind))
    return pyarrow.schema(fields)


def batches(table, columns, schema, batch_rows):
    held: list = []
    for row in table.rows([column.name for column in columns]):
        held.append(row)
        if len(held) == batch_rows:
            yield _batch(table, columns, schema, held)
            held = []
    if held:
        yield _batch(table, columns, schema, held)


def _batch(table, columns, schema, rows):
    arrays = []
    for column, field in zip(columns, schema):
        values = [_value(table, column, row[column.name]) for row in rows]
        arrays.append(pyarrow.array(values, field.type))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _value(table, column, value):
    if isinstance(value, list):
        return [_value(table, column, one) for one in value]
    if isinstance(value, uuid.UUID):
        return value.bytes_le
    if isinstance(value, Incomplete):
        table._database.damage.append(value.damage)
        return None
    if column.kind == "DateTime" and not isinstance(value, datetime.datetime) and value is not None:
        reason = f"{table.name}, column {column.name}: {value} stands for no time"
        table._database.damage.append(Damage(None, reason))
        return None
    return value
