"""The strict parser of a document, which can be opened again in the middle of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers.expat import ExpatError, errors

from defusedxml.common import EntitiesForbidden, ExternalReferenceForbidden

from sitemap_discovery.protocol.guards import (
    GUARD_CODES,
    MAX_NAMES,
    MAX_TOKEN,
    XmlFault,
    guarded_parser,
)
from sitemap_discovery.protocol.tree import NOT_CLOSED, EntryBuilder
from sitemap_discovery.protocol.vocabulary import PREFIX_NAMESPACES

if TYPE_CHECKING:
    from sitemap_discovery.protocol.codes import Findings
    from sitemap_discovery.protocol.collect import Collector
    from sitemap_discovery.protocol.tree import Wrapper

MAX_PARSERS: Final = 10_000
"""Parsers opened for one file: each entry that cannot be mended costs one, about 0.1 ms."""

MAX_REPEATED: Final = 50_000_000
"""Bytes of start tags that are parsed again in one file when a parser is opened inside of them."""

MAX_PREFIXES: Final = 256
"""Prefixes declared for one file that does not declare them itself."""

LOCAL_CODES: Final = {
    "too-deep", "too-many-attributes", "token-too-long", "not-a-sitemap", NOT_CLOSED,
}  # fmt: skip
"""Faults that cost one entry, or what stands before the root, not the rest of the file."""

_UNBOUND_PREFIX: Final = errors.codes[errors.XML_ERROR_UNBOUND_PREFIX]


class Fault(NamedTuple):
    """What the parser stopped at, and at which ``place``; ``unbound`` for a prefix that is not
    declared; ``local`` when the rest of the document can be read."""

    code: str
    place: int
    local: bool = True
    unbound: bool = False


class EntryParser:
    """Expat under guards with an :class:`EntryBuilder` listening.

    What it is given stands at successive places of the document; :meth:`place` says where when
    that is not so. Once a :class:`Fault` was returned, :meth:`reopen` has to be called.
    """

    def __init__(self, collector: Collector, findings: Findings) -> None:
        self.builder = EntryBuilder(collector, findings)
        self._findings = findings
        self._doctype = b""
        self._declared: dict[str, str] = {}
        self._opened = self._repeated = 0
        self.reopen((), 0)

    def reopen(self, path: tuple[Wrapper, ...], place: int) -> None:
        """A fresh parser that stands inside the elements of ``path``; see :meth:`place`.

        Raises :class:`XmlFault` when that was done too often.
        """
        self._opened += 1
        if self._opened > MAX_PARSERS:
            raise XmlFault("not-well-formed")
        self._parser = guarded_parser(self._on_doctype)
        self.builder.attach(self._parser)
        head = b""
        for name, spaces in path:
            declared = dict(spaces) if head else self._declared | dict(spaces)
            head += b"<%b%b>" % (name.encode(), _declarations(declared))
        if head:
            head = self._doctype + head
            self._repeated += len(head)
            if self._repeated > MAX_REPEATED:
                raise XmlFault("not-well-formed")
            self._parser.Parse(head, False)
        self._given = len(head)
        self.place(place)

    def place(self, place: int) -> None:
        """What is given next stands at ``place``, of whatever the caller counts, outside of any
        entry."""
        self._shift = place - self._given
        self.builder.stand(self._given)

    def parse(self, data: bytes, *, final: bool = False) -> Fault | None:
        """Parse the next piece."""
        try:
            self._parser.Parse(data, final)
            self._given += len(data)
            self._check_bounds()
        except XmlFault as fault:
            return self._fault(fault.code, local=fault.code in LOCAL_CODES)
        except (EntitiesForbidden, ExternalReferenceForbidden) as error:
            return self._fault(GUARD_CODES[type(error)], local=False)
        except ExpatError as error:
            return self._fault("not-well-formed", unbound=error.code == _UNBOUND_PREFIX)
        return None

    @property
    def is_current(self) -> bool:
        """Whether nothing of what was given waits for more."""
        return self._given == self._parser.CurrentByteIndex

    def place_of(self, index: int) -> int:
        """The place of one of the parser's byte indices, as :meth:`place` counts."""
        return index + self._shift

    @property
    def has_external_dtd(self) -> bool:
        """Whether the document may define entities where we do not look."""
        return bool(self._doctype)

    def declare(self, prefixes: set[str], line: int) -> bool:
        """Let the parsers opened from now on know the prefixes, first used at ``line``; false when
        that changes nothing."""
        known = {prefix for prefix, _ in self.builder.root[1]} if self.builder.root else set()
        unknown = prefixes - known - self._declared.keys() - {"xml", "xmlns"}
        fresh = sorted(filter(_is_name, unknown))
        if not fresh or len(self._declared) + len(fresh) > MAX_PREFIXES:
            return False
        for prefix in fresh:
            self._findings.add("undeclared-prefix", line=line, example=prefix)
            self._declared[prefix] = PREFIX_NAMESPACES.get(prefix.lower(), f"undeclared:{prefix}")
        return True

    @property
    def declarations(self) -> bytes:
        """What :meth:`declare` declared, as it stands in a start tag."""
        return _declarations(self._declared)

    def declares(self, prefix: str, namespace: str) -> bool:
        """Whether the root declares ``prefix`` to be ``namespace``."""
        return self.builder.root is not None and (prefix, namespace) in self.builder.root[1]

    def _fault(self, code: str, *, local: bool = True, unbound: bool = False) -> Fault:
        return Fault(code, self.place_of(self._parser.ErrorByteIndex), local, unbound)

    def _check_bounds(self) -> None:
        if len(self._parser.intern) > MAX_NAMES:
            raise XmlFault("too-many-names")
        if self._given - self._parser.CurrentByteIndex > MAX_TOKEN:
            raise XmlFault("token-too-long")

    def _on_doctype(self, name: str, system: str | None) -> None:
        if self._opened == 1:
            self._findings.add("doctype")
        if system is not None:
            self._doctype = b'<!DOCTYPE %b SYSTEM "external">' % name.encode()


def _is_name(text: str) -> bool:
    """Whether what stands before a colon in broken markup can be declared."""
    try:
        guarded_parser(lambda *_: None).Parse(f"<{text}/>", True)
    except ExpatError:
        return False
    return True


def _declarations(namespaces: dict[str, str]) -> bytes:
    return "".join(
        f' xmlns:{prefix}="{_escaped(name)}"' if prefix else f' xmlns="{_escaped(name)}"'
        for prefix, name in namespaces.items()
    ).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
