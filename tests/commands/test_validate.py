"""``scrapy validate`` as a person meets it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commands.test_crawl import NS, command, environment

if TYPE_CHECKING:
    from httpserver import Site

ONE = ["-s", "CONCURRENT_REQUESTS=1"]
FAST = ["-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0", "-s", "RETRY_TIMES=0"]


def validate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command("validate", *arguments), cwd=folder, env=environment(),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_local_file_is_read_without_a_word_of_log(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_text(f"<urlset {NS}><url><loc>https://a.example/?a&b</loc></url>")
    done = validate(tmp_path, "s.xml")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[0] == "s.xml: urlset, 1 entry, partial (truncated)"
    assert "warning bare-ampersand, line 1" in done.stdout
    assert "url-other-host" not in done.stdout


def test_where_a_local_file_lives_can_be_told(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_text(
        f"<urlset {NS}><url><loc>https://a.example/</loc></url></urlset>"
    )
    assert validate(tmp_path, "s.xml").returncode == 0
    done = validate(tmp_path, "s.xml", "--url", "https://b.example/s.xml")
    assert done.returncode == 1
    assert "url-other-host" in done.stdout


def test_addresses_are_fetched_and_what_they_name_followed(site: Site, tmp_path: Path) -> None:
    u = site.url
    children = "".join(
        f"<sitemap><loc>{u}/{name}.xml</loc></sitemap>" for name in ("a", "b", "gone")
    )
    site.add("/robots.txt", f"Sitemap: {u}/index.xml".encode())
    site.add("/index.xml", f"<sitemapindex {NS}>{children}</sitemapindex>".encode())
    site.add("/a.xml", f"<urlset {NS}><url><loc>{u}/x</loc></url></urlset>".encode())
    site.add("/b.xml", f"<sitemapindex {NS}></sitemapindex>".encode())
    done = validate(tmp_path, f"{u}/robots.txt", "--follow", "--json", *FAST)
    assert done.returncode == 1
    files = {file["address"].rpartition("/")[2]: file for file in json.loads(done.stdout)["files"]}
    assert set(files) == {"robots.txt", "index.xml", "a.xml", "b.xml", "gone.xml"}
    assert {row["code"] for row in files["index.xml"]["problems"]} == {
        "nested-index",
        "child-failed",
    }
    assert (files["gone.xml"]["state"], files["gone.xml"]["reason"]) == ("failed", "http-404")
    assert files["a.xml"]["problems"] == []
    assert not (tmp_path / "inventory.db").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "scrapy validate: give a file or an address"),
        (["missing.xml"], "scrapy validate: missing.xml: No such file or directory"),
        (
            ["ftp://a.example/s.xml"],
            "scrapy validate: 'ftp://a.example/s.xml' is no http(s) address",
        ),
        (["--bogus"], "scrapy validate: there is no option --bogus"),
    ],
)
def test_bad_usage_is_one_line(tmp_path: Path, arguments: list[str], line: str) -> None:
    done = validate(tmp_path, *arguments)
    assert done.returncode == 2
    (message,) = done.stderr.splitlines()
    assert message.startswith(line)


def test_following_a_local_index_asks_for_nothing_private(site: Site, tmp_path: Path) -> None:
    child = f"<sitemap><loc>{site.url}/s.xml</loc></sitemap>"
    (tmp_path / "index.xml").write_text(f"<sitemapindex {NS}>{child}</sitemapindex>")
    done = validate(tmp_path, "index.xml", "--follow", *FAST)
    assert site.requests == []
    assert done.returncode == 1
    assert "child-failed" in done.stdout.split("\n\n")[0]


def test_an_index_without_end_is_followed_to_the_bounds_of_a_crawl(
    site: Site, tmp_path: Path
) -> None:
    def deeper(seen: Any) -> tuple[int, dict[str, str], bytes]:
        number = int(seen.path.partition("?")[2] or 0) + 1
        loc = f"{site.url}/index.xml?{number}"
        return (
            200,
            {},
            f"<sitemapindex {NS}><sitemap><loc>{loc}</loc></sitemap></sitemapindex>".encode(),
        )

    site.add("/index.xml", deeper)
    validate(tmp_path, f"{site.url}/index.xml", "--follow", *FAST)
    assert len(site.paths) == 7  # robots.txt, and depths 0 to 5


def test_what_was_not_read_is_not_fine(site: Site, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        site.add(
            f"/{name}.xml", f"<urlset {NS}><url><loc>{site.url}/x</loc></url></urlset>".encode()
        )
    urls = [f"{site.url}/{name}.xml" for name in ("a", "b", "c")]
    done = validate(tmp_path, *urls, *FAST, *ONE, "-s", "CLOSESPIDER_PAGECOUNT=1")
    assert done.returncode == 1
    assert "stopped" in done.stdout
