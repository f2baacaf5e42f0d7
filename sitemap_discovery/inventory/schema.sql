-- The inventory, schema version 3. Times are UTC epoch seconds. Small whole numbers stand for words
-- that repeat in millions of rows; the views at the end spell everything out.

-- A site that was asked for.
CREATE TABLE origin (
  id          INTEGER PRIMARY KEY,        -- what other tables refer to
  root        TEXT NOT NULL UNIQUE,       -- scheme://host[:port]
  first_seen  INTEGER NOT NULL            -- when it was first asked for
) STRICT;

-- One run of a spider.
CREATE TABLE run (
  id            INTEGER PRIMARY KEY,      -- order of start
  spider        TEXT NOT NULL,            -- the spider's name
  job           TEXT,                     -- Scrapyd's job id, if it ran there
  arguments     TEXT NOT NULL,            -- the arguments given, as JSON
  started_at    INTEGER NOT NULL,         -- when it started
  finished_at   INTEGER,                  -- null while it runs, and for ever when it was killed
  state         TEXT,                     -- complete or partial
  reason        TEXT,                     -- the budget or fault that cut it short
  finish_reason TEXT,                     -- Scrapy's finish reason
  summary       TEXT                      -- the counts of the run's summary, as JSON
) STRICT;

-- Which origins a run has read files of.
CREATE TABLE run_origin (
  run_id     INTEGER NOT NULL REFERENCES run(id),     -- the run
  origin_id  INTEGER NOT NULL REFERENCES origin(id),  -- the origin
  last_url   INTEGER NOT NULL DEFAULT 0,              -- the highest url.id when the run began on it
  PRIMARY KEY (run_id, origin_id)
) STRICT, WITHOUT ROWID;

-- A sitemap file, index or robots.txt: how it was found and how its last read went.
CREATE TABLE file (
  id             INTEGER PRIMARY KEY,     -- what other tables refer to
  origin_id      INTEGER NOT NULL REFERENCES origin(id),  -- the site it was read for
  url            TEXT NOT NULL,           -- its address
  found_by       TEXT NOT NULL,           -- origin, robots, index, argument, spider, known-path, html-link, link-header, urlset or inventory
  found_in       TEXT,                    -- address of the file that first named it
  depth          INTEGER NOT NULL,        -- indexes between it and robots.txt
  index_lastmod  INTEGER,                 -- its date in the index that named it
  kind           TEXT,                    -- urlset, index, text, rss, atom, robots or page
  state          TEXT,                    -- complete, partial, unchanged, failed, skipped; null: not read yet
  reason         TEXT,                    -- ok, or the code of what ended the read
  status         INTEGER,                 -- HTTP status
  final_url      TEXT,                    -- where redirects led, if anywhere
  etag           TEXT,                    -- ETag of the last complete read
  last_modified  TEXT,                    -- Last-Modified of the last complete read
  digest         BLOB,                    -- SHA-256 of the unpacked bytes of the last complete read
  bytes_wire     INTEGER NOT NULL DEFAULT 0,  -- as transferred
  bytes_unpacked INTEGER NOT NULL DEFAULT 0,  -- after decompression
  entries_kept   INTEGER NOT NULL DEFAULT 0,  -- URLs or files that it lists
  entries_lost   INTEGER NOT NULL DEFAULT 0,  -- entries that could not be used
  error_line     INTEGER,                 -- where the first fault is, 1-based
  error_byte     INTEGER,                 -- the same as an offset into the unpacked bytes, as UTF-8
  findings       TEXT,                    -- code, count, line and example of each problem, as JSON
  first_seen     INTEGER NOT NULL,        -- when it was first named
  begun_at       INTEGER,                 -- set while a read stores URLs; left over when it was killed
  fetched_at     INTEGER,                 -- when its last read ended
  complete_at    INTEGER,                 -- when it was last read to its end, or found unchanged
  run_id         INTEGER REFERENCES run(id),  -- the run of the last read
  reads          INTEGER NOT NULL DEFAULT 0,  -- how often it was read to its end or found unchanged
  changes        INTEGER NOT NULL DEFAULT 0,  -- how many of these reads met other bytes than before
  unchanged      INTEGER NOT NULL DEFAULT 0,  -- how often in a row it was found unchanged
  missing        INTEGER NOT NULL DEFAULT 0,  -- how often in a row the server said that there is none
  changed_at     INTEGER,                 -- when it was last met with other bytes
  lied_at        INTEGER,                 -- when its validators stood for other bytes than before
  read_every     INTEGER,                 -- seconds between reads that suit how often it changes
  UNIQUE (origin_id, url)
) STRICT;

