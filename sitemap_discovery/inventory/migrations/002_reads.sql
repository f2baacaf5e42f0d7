-- How often a file changed and is to be read; indexes for what moved.
ALTER TABLE run_origin ADD COLUMN last_url INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN reads INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN changed_at INTEGER;
ALTER TABLE file ADD COLUMN lied_at INTEGER;
ALTER TABLE file ADD COLUMN read_every INTEGER;
ALTER TABLE url ADD COLUMN file_id INTEGER;
ALTER TABLE dropped ADD COLUMN file_id INTEGER;
UPDATE file SET reads = 1, changed_at = complete_at WHERE complete_at IS NOT NULL;
CREATE INDEX url_undated ON url (origin_id) WHERE lastmod IS NULL AND gone_at IS NULL;
CREATE INDEX url_changed ON url (origin_id, changed_at) WHERE changed_at IS NOT NULL;
CREATE INDEX url_returned ON url (origin_id, returned_at) WHERE returned_at IS NOT NULL;
CREATE INDEX url_gone ON url (origin_id, gone_at) WHERE gone_at IS NOT NULL;
DROP VIEW files;
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
