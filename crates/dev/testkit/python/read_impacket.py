"""Reads a table with impacket's ese module and prints its digest.

impacket does not follow separated long values and does not read indexes: those digests are null.
"""

import struct
from binascii import unhexlify
from importlib.metadata import version

from canonical import COMPARABLE, Digest, main
from impacket import ese


def stored(value, kind):
    """The stored bytes of a value that impacket has unpacked or written as hexadecimal digits."""
    if value is None:
        return None
    layout = ese.ColumnTypeSize[kind]
    return unhexlify(value) if layout is None else struct.pack(layout[1], value)


def read(path, name):
    database = ese.ESENT_DB(path)
    cursor = database.openTable(name)
    if cursor is None:
        raise SystemExit(f"{path}: no table {name}")
    columns = [
        (definition["Record"]["Identifier"], definition["Record"]["ColumnType"], column)
        for column, definition in cursor["TableData"]["Columns"].items()
    ]
    plain = sorted(column for column in columns if column[1] in COMPARABLE)
    records = Digest()
    while (row := database.getNextRow(cursor)) is not None:
        records.count += 1
        for identifier, kind, column in plain:
            records.field(identifier, stored(row[column], kind))
    database.close()
    return {"records": records.result(), "long_values": None, "indexes": {}}


main(f"impacket {version('impacket')}", read)
