"""robots.txt: one request an origin, RFC 9309's table, bounded parsing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_discovery.middlewares.robots import SlicedRobotParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Fetch = Callable[..., CrawlResult]

OBEY = {"ROBOTSTXT_OBEY": True}
RULES = b"User-agent: *\nDisallow: /x\n"


def outcomes(result: CrawlResult) -> list[Any]:
    """Code or status of each request, in the order of the answers."""
    return [item.get("code") or item.get("status") for item in result.items]


def ask(site: Site) -> tuple[str, dict[str, str]]:
    """The spider's own request for the file."""
    return site.url + "/robots.txt", {"robots_origin": site.url}


def with_pages(site: Site) -> list[str]:
    return [site.add("/x", b"x"), site.add("/y", b"y")]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, ["robots-disallowed", 200]),
        (203, ["robots-disallowed", 200]),
        (401, [200, 200]),
        (403, [200, 200]),
        (404, [200, 200]),
        (410, [200, 200]),
        (429, ["robots-unreachable"] * 2),
        (500, ["robots-unreachable"] * 2),
        (503, ["robots-unreachable"] * 2),
        (599, ["robots-unreachable"] * 2),
    ],
)
def test_status_decides(fetch: Fetch, site: Site, status: int, expected: list[Any]) -> None:
    site.add("/robots.txt", RULES, status=status)
    result = fetch(with_pages(site), origins=[site], settings=OBEY)
    assert outcomes(result) == expected
    assert site.paths.count("/robots.txt") == (2 if status in (429, 500, 503) else 1)
    assert site.paths.count("/x") == (expected[0] == 200)
    assert result.stats["robotstxt/request_count"] == 1
    assert result.stats[f"robotstxt/response_status_count/{status}"] == 1
    assert result.stats.get("robotstxt/forbidden", 0) == sum(isinstance(e, str) for e in expected)
    assert result.log.count("cannot be had") == (expected[0] == "robots-unreachable")


def test_closed_connection_is_unreachable_without_a_traceback(fetch: Fetch, site: Site) -> None:
    site.add("/robots.txt", raw=b"")
    result = fetch(with_pages(site), origins=[site], settings=OBEY)
    assert outcomes(result) == ["robots-unreachable"] * 2
    assert site.paths == ["/robots.txt"] * 2
    assert "Traceback" not in result.log
    assert result.stats["log_count/WARNING"] == 1
    assert "log_count/ERROR" not in result.stats


def test_refused_connection_is_unreachable(fetch: Fetch, make_site: Callable[[], Site]) -> None:
    gone = make_site()
    gone.close()
    result = fetch([gone.url + "/x"], origins=[gone], settings=OBEY)
    assert outcomes(result) == ["robots-unreachable"]


def redirected(site: Site, hops: int) -> None:
    site.add("/robots.txt", status=302, headers={"Location": "/1"})
    for i in range(1, hops):
        site.add(f"/{i}", status=302, headers={"Location": f"/{i + 1}"})
    site.add(f"/{hops}", RULES)


@pytest.mark.parametrize(
    ("hops", "expected"),
    [(1, ["robots-disallowed", 200]), (5, ["robots-disallowed", 200]), (6, [200, 200])],
)
def test_five_hops_then_as_not_found(
    fetch: Fetch, site: Site, hops: int, expected: list[Any]
) -> None:
    redirected(site, hops)
    assert outcomes(fetch(with_pages(site), origins=[site], settings=OBEY)) == expected


@pytest.mark.parametrize(
    "location", ["/robots.txt", "ftp://example.com/r", "http://10.0.0.1/", "http://localhost/"]
)
def test_hop_that_is_refused_counts_as_not_found(fetch: Fetch, site: Site, location: str) -> None:
    site.add("/robots.txt", status=302, headers={"Location": location})
    result = fetch(with_pages(site), origins=[site], settings=OBEY)
    assert outcomes(result) == [200, 200]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("own_first", [True, False])
def test_spider_and_obeying_share_one_request(
    fetch: Fetch, site: Site, together: bool, own_first: bool
) -> None:
    site.add("/robots.txt", RULES, delay=0.3)
    plan: list[Any] = with_pages(site)
    plan.insert(0 if own_first else 2, ask(site))
    result = fetch(plan, origins=[site], settings=OBEY, together=together)
    got = {item["url"].rpartition("/")[2]: item for item in result.items}
    assert got["robots.txt"]["body"] == RULES
    assert got["x"]["code"] == "robots-disallowed"
    assert got["y"]["body"] == b"y"
    assert site.paths.count("/robots.txt") == 1


