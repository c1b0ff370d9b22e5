import type { Logger } from "../../src/ports/telemetry.ts";

const nothing = () => undefined;

/** Says nothing. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
