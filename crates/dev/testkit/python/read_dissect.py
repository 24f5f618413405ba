"""Reads a table with dissect.esedb and prints its digest."""

from importlib.metadata import version

from canonical import COMPARABLE, LONG, Digest, main
from dissect.esedb import EseDB


def read(path, name):
    with open(path, "rb") as file:
        table = EseDB(file).table(name)
        columns = sorted(table.columns, key=lambda column: column.identifier)
        plain = [column for column in columns if column.type.value in COMPARABLE]
        long = [column for column in columns if column.type.value in LONG]
        records, long_values = Digest(), Digest()
        for record in table.records():
            records.count += 1
            for column in plain:
                records.field(column.identifier, record.get(column.name, raw=True))
            for column in long:
                value = record.get(column.name)
                if isinstance(value, str):
                    value = value.encode("utf-16-le")
                long_values.field(column.identifier, value)
                long_values.count += value is not None
        return {
            "records": records.result(),
            "long_values": long_values.result(),
            "indexes": {
                index.name: entries(index) for index in table.indexes if not index.is_primary
            },
        }


def entries(index):
    digest = Digest()
    for node in index.root.iter_leaf_nodes():
        digest.count += 1
        digest.sized(bytes(node.key))
        digest.sized(bytes(node.data))
    return digest.result()


main(f"dissect.esedb {version('dissect.esedb')}", read)