def test_spider_sees_where_the_file_was_redirected(fetch: Fetch, site: Site) -> None:
    redirected(site, 2)
    result = fetch([ask(site), ask(site)], origins=[site], settings=OBEY)
    for item in result.items:
        assert item["final"] == site.url + "/2"
        assert item["meta"]["redirect_urls"] == [site.url + "/robots.txt", site.url + "/1"]
    assert len(site.requests) == 3


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"status": 503}, 503),
        ({"status": 404}, 404),
        ({"raw": b""}, "DownloadFailedError"),
        ({"status": 302, "headers": {"Location": "/robots.txt"}}, "redirect-loop"),
    ],
    ids=["503", "404", "reset", "loop"],
)
def test_spider_learns_how_the_file_failed(
    fetch: Fetch, site: Site, answer: dict[str, Any], expected: Any
) -> None:
    site.add("/robots.txt", b"busy", **answer)
    result = fetch([ask(site), ask(site)], origins=[site], settings=OBEY)
    for item in result.items:
        assert expected in (item.get("status"), item.get("code"), item.get("error"))
    assert len(site.requests) <= 2
    assert "Traceback" not in result.log


def test_each_port_is_an_origin_of_its_own(
    fetch: Fetch, site: Site, make_site: Callable[[], Site]
) -> None:
    other = make_site()
    site.add("/robots.txt", RULES)
    plan = [*with_pages(site), *with_pages(other)]
    result = fetch(plan, origins=[site, other], settings=OBEY)
    assert outcomes(result) == ["robots-disallowed", 200, 200, 200]
    assert other.paths.count("/robots.txt") == 1


@pytest.mark.parametrize(("obey", "expected"), [(True, "robots-disallowed"), (False, 200)])
def test_sitemaps_may_be_exempt_and_pages_never(
    fetch: Fetch, site: Site, obey: bool, expected: Any
) -> None:
    site.add("/robots.txt", RULES)
    page = with_pages(site)[0]
    settings = {**OBEY, "SITEMAP_ROBOTSTXT_OBEY": obey}
    result = fetch([(page, {"sitemap_body": True}), page], origins=[site], settings=settings)
    assert outcomes(result) == [expected, "robots-disallowed"]


def parser(body: bytes) -> SlicedRobotParser:
    return SlicedRobotParser(body, "ourbot/1.0 (+https://example.com)")


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        (b"User-agent: *\nDisallow: /", False),
        (b"User-agent: ourbot\nDisallow:\n\nUser-agent: *\nDisallow: /", True),
        (b"User-agent: OurBot\nDisallow: /\n\nUser-agent: *\nDisallow:", False),
        ("User-agent: *\nDisallow: /".encode("utf-16"), False),
        (b"User-agent: *\rDisallow: /", False),
        ("User-agent: *\n# \u2028Disallow: /".encode(), True),
        (b"<!DOCTYPE html><html>404", True),
        (b"", True),
        (b"\xff\xfe\x00" * 1000 + b"\nUser-agent: *\nDisallow: /", True),
    ],
)
def test_rules_that_are_ours_are_obeyed(body: bytes, allowed: bool) -> None:
    assert parser(body).allowed("https://a.example/x", "ourbot/1.0") is allowed


@pytest.mark.parametrize(
    ("written", "delay"),
    [("5", 5.0), ("0.5", 0.5), ("1e308", 60.0), ("86400", 60.0), ("inf", None), ("nan", None),
     ("-1", None), ("soon", None)],
)  # fmt: skip
def test_crawl_delay_is_finite_and_at_most_a_minute(written: str, delay: float | None) -> None:
    rules = parser(f"User-agent: *\nCrawl-delay: {written}\n".encode())
    assert rules.crawl_delay("ourbot/1.0") == delay


def test_agents_times_rules_cost_nothing() -> None:
    agents = b"".join(b"User-agent: bot%d\n" % i for i in range(2_000))
    rules = b"".join(b"Disallow: /%d\n" % i for i in range(2_000))
    began = time.process_time()
    assert parser(agents + rules).allowed("https://a.example/1", "ourbot")
    assert time.process_time() - began < 1
