"""The digest that every reader of a database file must agree on.

A record is the concatenation, over its comparable columns in ascending column id, of the column id
(u16), the value's length in bytes (u32, all ones for null) and the value as stored; all integers
little-endian. `records` is XXH3-128 over all records in primary key order. `long_values` is the
same over the long-value columns of those records, whole values; `indexes` over key and data of
every entry of a secondary index, each behind its length (u32).
"""

import json
import struct
import sys

import xxhash

NULL = 0xFFFFFFFF
# JET column types whose stored bytes every reader returns unchanged.
COMPARABLE = {1, 2, 3, 4, 5, 9, 14, 15, 16, 17}
LONG = {11, 12}


class Digest:
    """An item count and the hash over the items."""

    def __init__(self):
        self.count = 0
        self.hash = xxhash.xxh3_128()

    def field(self, column, value):
        if value is None:
            self.hash.update(struct.pack("<HI", column, NULL))
        else:
            self.hash.update(struct.pack("<HI", column, len(value)))
            self.hash.update(value)

    def sized(self, value):
        self.hash.update(struct.pack("<I", len(value)))
        self.hash.update(value)

    def result(self):
        return {"count": self.count, "xxh3_128": self.hash.hexdigest()}


def main(reader, read):
    """Runs `read(path, table)` on the command line's arguments and prints its result as JSON."""
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DATABASE TABLE")
    result = read(sys.argv[1], sys.argv[2])
    print(json.dumps({"reader": reader, "table": sys.argv[2], **result}))
