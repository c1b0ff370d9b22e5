import {
  pino, stdSerializers, stdTimeFunctions, type DestinationStream, type LevelWithSilent, type Logger,
} from "pino";
import { Output } from "./output.ts";

const censor = "[secret]";

/**
 * Fields that are masked at any depth, and the forms of this service's keys and tokens, masked anywhere. Both are
 * searched in the finished line: pino's own redaction walks every object, for ten times the cost of the line itself.
 */
const secretNames = [
  "(?:owner)?password(?:hash)?", "credentials", "(?:access|ingest|invite)?token", "(?:x-)?api-?key",
  "(?:webhook|client|turnstile)?secret", "masterkey", "authorization", "(?:set-)?cookie",
].join("|");
const text = String.raw`"(?:[^"\\]|\\.)*"`;
const flatObject = `\\{(?:[^{}"]|${text})*\\}`;
const secretFields = new RegExp(`"(${secretNames})":(?:${text}|${flatObject})`, "gi");
const secretForms = /\b(?:rk_|inv_|dst_|sndr_|whsec_)[\w+/=-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+|\$2[aby]\$\d\d\$[./\w]{53}/g;

/**
 * A logger of JSON lines, on standard output unless told otherwise. Nothing should log a secret; should it happen, the
 * secret is masked.
 */
export function createLogger(level: LevelWithSilent, to?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: blot },
    serializers: { err: named },
  };
  return pino(options, to ?? new Output(1));
}

/** An error under its own name: an error from another thread has lost its class. */
function named(error: Error): object {
  const shown = stdSerializers.err(error);
  return error instanceof Object && error.name ? Object.assign(shown, { type: error.name }) : shown;
}

function blot(line: string): string {
  return line.replace(secretFields, `"$1":"${censor}"`).replace(secretForms, censor);
}