-- Which files name a file: all of them.
CREATE TABLE file_parent (
  file_id    INTEGER NOT NULL REFERENCES file(id),  -- the file that is named
  parent_id  INTEGER NOT NULL REFERENCES file(id),  -- the robots.txt or index that names it
  PRIMARY KEY (file_id, parent_id)
) STRICT, WITHOUT ROWID;

-- A page URL of an origin. A row is written only when something about it changes: when it was last
-- seen is the latest of first_seen, last_seen and complete_at of the files that list it.
CREATE TABLE url (
  id                INTEGER PRIMARY KEY,  -- order of arrival
  origin_id         INTEGER NOT NULL,     -- origin.id; a foreign key would cost a look-up a row
  key               BLOB NOT NULL,        -- BLAKE2b-128 of loc
  loc               TEXT NOT NULL,        -- absolute URL
  file_id           INTEGER,              -- file.id of the file that the rest was read from
  scope             INTEGER NOT NULL DEFAULT 0,  -- 0 in-path, 1 same-host, 2 cross-submitted, 3 foreign
  lastmod           INTEGER,              -- usable lastmod
  lastmod_precision INTEGER,              -- 0 year, 1 month, 2 day, 3 minute, 4 second
  lastmod_raw       TEXT,                 -- the site's text where lastmod is not simply that
  lastmod_before    INTEGER,              -- lastmod before it last moved
  changefreq        INTEGER,              -- 0 always, 1 hourly, 2 daily, 3 weekly, 4 monthly, 5 yearly, 6 never
  priority          REAL,                 -- 0.0 to 1.0
  details           TEXT,                 -- news, images, videos, alternates, extra, as JSON
  first_seen        INTEGER NOT NULL,     -- when it was first read
  last_seen         INTEGER,              -- set when a partial read saw it and when a file drops it
  changed_at        INTEGER,              -- when its lastmod last moved; null: never
  returned_at       INTEGER,              -- when it last came back after it was gone
  gone_at           INTEGER,              -- since when no file lists it; null while one does
  stamp             INTEGER,              -- lastmod that counts where lastmod is an old copy's: time * 8 + precision
  stamp_before      INTEGER,              -- the one that counted before, in the same form
  stamp_third       INTEGER,              -- and the one before that
  moved_at          INTEGER               -- when the one that counts last moved; null: never
) STRICT;
CREATE UNIQUE INDEX url_key ON url (origin_id, key);
CREATE INDEX url_undated ON url (origin_id) WHERE lastmod IS NULL AND gone_at IS NULL;
CREATE INDEX url_changed ON url (origin_id, changed_at) WHERE changed_at IS NOT NULL;
CREATE INDEX url_returned ON url (origin_id, returned_at) WHERE returned_at IS NOT NULL;
CREATE INDEX url_gone ON url (origin_id, gone_at) WHERE gone_at IS NOT NULL;

