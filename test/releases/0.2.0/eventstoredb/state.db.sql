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
INSERT INTO "entries" VALUES ('value/forwarder/checkpoint', '00000000000000198729/00000000000000198729', NULL);
INSERT INTO "entries" VALUES ('value/retention/01a21613-8cc2-7334-95c2-cabbd8a81120', '2026-11-26T04:19:31.421Z', 1795673971822);
INSERT INTO "entries" VALUES ('value/revoked:01a21613-da11-700b-bbff-2bac78759e82', '2026-11-26T04:18:49.500Z', 1795839529000);
INSERT INTO "entries" VALUES ('value/sessions:01a21613-8df2-7141-9af3-b65fb4c88b01', '2', 1795753170147);
INSERT INTO "entries" VALUES ('value/sessions:01a21613-8e19-709b-8393-8cf6f1295c09', '3', 1795753170298);
INSERT INTO "entries" VALUES ('value/sessions:01a21613-8e4f-75c0-a066-cbbace51f181', '9007199254740991', 1795753171057);
COMMIT;
