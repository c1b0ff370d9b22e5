import { parseArgs } from "node:util";
import { EventStoreDbServer } from "./server.ts";

/**
 * The wire-compatible server as a process: `node test/support/eventstoredb/main.ts --port P [--file F]`. With a
 * file it keeps what it acknowledged through a kill. Prints its address when it takes connections.
 */
const { values } = parseArgs({ options: { port: { type: "string", default: "0" }, file: { type: "string" } } });
const server = await EventStoreDbServer.start({
  port: Number(values.port), ...(values.file === undefined ? {} : { file: values.file }),
});
console.log(server.url);
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void server.stopGracefully().then(() => process.exit(0)));
}
