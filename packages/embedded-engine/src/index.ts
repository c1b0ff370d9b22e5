/** The whole public face of the package; everything else is internal. */
export { appendBytesLimit, EmbeddedEventStore, openEmbeddedEventStore } from "./event-store/embedded-event-store.ts";
export { logConverters, logFormat, logPath } from "./event-store/log-file.ts";
export { isPosition } from "./event-store/positions.ts";
export type { Tuning } from "./event-store/protocol.ts";

export { remoteReadModels, SqliteReadModels } from "./read-models/sqlite-read-models.ts";
export { StoredReadModels } from "./read-models/stored-read-models.ts";

export {
  remoteExpiringState, SqliteExpiringState, stateConverters, stateFormat,
} from "./expiring-state/sqlite-expiring-state.ts";

export { EmbeddedQueue } from "./queue/embedded-queue.ts";

export { copyDatabases } from "./sqlite/copy-databases.ts";
export { bringUp, type Converter, type KeptFile } from "./sqlite/conversion.ts";
export { lockDataFolder } from "./sqlite/data-folder-lock.ts";
export { formatOf, requireNotNewer } from "./sqlite/file-format.ts";
