"""Reads databases of the Extensible Storage Engine (ESE, .edb), damaged ones too.

    import plimsoll_ese

    database = plimsoll_ese.open("SRUDB.dat")
    for row in database["SruDbIdMapTable"]:
        print(row["IdBlob"])

The file is never written. Rows are dictionaries. After the walk, unreadable parts are listed in
`database.damage`; with `rows(on_damage="raise")` the first one raises an error instead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional

from . import _native
from ._values import Damage, Encrypted, Incomplete, OddText

__all__ = [
    "Column", "Damage", "DamagedError", "Database", "Encrypted", "Finding", "Header", "Incomplete",
    "Index", "OddText", "Table", "TreeSpace", "Verification", "open",
]


class DamagedError(Exception):
    """A part of a table cannot be read."""

    def __init__(self, damage: Damage):
        super().__init__(damage.reason)
        self.damage = damage


@dataclass(frozen=True)
class Header:
    """Fields of the database header. `state` is "clean", "dirty" or "other(N)"."""

    page_bytes: int
    state: str
    dbtime: int
    log_required: tuple[int, int]
    format: tuple[int, int]


@dataclass(frozen=True)
class Column:
    name: str
    id: int
    kind: str
    is_multi_valued: bool


@dataclass(frozen=True)
class Index:
    name: str
    is_primary: bool
    is_unique: bool


@dataclass(frozen=True)
class TreeSpace:
    table: str
    tree: str
    root: int
    owned_pages: int
    available_pages: int


@dataclass(frozen=True)
class Finding:
    subject: str
    page: Optional[int]
    pages: int
    problem: str


@dataclass(frozen=True)
class Verification:
    problems: int
    findings: list[Finding]
    notices: list[str]
    rows: int
    index_entries: int
    long_values: int


class Table:
    """A table of an open database."""

    def __init__(self, database: Database, name: str):
        self._database = database
        self.name = name

    def __repr__(self) -> str:
        return f"<Table {self.name}>"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    @property
    def columns(self) -> list[Column]:
        return [Column(*column) for column in self._database._native.columns(self.name)]

    @property
    def indexes(self) -> list[Index]:
        return [Index(*index) for index in self._database._native.indexes(self.name)]

    def rows(
        self,
        columns: Optional[list[str]] = None,
        deleted: bool = False,
        on_damage: str = "collect",
    ) -> Iterator[dict[str, Any]]:
        """The rows, in the order of the primary key.

        With `columns`, only these are read. With `deleted`, rows that are marked as deleted but not
        yet removed are included. `on_damage` is "collect" (into `Database.damage`) or "raise".
        """
        if on_damage not in ("collect", "raise"):
            raise ValueError(f'on_damage is "collect" or "raise", not {on_damage!r}')
        return self._walk(self._database._native.rows(self.name, columns, deleted), on_damage)

    def _walk(self, steps, on_damage: str) -> Iterator[dict[str, Any]]:
        for row, lost in steps:
            if lost is None:
                yield row[0]
            elif on_damage == "raise":
                raise DamagedError(Damage(*lost))
            else:
                self._database.damage.append(Damage(*lost))

    def to_arrow(self, columns: Optional[list[str]] = None, batch_rows: int = 10_000):
        """The rows as a `pyarrow.RecordBatchReader`; needs the package pyarrow.

        Types follow the columns. An incomplete value becomes null, and its damage is added to
        `Database.damage`.
        """
        import pyarrow

        from ._arrow import batches, schema

        chosen = [column for column in self.columns if columns is None or column.name in columns]
        of = schema(chosen)
        return pyarrow.RecordBatchReader.from_batches(of, batches(self, chosen, of, batch_rows))


class Database:
    """An open database. Parts that a walk could not read are appended to `damage`."""

    def __init__(self, path: str | os.PathLike[str]):
        self._native = _native.Database(os.fspath(path))
        self.damage: list[Damage] = [Damage(*lost) for lost in self._native.catalog_losses()]

    def __getitem__(self, table: str) -> Table:
        if table not in self._native.tables():
            raise KeyError(table)
        return Table(self, table)

    @property
    def header(self) -> Header:
        return Header(*self._native.header())

    @property
    def catalog_copy(self) -> str:
        """The catalog copy used: "first", "second", or "remains" if both copies are damaged."""
        return self._native.catalog_copy()

    @property
    def tables(self) -> list[Table]:
        return [Table(self, name) for name in self._native.tables()]

    @property
    def corrected_pages(self) -> list[int]:
        """Pages read so far in which a single flipped bit was corrected."""
        return self._native.corrected_pages()

    def space(self) -> list[TreeSpace]:
        """The pages of every tree; trees that cannot be read are in `damage`."""
        trees, lost = self._native.space()
        self.damage.extend(Damage(*of) for of in lost)
        return [TreeSpace(*tree) for tree in trees]

    def verify(self) -> Verification:
        """Checks the whole database for consistency, which reads all of it."""
        problems, findings, notices, counts = self._native.verify()
        return Verification(problems, [Finding(*of) for of in findings], notices, *counts)


open: Callable[[str | os.PathLike[str]], Database] = Database
