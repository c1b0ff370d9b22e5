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
INSERT INTO "entries" VALUES ('value/forwarder/checkpoint', '00000000000000190101/00000000000000190101', NULL);
INSERT INTO "entries" VALUES ('value/retention/01a21616-9c1a-7463-9b14-040d818229c7', '2026-11-26T04:22:57.623Z', 1795674177700);
INSERT INTO "entries" VALUES ('value/revoked:01a21617-16e8-7318-9f3c-e1c7f012af92', '2026-11-26T04:22:21.700Z', 1795839741002);
INSERT INTO "entries" VALUES ('value/sessions:01a21616-a64b-7739-97e1-8b281ce03edf', '2', 1795753373090);
INSERT INTO "entries" VALUES ('value/sessions:01a21616-a668-70cf-994d-aaa1637647a1', '3', 1795753373484);
INSERT INTO "entries" VALUES ('value/sessions:01a21616-a691-76da-a699-d081face141e', '9007199254740991', 1795753374776);
COMMIT;
