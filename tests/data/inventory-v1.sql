-- A database of schema version 1: two runs over three files of one site, as sqlite3's .dump has it.
BEGIN TRANSACTION;
CREATE TABLE dropped (
  url_id     INTEGER PRIMARY KEY,         -- url.id
  origin_id  INTEGER NOT NULL             -- origin.id
) STRICT;
CREATE TABLE file (
  id             INTEGER PRIMARY KEY,     -- what other tables refer to
  origin_id      INTEGER NOT NULL REFERENCES origin(id),  -- the site it was read for
  url            TEXT NOT NULL,           -- its address
  found_by       TEXT NOT NULL,           -- origin, robots, index, argument, spider, known-path, html-link, link-header or inventory
  found_in       TEXT,                    -- address of the file that first named it
  depth          INTEGER NOT NULL,        -- indexes between it and robots.txt
  index_lastmod  INTEGER,                 -- its date in the index that named it
  kind           TEXT,                    -- urlset, index, text, rss, atom or robots
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
  UNIQUE (origin_id, url)
) STRICT;
INSERT INTO "file" VALUES(1,1,'https://example.com/sitemap.xml','robots',NULL,0,NULL,'urlset','complete','ok',NULL,NULL,'"2"',NULL,X'3232323232323232323232323232323232323232323232323232323232323232',0,0,3,0,NULL,NULL,NULL,1790086400,NULL,1790172800,1790172800,2);
INSERT INTO "file" VALUES(2,1,'https://example.com/index.xml','robots',NULL,0,NULL,'index','complete','ok',NULL,NULL,NULL,NULL,NULL,0,0,2,0,NULL,NULL,NULL,1790086400,NULL,1790086400,1790086400,1);
INSERT INTO "file" VALUES(3,1,'https://example.com/late.xml','index','https://example.com/index.xml',1,NULL,NULL,'failed','http-503',NULL,NULL,NULL,NULL,NULL,0,0,0,0,NULL,NULL,NULL,1790086400,NULL,1790172800,NULL,2);
CREATE TABLE file_parent (
  file_id    INTEGER NOT NULL REFERENCES file(id),  -- the file that is named
  parent_id  INTEGER NOT NULL REFERENCES file(id),  -- the robots.txt or index that names it
  PRIMARY KEY (file_id, parent_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "file_parent" VALUES(1,2);
INSERT INTO "file_parent" VALUES(3,2);
CREATE TABLE listing (
  file_id  INTEGER NOT NULL,              -- file.id
  url_id   INTEGER NOT NULL,              -- url.id
  PRIMARY KEY (file_id, url_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "listing" VALUES(1,1);
INSERT INTO "listing" VALUES(1,3);
INSERT INTO "listing" VALUES(1,4);
CREATE TABLE origin (
  id          INTEGER PRIMARY KEY,        -- what other tables refer to
  root        TEXT NOT NULL UNIQUE,       -- scheme://host[:port]
  first_seen  INTEGER NOT NULL            -- when it was first asked for
) STRICT;
INSERT INTO "origin" VALUES(1,'https://example.com',1790086400);
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
INSERT INTO "run" VALUES(1,'sitemaps',NULL,'{}',1790086400,1790086400,'complete',NULL,'finished','{"urls": 1, "files": {"complete": 1}}');
INSERT INTO "run" VALUES(2,'sitemaps',NULL,'{}',1790172800,1790172800,'complete',NULL,'finished','{"urls": 1, "files": {"complete": 1}}');
CREATE TABLE run_origin (
  run_id     INTEGER NOT NULL REFERENCES run(id),     -- the run
  origin_id  INTEGER NOT NULL REFERENCES origin(id),  -- the origin
  PRIMARY KEY (run_id, origin_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "run_origin" VALUES(1,1);
INSERT INTO "run_origin" VALUES(2,1);
CREATE TABLE url (
  id                INTEGER PRIMARY KEY,  -- order of arrival
  origin_id         INTEGER NOT NULL,     -- origin.id; a foreign key would cost a look-up a row
  key               BLOB NOT NULL,        -- BLAKE2b-128 of loc
  loc               TEXT NOT NULL,        -- absolute URL
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
  gone_at           INTEGER               -- since when no file lists it; null while one does
) STRICT;
INSERT INTO "url" VALUES(1,1,X'969065EFE4E160EB6D90F3B0AB5CC775','https://example.com/a',0,1788393600,2,'2026-09-03',1788220800,NULL,NULL,NULL,1790086400,NULL,1790172800,NULL,NULL);
INSERT INTO "url" VALUES(2,1,X'EDB8343F046F6111834937F250D09E44','https://example.com/b',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1790086400,1790086400,NULL,NULL,1790172800);
INSERT INTO "url" VALUES(3,1,X'A4314B756ACB7BD9ACE1C022CF0DF0AB','https://example.com/c',0,NULL,NULL,'soon',NULL,NULL,NULL,NULL,1790086400,NULL,NULL,NULL,NULL);
INSERT INTO "url" VALUES(4,1,X'43B8F8B18579EDD160E2D06F52F31E1D','https://example.com/d',0,1788429600,4,NULL,NULL,NULL,NULL,NULL,1790172800,NULL,NULL,NULL,NULL);
CREATE UNIQUE INDEX url_key ON url (origin_id, key);
CREATE INDEX listing_url ON listing (url_id);
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
CREATE VIEW files AS
SELECT file.url, origin.root AS origin, file.kind, file.state, file.reason, file.status,
       file.found_by, file.found_in, file.entries_kept, file.entries_lost, file.bytes_unpacked,
       file.error_line, file.findings,
       datetime(file.fetched_at, 'unixepoch') AS fetched_at,
       datetime(file.complete_at, 'unixepoch') AS complete_at, file.run_id, file.id
FROM file JOIN origin ON origin.id = file.origin_id;
COMMIT;
PRAGMA user_version = 1;
