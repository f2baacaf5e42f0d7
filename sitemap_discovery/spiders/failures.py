"""Why a request gave no file: exceptions as stable reason codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.web.client import ResponseFailed

from sitemap_discovery.protocol.codes import State

if TYPE_CHECKING:
    from twisted.python.failure import Failure

REASONS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (CannotResolveHostError, "dns-failure"),
    (DownloadTimeoutError, "timeout"),
    (DownloadConnectionRefusedError, "connection-refused"),
    (UnsupportedURLSchemeError, "scheme-refused"),
    (DownloadCancelledError, "stopped"),
    (IgnoreRequest, "stopped"),
)
"""Exception to reason; the first that fits counts, ``connection-lost`` when none does."""


def reason_of(failure: Failure) -> str:
    """The reason code of a failed request."""
    error = failure.value
    if isinstance(error, HttpError):
        return f"http-{error.response.status}"
    code = getattr(error, "code", None)
    if isinstance(error, IgnoreRequest) and isinstance(code, str):
        return code
    if _is_tls(error):
        return "tls-failure"
    for kind, reason in REASONS:
        if isinstance(error, kind):
            return reason
    return "connection-lost"


def _is_tls(error: BaseException | None) -> bool:
    """Whether OpenSSL is the cause, however Twisted wrapped it."""
    steps: list[BaseException | None] = [error]
    for step in steps:
        if step is None or len(steps) > 32:
            continue
        if (
            type(step).__module__.startswith("OpenSSL")
            or "VerificationError" in type(step).__name__
        ):
            return True
        steps.append(step.__cause__)
        if isinstance(step, ResponseFailed):
            steps.extend(reason.value for reason in step.reasons)
    return False


def status_of(reason: str) -> int | None:
    """The HTTP status that a reason code names, if it does."""
    return int(reason.removeprefix("http-")) if reason.startswith("http-") else None


def state_of(failure: Failure) -> State:
    """``skipped`` when the file was not asked for by our own rules, else ``failed``."""
    reason = reason_of(failure)
    ours = isinstance(failure.value, IgnoreRequest)
    left_out = reason == "robots-disallowed" or reason.endswith("-refused")
    return State.SKIPPED if ours and left_out else State.FAILED


def is_missing(failure: Failure, url: str) -> bool:
    """Whether the file at ``url`` is to be read as not there (RFC 9309 2.3.1): a 4xx answer that
    is no plea to wait, or redirects that lead nowhere we go."""
    status = status_of(reason_of(failure))
    if status is not None:
        return 400 <= status < 500 and status != 429
    hop = getattr(failure.value, "url", url)
    return isinstance(failure.value, IgnoreRequest) and (
        reason_of(failure).startswith("redirect-") or hop != url
    )
