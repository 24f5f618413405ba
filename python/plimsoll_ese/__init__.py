"""Reads databases of the Extensible Storage Engine (ESE, .edb), damaged ones too.

    import plimsoll_ese

    database = plimsoll_ese.open("SRUDB.dat")
    for row in database["SruDbIdMapTable"]:
        print(row["IdBlob"])

The file is never written. Rows are dictionaries. What cannot be read is in `database.damage` after
the walk, unless `rows(on_damage="raise")` was asked for.
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
    """What the header says. `state` is "clean", "dirty" or another state's number."""

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

        With `columns`, only these are read. With `deleted`, rows that are deleted and not yet
        removed are given too. `on_damage` is "collect" (into `Database.damage`) or "raise".
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

        Types follow the columns. A value that is not whole becomes null, and its damage is in
        `Database.damage`.
        """
        import pyarrow

        from ._arrow import batches, schema

        chosen = [column for column in self.columns if columns is None or column.name in columns]
        of = schema(chosen)
        return pyarrow.RecordBatchReader.from_batches(of, batches(self, chosen, of, batch_rows))


class Database:
    """An open database. What a walk could not read is appended to `damage`."""

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
        """Where the tables come from: "first", "second" or, of two damaged copies, "remains"."""
        return self._native.catalog_copy()

    @property
    def tables(self) -> list[Table]:
        return [Table(self, name) for name in self._native.tables()]

    @property
    def corrected_pages(self) -> list[int]:
        """Pages read so far whose single flipped bits were turned back."""
        return self._native.corrected_pages()

    def space(self) -> list[TreeSpace]:
        """The pages of every tree; trees that cannot be read are in `damage`."""
        trees, lost = self._native.space()
        self.damage.extend(Damage(*of) for of in lost)
        return [TreeSpace(*tree) for tree in trees]

    def verify(self) -> Verification:
        """Examines whether everything agrees with everything else. Reads the whole database."""
        problems, findings, notices, counts = self._native.verify()
        return Verification(problems, [Finding(*of) for of in findings], notices, *counts)


open: Callable[[str | os.PathLike[str]], Database] = Database
