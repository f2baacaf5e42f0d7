"""Every code a file or a finding can carry: what it means and what the site's owner can do."""

from __future__ import annotations

from typing import Final

from sitemap_discovery.protocol.codes import Problem, Severity

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

_TABLE: Final = (
    # how a file ended
    ("ok", _NOTE, "The file was read to its end.", "Nothing."),
    ("http-4xx", _ERROR, "The server says that the file is not there or not for us.",
     "Remove it from the index or robots.txt, or let crawlers read it."),
    ("http-5xx", _ERROR, "The server failed.", "Look at the server's log."),
    ("empty-body", _ERROR, "The file has no bytes but blanks.", "Publish entries, or remove the file."),
    ("html-page", _ERROR, "A web page stands where the sitemap should be.",
     "Answer 404 for files that are gone; keep logins and challenges away from sitemaps."),
    ("login-page", _ERROR, "A login page stands where the sitemap should be.",
     "Let crawlers read sitemaps without a login."),
    ("challenge-page", _ERROR, "A page that tells people from machines stands where the sitemap "
     "should be.", "Let crawlers that name themselves read sitemaps."),
    ("soft-404", _ERROR, "A page that says that nothing is here came with status 200.",
     "Answer 404 for files that are gone."),
    ("not-a-sitemap", _ERROR, "The bytes are no sitemap, index, feed or list of URLs.",
     "Publish one of these formats at this address."),
    ("truncated", _ERROR, "The document ends before its root is closed.",
     "Write the file to a temporary name and move it into place."),
    ("not-well-formed", _ERROR, "The XML is broken and what is lost could not be mended.",
     "Write the file with an XML library, or escape &, < and > in text."),
    ("too-large", _ERROR, "The file is larger than 52,428,800 bytes, packed or unpacked.",
     "Split it and list the parts in an index."),
    ("token-too-long", _ERROR, "One tag, comment or name is endless.", "Remove it."),
    ("too-deep", _ERROR, "Elements are nested more than 32 deep.", "Flatten the entry."),
    ("too-many-attributes", _ERROR, "An element has more than 256 attributes.", "Remove them."),
    ("too-many-names", _ERROR, "The document uses more than 4,096 element names.", "Remove them."),
    ("too-many-elements", _ERROR, "The document has more than 2,000,000 elements.", "Split the file."),
    ("entity-declaration", _ERROR, "The document declares entities, which is refused.",
     "Remove the declaration and write the text itself."),
    ("external-reference", _ERROR, "The document refers to another one, which is refused.",
     "Remove the reference."),
    ("dtd-declaration", _ERROR, "The document declares attribute defaults, which is refused.",
     "Remove the internal DTD subset."),
    ("bad-gzip", _ERROR, "The compressed data is damaged.", "Compress the file again."),
    ("truncated-gzip", _ERROR, "The compressed data ends too early.",
     "Write the file to a temporary name and move it into place."),
    ("too-many-codings", _ERROR, "The answer names more than two content codings.",
     "Send one Content-Encoding."),
    ("unsupported-coding", _ERROR, "The content coding is none that was asked for.",
     "Send gzip, deflate or nothing."),
    ("timeout", _ERROR, "The server did not answer in time.", "Serve sitemaps from a cache."),
    ("data-loss", _ERROR, "The connection closed before the announced length.",
     "Send the length that the body has."),
    ("connection-refused", _ERROR, "Nothing listens at the address.", "Start the server."),
    ("connection-lost", _ERROR, "The connection broke.", "Look at the server's log."),
    ("dns-failure", _ERROR, "The host name has no address.", "Correct the name or its DNS."),
    ("tls-failure", _ERROR, "The certificate or the TLS handshake is not valid.",
     "Renew the certificate and send its chain."),
    ("rate-limited", _ERROR, "The server asked to wait again and again.", "Allow more requests."),
    ("stopped", _WARNING, "The run ended before the file was read.", "Run again."),
    ("internal-error", _ERROR, "The code that reads the file failed; what was read before is kept.",
     "Look at the log: correct the spider's sitemap_filter, or report the file."),
    ("robots-disallowed", _WARNING, "robots.txt forbids the file to us.",
     "Allow it, or set SITEMAP_ROBOTSTXT_OBEY for a site of your own."),
    ("robots-unreachable", _ERROR, "robots.txt cannot be read, so nothing is asked for.",
     "Answer robots.txt with 200, or 404 when there is none."),
    ("scheme-refused", _ERROR, "Only http and https are asked for.", "Publish an http(s) address."),
    ("address-refused", _ERROR, "The address is private, loopback or link-local.",
     "Publish a public address; for a site of your own, name it in SITEMAP_ALLOWED_HOSTS."),
    ("port-refused", _ERROR, "The port is neither 80, 443 nor the origin's own.",
     "Use the usual port; for a site of your own, name it in SITEMAP_ALLOWED_HOSTS."),
    ("off-site", _WARNING, "An index names a file on a host that is not the site's.",
     "Name that file in robots.txt, which proves that it is yours."),
    ("not-followed", _NOTE, "The file does not match what was asked to be followed.", "Nothing."),
    ("duplicate-file", _NOTE, "The file is named or redirected to more than once.",
     "Name each file once, by its final address."),
    ("repeated-body", _WARNING, "The file is byte for byte another one; an index's entries are followed "
     "once.", "Publish each file under one name."),
    ("index-loop", _WARNING, "An index names itself or one that it stands in.", "Remove the entry."),
    ("redirect-loop", _ERROR, "The redirects lead back to where they began.", "Correct them."),
    ("redirect-limit", _ERROR, "There are more than five redirects.", "Redirect once."),
    ("redirect-invalid", _ERROR, "The redirect names no address.", "Correct its Location."),
    ("filtered", _NOTE, "The spider's sitemap_filter left entries out; they count as not read.",
     "Nothing; use include or since to choose only what is fed."),
    ("budget-files", _NOTE, "The run's max_files was spent.", "Raise max_files."),
    ("budget-urls", _NOTE, "The run's max_urls was spent.", "Raise max_urls."),
    ("budget-depth", _WARNING, "A file lies deeper than max_depth.",
     "List the files in one index; raise max_depth."),
    ("budget-seconds", _NOTE, "The run's max_seconds was spent.", "Raise max_seconds."),
    # oddities of a file that was read
    ("too-many-urls", _WARNING, "There are more than 50,000 entries; all were kept.", "Split the file."),
    ("too-many-children", _WARNING, "There are more than 50,000 files in an index; all were kept.",
     "Split the index."),
    ("gzip-crc", _WARNING, "The compressed data's checksum or length is wrong or missing.", "Compress it again."),
    ("gzip-trailing", _WARNING, "Something stands behind the compressed data.", "Remove it."),
    ("double-gzip", _WARNING, "The file is compressed twice.", "Compress it once."),
    ("doctype", _NOTE, "The document has a DOCTYPE.", "Remove it; the protocol needs none."),
    ("no-namespace", _WARNING, "The root element has no namespace.",
     "Write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"."),
    ("odd-namespace", _WARNING, "The root's namespace is not the protocol's.",
     "Write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"."),
    ("undeclared-prefix", _WARNING, "A prefix is used without a declaration.",
     "Declare it on the root element."),
    ("leading-blanks", _WARNING, "Blanks stand before the document.", "Remove them."),
    ("junk-before", _WARNING, "Something stands before the document.",
     "Turn off warnings in the output of the generator."),
    ("junk-after-document", _WARNING, "Something stands behind the document.", "Remove it."),
    ("second-document", _WARNING, "A second document follows the first; both were read.",
     "Publish one document a file."),
    ("entry-not-closed", _ERROR, "An entry is not closed before the next begins.", "Close it."),
    ("entry-too-large", _ERROR, "A broken entry is larger than 1 MB, too large to be mended.",
     "Repair the entry."),
    ("comment-broken", _WARNING, "A comment holds --, which XML does not allow.", "Remove the comment."),
    ("odd-case", _WARNING, "Element names are not in lower case.", "Write them as the protocol does."),
    ("encoding-mismatch", _WARNING, "The declared encoding is not the one that the bytes have.",
     "Declare UTF-8 and write UTF-8."),
    ("bad-encoding", _WARNING, "Bytes are no characters of the encoding.", "Write UTF-8."),
    ("control-character", _WARNING, "The text holds characters that XML cannot.", "Remove them."),
    ("bare-ampersand", _WARNING, "An & is not written as &amp;.", "Escape it."),
    ("bare-less-than", _WARNING, "A < is not written as &lt;.", "Escape it."),
    ("html-entity", _WARNING, "The text uses an entity of HTML.", "Write the character itself."),
    ("undefined-entity", _ERROR, "The text uses an entity that nothing defines.", "Write the text."),
    ("text-comment", _NOTE, "A text sitemap holds a comment.", "Remove it; the format has none."),
    ("text-junk", _WARNING, "A text sitemap holds a line that is no URL.", "Remove the line."),
    # entries
    ("loc-missing", _ERROR, "An entry has no loc.", "Give it one."),
    ("loc-empty", _ERROR, "A loc is empty.", "Fill it."),
    ("loc-broken", _ERROR, "A loc holds other elements or an undefined entity.", "Write plain text."),
    ("loc-control", _ERROR, "A loc holds control characters or bytes that are no text.",
     "Percent-encode the address."),
    ("loc-template", _ERROR, "A loc holds a template's placeholder.", "Render the template."),
    ("loc-scheme", _ERROR, "A loc is no http or https address.", "Write the full address."),
    ("loc-host", _ERROR, "A loc's host or port is not valid.", "Correct it."),
    ("loc-userinfo", _ERROR, "A loc holds a user name or password.", "Remove it."),
    ("loc-too-long", _WARNING, "A loc has more than 2,048 characters; beyond 8,192 it is dropped.", "Shorten it."),
    ("loc-relative", _WARNING, "A loc is relative; it was resolved.", "Write the full address."),
    ("loc-blank", _WARNING, "A loc holds unusual blanks.", "Remove or percent-encode them."),
    ("loc-not-ascii", _WARNING, "A loc is not ASCII; it was encoded.", "Percent-encode the address."),
    ("loc-escape", _WARNING, "A loc holds characters no URI has; they were encoded.",
     "Percent-encode the address."),
    ("alternate-invalid", _WARNING, "An alternate's address cannot be one.", "Correct it."),
    ("extension-url-invalid", _WARNING, "An image's or video's address cannot be one.", "Correct it."),
    ("field-too-long", _ERROR, "A field has more than 8,192 characters; it is dropped.", "Shorten it."),
    ("extra-too-large", _WARNING, "Unknown tags of an entry are too large to keep.", "Remove them."),
    ("lastmod-invalid", _WARNING, "A lastmod is no date.", "Write 2026-10-02 or a W3C datetime."),
    ("lastmod-no-zone", _NOTE, "A lastmod has a time without a zone; it was read as UTC.",
     "Write the zone."),
    ("lastmod-lenient", _WARNING, "A lastmod is clear but not in the W3C form.",
     "Write 2026-10-02 or a W3C datetime."),
    ("lastmod-rfc822", _WARNING, "A lastmod is a mail date.", "Write a W3C datetime."),
    ("lastmod-ambiguous", _WARNING, "Day and month of a lastmod could be swapped; it is not used.",
     "Write 2026-10-02 or a W3C datetime."),
    ("lastmod-future", _WARNING, "A lastmod lies in the future; it is not used.", "Write when the page changed."),
    ("lastmod-ancient", _WARNING, "A lastmod is older than 1995; it is not used.", "Leave out dates not known."),
    ("changefreq-invalid", _NOTE, "A changefreq is none of the protocol's words.", "Remove it."),
    ("priority-invalid", _NOTE, "A priority is no number from 0.0 to 1.0.", "Remove it."),
    # robots.txt
    ("robots-missing", _NOTE, "There is no robots.txt.", "Publish one that names the sitemaps."),
    ("origin-variant", _NOTE, "The site does not answer at the address given, but with or without "
     "www, or at http for https.", "Give the address that answers."),
    ("robots-empty", _NOTE, "robots.txt is empty.", "Name the sitemaps in it."),
    ("robots-html", _WARNING, "robots.txt is a web page.", "Publish plain text."),
    ("robots-truncated", _WARNING, "robots.txt is longer than is obeyed.", "Shorten it."),
    ("robots-long-line", _WARNING, "A line of robots.txt is endless.", "Split it."),
    ("robots-encoding", _WARNING, "robots.txt is not UTF-8.", "Write UTF-8."),
    ("robots-odd-line", _WARNING, "A sitemap line is not written as Sitemap: ADDRESS.", "Correct it."),
    ("robots-several-on-a-line", _WARNING, "A sitemap line names several addresses.",
     "Write a line for each."),
    ("robots-too-many-sitemaps", _WARNING, "robots.txt names more than 1,000 sitemaps.",
     "Name an index."),
)  # fmt: skip

PROBLEMS: Final[dict[str, Problem]] = {row[0]: Problem(*row) for row in _TABLE}
"""Code to problem, in the order of the documentation."""


def problem(code: str) -> Problem:
    """The problem a code stands for; HTTP statuses share a row a family.

    >>> problem("http-503").code
    'http-5xx'
    """
    if code.startswith("http-") and code[5:].isdigit():
        return PROBLEMS["http-5xx" if code[5] == "5" else "http-4xx"]
    return PROBLEMS[code]


def as_markdown() -> str:
    """The page ``docs/problem-codes.md``."""
    rows = [f"| `{p.code}` | {p.severity} | {p.meaning} | {p.remedy} |" for p in PROBLEMS.values()]
    head = [
        "# Problem codes",
        "",
        "A file's reason and every finding carry one of these codes. They are stable.",
        "This page is written from the code: `python -m sitemap_discovery.protocol.problems`.",
        "",
        "| code | severity | what it means | what to do |",
        "|---|---|---|---|",
    ]
    return "\n".join(head + rows) + "\n"


if __name__ == "__main__":
    print(as_markdown(), end="")
