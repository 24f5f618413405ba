"""Every value of every sample database equals what dissect.esedb reads."""

import datetime
import gzip
import math
import os
import pathlib
import tempfile
import unittest
import uuid

import plimsoll_ese
from dissect.esedb import EseDB

SAMPLES = [pathlib.Path(folder) for folder in os.environ["PLIMSOLL_SAMPLES"].split(os.pathsep)]
_DAYS = datetime.datetime(1899, 12, 30, tzinfo=datetime.timezone.utc)


def samples():
    files = {file.name: file for folder in SAMPLES for file in sorted(folder.rglob("*.edb.gz"))}
    return [files[name] for name in sorted(files)]


def plain(value):
    """Converts values that the two libraries represent differently to one form."""
    if value is None or value == [] or value == ():
        return None
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value] if len(value) > 1 else plain(value[0])
    if isinstance(value, uuid.UUID):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, str):
        return value.rstrip("\0").lower() if len(value) == 36 else value.rstrip("\0")
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, plimsoll_ese.Encrypted):
        return bytes(value)
    return value


def same(ours, theirs):
    """Whether both values are equal, apart from known differences.

    dissect.esedb returns unsigned 64-bit numbers as bytes, one character too many for a text with
    an odd number of bytes, and an extra zero after bytes that are stored in seven bits each.
    """
    if isinstance(theirs, memoryview):
        theirs = int.from_bytes(theirs, "little") if isinstance(ours, int) else bytes(theirs)
    if isinstance(ours, plimsoll_ese.OddText):
        return theirs.startswith(plain(ours)) and len(theirs) <= len(ours) + 1
    if isinstance(ours, bytes) and theirs == ours + b"\0":
        return True
    ours, theirs = plain(ours), plain(theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, datetime.datetime):
        if isinstance(theirs, datetime.datetime):
            theirs = theirs if theirs.tzinfo else theirs.replace(tzinfo=datetime.timezone.utc)
            return abs(ours - theirs) <= datetime.timedelta(milliseconds=1)
        return isinstance(theirs, (int, float))
    if isinstance(theirs, datetime.datetime):
        return isinstance(ours, float)
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return bool(ours) == bool(theirs)
    return ours == theirs


class AgainstDissect(unittest.TestCase):
    beyond = 0

    def test_every_value_is_equal(self):
        compared = 0
        for packed in samples():
            with self.subTest(packed.name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "sample.edb"
                path.write_bytes(gzip.decompress(packed.read_bytes()))
                compared += self.compare(path)
        files = len(samples())
        print(f"{compared} values of {files} databases equal; {self.beyond} that dissect lacks")
        self.assertGreater(compared, 1_000)

    def compare(self, path):
        ours, compared = plimsoll_ese.open(path), 0
        with path.open("rb") as file:
            theirs = EseDB(file)
            names = {table.name for table in theirs.tables()}
            self.assertEqual(names, {table.name for table in ours.tables})
            for table in ours.tables:
                compared += self.compare_table(table, theirs.table(table.name))
        self.assertEqual(ours.damage, [])
        return compared

    def compare_table(self, ours, theirs):
        compared, others = 0, iter(theirs.records())
        for row in ours:
            other = next(others)
            for column, value in row.items():
                try:
                    expected = other.get(column)
                except (KeyError, NotImplementedError):
                    # dissect.esedb reads neither template columns nor XPRESS10.
                    AgainstDissect.beyond += 1
                    continue
                self.assertTrue(
                    same(value, expected), f"{ours.name}.{column}: {value!r}, dissect {expected!r}"
                )
                compared += 1
        self.assertIsNone(next(others, None), f"{ours.name} has more rows for dissect")
        return compared


class Api(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "sample.edb"
        self.path.write_bytes(gzip.decompress(samples()[0].read_bytes()))

    def tearDown(self):
        self.folder.cleanup()

    def test_a_sound_database_verifies(self):
        database = plimsoll_ese.open(self.path)
        self.assertEqual(database.header.state, "clean")
        found = database.verify()
        self.assertEqual((found.problems, found.findings), (0, []))
        self.assertGreater(found.rows, 0)
        self.assertEqual(database.space()[0].table, "")

    def test_what_is_missing_is_named(self):
        database = plimsoll_ese.open(self.path)
        with self.assertRaises(KeyError):
            database["no such table"]
        with self.assertRaises(KeyError):
            database["MSysObjects"].rows(["no such column"])
        with self.assertRaises(FileNotFoundError):
            plimsoll_ese.open(self.path.with_name("missing.edb"))
        self.path.write_bytes(bytes(100_000))
        with self.assertRaises(ValueError):
            plimsoll_ese.open(self.path)

    def test_a_damaged_page_is_named(self):
        database = plimsoll_ese.open(self.path)
        bytes_ = bytearray(self.path.read_bytes())
        page_bytes = database.header.page_bytes
        _, page, _ = next(iter(database._native.rows("MSysObjids", None, False)))[0]
        start = (page + 1) * page_bytes
        bytes_[start + page_bytes // 2 : start + page_bytes] = b"\xa5" * (page_bytes // 2)
        self.path.write_bytes(bytes_)
        damaged = plimsoll_ese.open(self.path)
        list(damaged["MSysObjids"])
        self.assertIn(page, [damage.page for damage in damaged.damage])
        with self.assertRaises(plimsoll_ese.DamagedError):
            list(damaged["MSysObjids"].rows(on_damage="raise"))

    def test_arrow_batches_hold_the_rows(self):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        table = plimsoll_ese.open(self.path)["MSysObjects"]
        arrow = table.to_arrow(batch_rows=7).read_all()
        self.assertEqual(arrow.num_rows, len(list(table)))
        self.assertEqual(arrow["Name"].to_pylist(), [row["Name"] for row in table])


if __name__ == "__main__":
    unittest.main()
