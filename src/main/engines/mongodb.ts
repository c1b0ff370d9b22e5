import type { MongoConnection } from "../../engines/mongodb/connection.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { namingVariable } from "../config/variables.ts";

/** Connects to MongoDB, even if it does not answer. Rejects an invalid URL with an error that names the variable. */
export async function openMongoDb(
  url: string, instruments: Pick<Instruments, "clock" | "logger">,
): Promise<MongoConnection> {
  const { connectMongoDb } = await import("../../engines/mongodb/connection.ts");
  return namingVariable("RELAY_MONGODB_URL", () => connectMongoDb(url, instruments));
}
