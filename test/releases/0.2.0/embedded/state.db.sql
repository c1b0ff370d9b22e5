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
INSERT INTO "entries" VALUES ('value/retention/01a21612-6b29-7045-82d6-a1457efbbcba', '2026-11-26T04:18:01.074Z', 1795673881430);
INSERT INTO "entries" VALUES ('value/revoked:01a21612-a0b5-763c-aaa0-99f7691b14fb', '2026-11-26T04:17:29.299Z', 1795839449034);
INSERT INTO "entries" VALUES ('value/sessions:01a21612-6c5c-7786-8d37-d770292b1a5a', '2', 1795753095921);
INSERT INTO "entries" VALUES ('value/sessions:01a21612-6c68-747a-b59c-c7bdc39f23da', '3', 1795753095981);
INSERT INTO "entries" VALUES ('value/sessions:01a21612-6c79-7037-a88c-b818effc35fd', '9007199254740991', 1795753096034);
COMMIT;
