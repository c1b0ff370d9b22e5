import { join } from "node:path";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import type { CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { position } from "../../../support/position.ts";

/** Removes a person from the read models in the given folder, prints "removed", and runs until it is killed. */
const people: CollectionDefinition = {
  name: "people", key: "id", personal: true, fields: { id: "id", email: "text" }, indexes: [],
};
const key = "00000000-0000-4000-8000-000000000000";
const models = new SqliteReadModels(join(process.argv[2]!, "read-models.db"), new SystemClock());
await models.reset([people], "1");
await models.apply(
  [{ position: position(1), changes: [{ op: "put", collection: "people", key, document: { id: key, email: "a" } }] }],
  position(1),
);
await models.apply([{ position: position(2), changes: [{ op: "remove", collection: "people", key }] }], position(2));
console.log("removed");
setInterval(() => undefined, 60_000);