-- Which files list a URL now: all of them. Written with each new URL, so it has no foreign keys.
CREATE TABLE listing (
  file_id  INTEGER NOT NULL,              -- file.id
  url_id   INTEGER NOT NULL,              -- url.id
  PRIMARY KEY (file_id, url_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_url ON listing (url_id);

-- URLs that a complete read no longer met; at the end of the run they are gone, unless another
-- file lists them. What a killed run leaves here, the next run judges.
CREATE TABLE dropped (
  url_id     INTEGER PRIMARY KEY,         -- url.id
  origin_id  INTEGER NOT NULL,            -- origin.id
  file_id    INTEGER                      -- the file that dropped it last
) STRICT;

-- The dates of a file, by the first path segment of its URLs, as they were last read to the end.
CREATE TABLE file_dates (
  file_id      INTEGER NOT NULL REFERENCES file(id),  -- the file
  section      TEXT NOT NULL,             -- first segment of the path; '*': all that were not counted apart
  n            INTEGER NOT NULL,          -- entries
  dated        INTEGER NOT NULL,          -- with a usable date
  invalid      INTEGER NOT NULL,          -- with what is no date
  placeholder  INTEGER NOT NULL,          -- with a date before 1995
  future       INTEGER NOT NULL,          -- with a date further ahead than any zone's error
  ahead        INTEGER NOT NULL,          -- with one less far ahead
  timed        INTEGER NOT NULL,          -- with a time of day
  near_timed   INTEGER NOT NULL,          -- of these, near the moment the file was built
  near_days    INTEGER NOT NULL,          -- without one, of the day the file was built
  is_news      INTEGER NOT NULL,          -- 1 for a file of news
  weight       REAL NOT NULL,             -- entries that each of the stamps stands for
  stamps       BLOB NOT NULL,             -- time * 8 + precision of each, sorted, as zlib of 64-bit integers
  PRIMARY KEY (file_id, section)
) STRICT, WITHOUT ROWID;

-- A part of a site whose lastmod is judged by itself; the one named '' is the whole site.
CREATE TABLE part (
  id         INTEGER PRIMARY KEY,         -- what other tables refer to
  origin_id  INTEGER NOT NULL REFERENCES origin(id),  -- the site
  name       TEXT NOT NULL,               -- a family of files (/post-sitemap#.xml), a section (/blog/) or 'other'
  verdict    TEXT NOT NULL,               -- absent, generation-time, untrusted, unproven, trusted or mixed
  why        TEXT NOT NULL,               -- codes of the reasons, as JSON
  sentence   TEXT NOT NULL,               -- the same to read
  score      REAL NOT NULL,               -- what the evidence guarantees, 0.0 to 1.0
  urls       INTEGER NOT NULL,            -- URLs it has
  reads      INTEGER NOT NULL,            -- reads that count, at least twenty hours apart
  read_at    INTEGER,                     -- the last of these
  judged_at  INTEGER NOT NULL,            -- when the verdict was last looked at
  state      TEXT NOT NULL,               -- tables, counters and statistics, as JSON
  UNIQUE (origin_id, name)
) STRICT;

-- What each run's verdicts were: the score over time.
CREATE TABLE verdict (
  run_id   INTEGER NOT NULL,              -- run.id
  part_id  INTEGER NOT NULL REFERENCES part(id),  -- the part
  verdict  TEXT NOT NULL,                 -- as in part
  why      TEXT NOT NULL,                 -- as in part
  score    REAL NOT NULL,                 -- as in part
  numbers  TEXT NOT NULL,                 -- rates and bounds, as JSON
  PRIMARY KEY (run_id, part_id)
) STRICT, WITHOUT ROWID;

-- A page that was fetched: what it was like, and how often it had changed.
CREATE TABLE page (
  url_id          INTEGER PRIMARY KEY,    -- url.id
  origin_id       INTEGER NOT NULL,       -- origin.id
  tried_at        INTEGER NOT NULL,       -- when it was last asked for
  status          INTEGER,                -- HTTP status of that; null: no answer
  outcome         TEXT NOT NULL,          -- first, same, changed, noisy, or why it tells nothing
  fetched_at      INTEGER,                -- when it was last compared, or met first
  fingerprint     BLOB,                   -- SHA-256 of its content then
  simhash         BLOB,                   -- 64 bits that differ little where the content does
  stamp           INTEGER,                -- its lastmod then: time * 8 + precision
  modified        TEXT,                   -- its own dateModified
  published       TEXT,                   -- its own datePublished
  etag            TEXT,                   -- its ETag
  last_modified   TEXT,                   -- its Last-Modified
  is_noisy        INTEGER NOT NULL DEFAULT 0,  -- two fetches at once differed: it tells nothing
  looks           INTEGER NOT NULL DEFAULT 0,  -- how often it was compared
  changes         INTEGER NOT NULL DEFAULT 0,  -- how often it had changed
  observed        REAL NOT NULL DEFAULT 0      -- days over which that was
) STRICT;
CREATE INDEX page_fetched ON page (origin_id, fetched_at);

-- Looks at pages whose lastmod had not moved: they count a read later, when a late one would have.
CREATE TABLE waiting_look (
  url_id     INTEGER PRIMARY KEY,         -- url.id
  origin_id  INTEGER NOT NULL,            -- origin.id
  part       TEXT NOT NULL,               -- part.name
  before     INTEGER NOT NULL,            -- when the page was looked at before
  at         INTEGER NOT NULL,            -- when it was looked at
  stamp      INTEGER NOT NULL,            -- its lastmod then: time * 8 + precision
  changed    INTEGER NOT NULL             -- 1 when it had changed
) STRICT;

-- Every look at a page.
CREATE TABLE look (
  id       INTEGER PRIMARY KEY,           -- order of the looks
  run_id   INTEGER NOT NULL,              -- run.id
  url_id   INTEGER NOT NULL,              -- url.id
  part     TEXT NOT NULL,                 -- part.name
  at       INTEGER NOT NULL,              -- when
  status   INTEGER,                       -- HTTP status; null: no answer
  outcome  TEXT NOT NULL,                 -- as in page
  moved    INTEGER                        -- whether its lastmod had moved; null where that cannot be said
) STRICT;
CREATE INDEX look_url ON look (url_id);

-- url with words and readable times.
CREATE VIEW urls AS
SELECT url.loc, origin.root AS origin,
       datetime(url.lastmod, 'unixepoch') AS lastmod,
       CASE url.lastmod_precision WHEN 0 THEN 'year' WHEN 1 THEN 'month' WHEN 2 THEN 'day'
            WHEN 3 THEN 'minute' WHEN 4 THEN 'second' END AS lastmod_precision,
       url.lastmod_raw,
       datetime(url.lastmod_before, 'unixepoch') AS lastmod_before,
       CASE url.scope WHEN 0 THEN 'in-path' WHEN 1 THEN 'same-host' WHEN 2 THEN 'cross-submitted'
            ELSE 'foreign' END AS scope,
       CASE url.changefreq WHEN 0 THEN 'always' WHEN 1 THEN 'hourly' WHEN 2 THEN 'daily'
            WHEN 3 THEN 'weekly' WHEN 4 THEN 'monthly' WHEN 5 THEN 'yearly' WHEN 6 THEN 'never'
            END AS changefreq,
       url.priority, url.details,
       (SELECT count(*) FROM listing WHERE url_id = url.id) AS listed_by,
       datetime(url.first_seen, 'unixepoch') AS first_seen,
       datetime(max(url.first_seen, coalesce(url.last_seen, 0), coalesce(
           (SELECT max(file.complete_at) FROM listing JOIN file ON file.id = listing.file_id
            WHERE listing.url_id = url.id), 0)), 'unixepoch') AS last_seen,
       datetime(url.changed_at, 'unixepoch') AS changed_at,
       datetime(url.returned_at, 'unixepoch') AS returned_at,
       datetime(url.gone_at, 'unixepoch') AS gone_at,
       url.id
FROM url JOIN origin ON origin.id = url.origin_id;

-- file with readable times.
CREATE VIEW files AS
SELECT file.url, origin.root AS origin, file.kind, file.state, file.reason, file.status,
       file.found_by, file.found_in, file.entries_kept, file.entries_lost, file.bytes_unpacked,
       file.error_line, file.findings,
       datetime(file.fetched_at, 'unixepoch') AS fetched_at,
       datetime(file.complete_at, 'unixepoch') AS complete_at,
       file.reads, file.changes, datetime(file.changed_at, 'unixepoch') AS changed_at,
       datetime(file.fetched_at + file.read_every, 'unixepoch') AS next_read, file.run_id, file.id
FROM file JOIN origin ON origin.id = file.origin_id;
