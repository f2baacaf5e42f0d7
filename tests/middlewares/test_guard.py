"""The address guard: what is refused, and that nothing reaches a second listener."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sitemap_discovery.middlewares.guard import AddressGuard

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpserver import CrawlResult, Site

    Fetch = Callable[..., CrawlResult]

LOOPBACK_SPELLINGS = [
    "127.0.0.1", "127.1", "0", "2130706433", "0x7f.1", "0x7f000001", "017700000001",
    "localhost", "LOCALHOST.", "[::1]", "[::ffff:127.0.0.1]",
]  # fmt: skip


def codes(result: CrawlResult) -> list[str | None]:
    return [item.get("code") for item in result.items]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/", None),
        ("https://example.com:443/", None),
        ("http://93.184.216.34/", None),
        ("http://example.com:8443/", "port-refused"),
        ("http://example.com:0/", "port-refused"),
        ("http://example.com:99999/", "port-refused"),
        ("http:///x", "port-refused"),
        ("ftp://example.com/", "scheme-refused"),
        ("file:///etc/passwd", "scheme-refused"),
        ("http://user:secret@example.com/", "loc-userinfo"),
        ("http://user@example.com/", "loc-userinfo"),
        ("http://10.0.0.1/", "address-refused"),
        ("http://192.168.1.1/", "address-refused"),
        ("http://169.254.169.254/latest/meta-data/", "address-refused"),
        ("http://168.63.129.16/", "address-refused"),
        ("http://192.0.0.192/", "address-refused"),
        ("http://[::1]/", "address-refused"),
        ("http://[fe80::1]/", "address-refused"),
        ("http://[::ffff:10.0.0.1]/", "address-refused"),
        ("http://[64:ff9b::a00:1]/", "address-refused"),
    ],
)
def test_url_is_judged(url: str, code: str | None) -> None:
    assert AddressGuard().judge(url) == code


@pytest.mark.parametrize(
    ("entry", "url", "code"),
    [
        ("intranet:8080", "http://intranet:8080/", None),
        ("intranet:8080", "http://intranet:8081/", "port-refused"),
        ("intranet", "http://INTRANET.:9000/", None),
        ("10.0.0.5", "http://10.0.0.5/", None),
        ("10.0.0.5:80", "http://10.0.0.5:8000/", "port-refused"),
        ("[::1]:8000", "http://[::1]:8000/", None),
        ("::1", "http://[0:0::1]:8000/", None),
        ("bücher.example:81", "http://xn--bcher-kva.example:81/", None),
    ],
)
def test_allow_list_opens_exactly_what_it_names(entry: str, url: str, code: str | None) -> None:
    assert AddressGuard([entry]).judge(url) == code


def test_look_up_for_a_proxy_has_no_port_and_needs_a_listed_host() -> None:
    assert AddressGuard(["proxy.example:3128"]).usable("proxy.example", 0, [PRIVATE]) == {PRIVATE}
    assert AddressGuard().usable("proxy.example", 0, [PRIVATE]) == set()


PRIVATE, PUBLIC = "10.1.2.3", "93.184.216.34"


@pytest.mark.parametrize(
    ("answers", "usable"),
    [
        ([[PUBLIC], [PRIVATE]], [{PUBLIC}, set()]),
        ([[PRIVATE], [PRIVATE, PUBLIC]], [{PRIVATE}, {PRIVATE, PUBLIC}]),
        ([[PUBLIC, PRIVATE], [PRIVATE]], [{PUBLIC}, set()]),
        ([[], [PRIVATE]], [set(), {PRIVATE}]),
    ],
    ids=["rebinding", "private network", "mixed first answer", "failed first look-up"],
)
def test_first_answer_decides_where_an_origin_is(
    answers: list[list[str]], usable: list[set[str]]
) -> None:
    guard = AddressGuard()
    guard.allow("site.example", 80)
    assert [guard.usable("site.example", 80, answer) for answer in answers] == usable
    assert guard.refused("site.example", 80) is (usable[-1] == set())


def test_private_origin_is_open_on_its_own_port_only() -> None:
    guard = AddressGuard()
    guard.allow("site.example", 8000)
    assert guard.usable("site.example", 8000, [PRIVATE]) == {PRIVATE}
    assert guard.usable("site.example", 80, [PRIVATE]) == set()
    assert guard.judge("http://site.example:8000/") is None
    assert guard.judge("http://site.example/") == "address-refused"


def test_name_of_any_other_host_loses_its_private_answers() -> None:
    guard = AddressGuard()
    assert guard.usable("cdn.example", 443, [PRIVATE, PUBLIC]) == {PUBLIC}
    assert not guard.refused("cdn.example", 443)
    assert guard.usable("inside.example", 443, [PRIVATE]) == set()
    assert guard.refused("inside.example", 443)


def test_another_port_of_loopback_receives_nothing(
    fetch: Fetch, site: Site, make_site: Callable[[], Site]
) -> None:
    inside = make_site()
    plan = [f"http://{host}:{inside.port}/" for host in LOOPBACK_SPELLINGS]
    result = fetch(plan, origins=[site])
    assert codes(result) == ["port-refused"] * len(plan)
    assert result.stats["guard/blocked_count/port-refused"] == len(plan)
    assert inside.requests == []


def test_redirects_to_another_port_of_loopback_reach_nothing(
    fetch: Fetch, site: Site, make_site: Callable[[], Site]
) -> None:
    inside = make_site()
    plan = [
        site.add(f"/{i}", status=302, headers={"Location": f"http://{host}:{inside.port}/"})
        for i, host in enumerate(LOOPBACK_SPELLINGS)
    ]
    result = fetch(plan, origins=[site])
    assert codes(result) == ["port-refused"] * len(plan)
    assert inside.requests == []
    assert "Traceback" not in result.log


def test_look_up_refuses_names_and_odd_spellings_of_loopback(fetch: Fetch, site: Site) -> None:
    hosts = ["localhost", "127.1", "0", "2130706433", "0x7f.1", "0x7f000001"]
    result = fetch([f"http://{host}/" for host in hosts], origins=[site])
    assert codes(result) == ["address-refused"] * len(hosts)
    assert "Traceback" not in result.log


@pytest.mark.parametrize("retries", [0, 1])
def test_refused_look_up_has_its_code_with_and_without_retries(
    fetch: Fetch, site: Site, retries: int
) -> None:
    result = fetch(["http://localhost/"], origins=[site], settings={"RETRY_TIMES": retries})
    assert codes(result) == ["address-refused"]


def test_origin_given_by_name_on_a_private_network_is_read(fetch: Fetch, site: Site) -> None:
    site.add("/", b"hello")
    plan = [f"http://localhost:{site.port}/", site.url + "/", "http://localhost/"]
    result = fetch(plan, origins=[("localhost", site.port)])
    assert result.items[0]["body"] == b"hello"
    assert codes(result)[1:] == ["port-refused", "address-refused"]
    assert len(site.requests) == 1


def test_allow_listed_host_is_read(fetch: Fetch, site: Site) -> None:
    site.add("/", b"hello")
    allowed = {"SITEMAP_ALLOWED_HOSTS": [f"localhost:{site.port}"]}
    result = fetch([f"http://localhost:{site.port}/"], origins=[], settings=allowed)
    assert result.items[0]["body"] == b"hello"


def test_guard_can_be_turned_off(fetch: Fetch, site: Site) -> None:
    site.add("/", b"hello")
    off = {"SITEMAP_ADDRESS_GUARD_ENABLED": False}
    assert fetch([site.url + "/"], origins=[], settings=off).items[0]["body"] == b"hello"
