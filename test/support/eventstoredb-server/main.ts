import { parseArgs } from "node:util";
import type { Release } from "./release.ts";
import { EventStoreDbServer } from "./server.ts";

/**
 * The wire-compatible server as a process: `node test/support/eventstoredb-server/main.ts --port P [--file F]`. With a
 * file acknowledged changes survive a kill; with `--release 24.10` it behaves as that release; with `--leashed` it ends
 * with its standard input, that is with the process that started it. Prints its address when it takes connections.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    file: { type: "string" },
    release: { type: "string", default: "23.10" },
    leashed: { type: "boolean" },
  },
});
const server = await EventStoreDbServer.start({
  port: Number(values.port), release: values.release as Release,
  ...(values.file === undefined ? {} : { file: values.file }),
});
console.log(server.url);
if (values.leashed) process.stdin.on("end", () => process.exit(1)).resume();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void server.stopGracefully().then(() => process.exit(0)));
}
