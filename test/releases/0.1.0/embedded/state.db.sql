PRAGMA page_size = 4096;
PRAGMA auto_vacuum = 0;
PRAGMA application_id = 0;
PRAGMA user_version = 0;
PRAGMA journal_mode = wal;
BEGIN;
CREATE TABLE entries (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
CREATE INDEX entries_by_end ON entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE admissions (
    key TEXT, ticket TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (key, ticket)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX admissions_by_end ON admissions (expires_at);
CREATE INDEX admissions_by_kind ON admissions (substr(key, 1, instr(key, ':')), expires_at);
INSERT INTO "entries" VALUES ('value/forwarder/checkpoint', '0000000000000252', NULL);
INSERT INTO "entries" VALUES ('value/retention/01a21615-4ca6-71e7-bcea-eac73eb6dfa1', '2026-11-26T04:21:18.803Z', 1795674079071);
INSERT INTO "entries" VALUES ('value/revoked:01a21615-9127-7073-93ac-90eac89d4bbc', '2026-11-26T04:20:41.946Z', 1795839641135);
INSERT INTO "entries" VALUES ('value/sessions:01a21615-51af-725b-80e6-4b80fae422ca', '2', 1795753285742);
INSERT INTO "entries" VALUES ('value/sessions:01a21615-51c6-741c-a443-6e5661a7ee70', '3', 1795753285770);
INSERT INTO "entries" VALUES ('value/sessions:01a21615-51e3-753a-8aaa-ffe5ffe48d61', '9007199254740991', 1795753285821);
COMMIT;
