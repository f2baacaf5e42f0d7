"""What the store needs from a database; one module a database implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from sitemap_discovery.inventory.store import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from sitemap_discovery.inventory.store import Parameters


class NotUnique(StoreUnavailable):
    """A row breaks a rule of the schema: mostly, its key is there already."""


class Database(ABC):
    """A connection. SQL is common to all databases, ``?`` stands for a parameter.

    The driver's faults come out as :class:`~sitemap_discovery.inventory.store.StoreError`, text
    that the database cannot hold as :class:`UnicodeEncodeError`.
    """

    @abstractmethod
    def write(self, rows: int = 0) -> AbstractContextManager[None]:
        """Part of a transaction that holds what it needs to write from its start.

        Parts that store ``rows`` rows may share one commit; a part without rows commits at once,
        and what waits with it.
        """

    @abstractmethod
    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    @abstractmethod
    def pages(self, sql: str, parameters: Parameters, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, at most ``size`` at a time; nothing is to be written meanwhile."""

    @abstractmethod
    def rows_in(
        self, sql: str, parameters: Sequence[Any], values: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        """The rows of a query whose last word is ``IN``, for any number of ``values``."""

    @abstractmethod
    def run(self, sql: str, parameters: Parameters = ()) -> int:
        """Execute one statement; returns the number of rows it touched."""

    @abstractmethod
    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute one statement for each of ``rows``."""

    @abstractmethod
    def insert(
        self, table: str, shared: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]
    ) -> list[range]:
        """Insert rows given as columns, each with the ``shared`` values.

        Returns the new ids, in the order of the rows. Raises :class:`NotUnique`. Names of tables
        and columns are the project's own, never data.
        """

    @abstractmethod
    def close(self) -> None:
        """Commit what waits and release the connection."""
