import type { MongoConnection } from "../../engines/mongodb/connection.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { asSaidBy } from "../variable-problem.ts";

/**
 * Opens a connection to the database that RELAY_MONGODB_URL names, whether the server answers or not. Rejects with an
 * Error that names the variable where the URL is none. The driver is loaded only now: it takes a second, and memory.
 */
export async function openMongoDb(
  url: string, instruments: Pick<Instruments, "clock" | "logger">,
): Promise<MongoConnection> {
  const { connectMongoDb } = await import("../../engines/mongodb/connection.ts");
  return asSaidBy("RELAY_MONGODB_URL", () => connectMongoDb(url, instruments));
}
