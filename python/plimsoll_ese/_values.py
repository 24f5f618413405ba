"""Types for values that Python's own types cannot represent, and functions that build values."""

from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass
from typing import Optional

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Encrypted(bytes):
    """Bytes that the application encrypted, as they are stored."""


class OddText(str):
    """Text in which undecodable bytes were replaced; `stored` holds the original bytes."""

    stored: bytes


@dataclass(frozen=True)
class Damage:
    """A part of a database that cannot be read."""

    page: Optional[int]
    reason: str


@dataclass(frozen=True)
class Incomplete:
    """The readable parts of a value: `parts` and `undecoded` are pairs of offset and bytes."""

    length: Optional[int]
    parts: list[tuple[int, bytes]]
    undecoded: list[tuple[int, bytes]]
    damage: Damage


def odd_text(text: str, stored: bytes) -> OddText:
    odd = OddText(text)
    odd.stored = stored
    return odd


def guid(stored: bytes) -> uuid.UUID:
    return uuid.UUID(bytes_le=stored)


def date(microseconds: Optional[int], stored: float) -> datetime.datetime | float:
    """The time in UTC, or the stored number if Python cannot represent the time."""
    if microseconds is None:
        return stored
    try:
        return _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return stored


def incomplete(length, parts, undecoded, damage) -> Incomplete:
    return Incomplete(length, parts, undecoded, Damage(*damage))
