import { destination, pino, stdTimeFunctions, type DestinationStream, type LevelWithSilent, type Logger } from "pino";

const censor = "[secret]";

/**
 * Fields that are never shown, however deep, and what this service's keys and tokens look like, wherever they
 * turn up. Searched in the finished line: pino's own redaction walks every object, for ten times the cost of
 * the line itself.
 */
const secretNames = [
  "(?:owner)?password(?:hash)?", "credentials", "(?:access|ingest|invite)?token", "(?:x-)?api-?key",
  "(?:webhook|client|turnstile)?secret", "masterkey", "authorization", "(?:set-)?cookie",
].join("|");
const text = String.raw`"(?:[^"\\]|\\.)*"`;
const flatObject = `\\{(?:[^{}"]|${text})*\\}`;
const secretFields = new RegExp(`"(${secretNames})":(?:${text}|${flatObject})`, "gi");
const secretForms = /\b(?:rk_|inv_|dst_|sndr_|whsec_)[\w+/=-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+|\$2[aby]\$\d\d\$[./\w]{53}/g;

/** Lines are written together: a write of its own for each would cost more than making it. */
const gatheredBytes = 8_192;
const gatheringMs = 200;

/**
 * A logger of JSON lines, on standard output unless told otherwise. Nobody is meant to log a secret; should it
 * happen, it is blotted out. Lines are written in the background, some at a time, and before the process exits.
 */
export function createLogger(level: LevelWithSilent, to?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: blot },
  };
  const output = { dest: 1, sync: false, minLength: gatheredBytes, periodicFlush: gatheringMs };
  return pino(options, to ?? destination(output));
}

function blot(line: string): string {
  return line.replace(secretFields, `"$1":"${censor}"`).replace(secretForms, censor);
}
