-- Whether lastmod can be trusted: dates by file, parts and their verdicts, pages that were looked at.
ALTER TABLE url ADD COLUMN stamp INTEGER;
ALTER TABLE url ADD COLUMN stamp_before INTEGER;
ALTER TABLE url ADD COLUMN stamp_third INTEGER;
ALTER TABLE url ADD COLUMN moved_at INTEGER;
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
