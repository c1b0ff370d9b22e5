import {
  pino, stdSerializers, stdTimeFunctions, type DestinationStream, type LevelWithSilent, type Logger,
} from "pino";
import { Output } from "./output.ts";

const censor = "[secret]";

/** Masked in the finished line: pino's own redaction takes ten times as long as the line itself. */
const secretNames = [
  "(?:owner)?password(?:hash)?", "credentials", "(?:access|ingest|invite)?token", "(?:x-)?api-?key",
  "(?:webhook|client|turnstile)?secret", "masterkey", "authorization", "(?:set-)?cookie",
].join("|");
const text = String.raw`"(?:[^"\\]|\\.)*"`;
const flatObject = `\\{(?:[^{}"]|${text})*\\}`;
const secretFields = new RegExp(`"(${secretNames})":(?:${text}|${flatObject})`, "gi");
const secretForms = /\b(?:rk_|inv_|dst_|sndr_|whsec_)[\w+/=-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+|\$2[aby]\$\d\d\$[./\w]{53}/g;

/** A logger of JSON lines, by default on standard output, that masks secrets which should not be there. */
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

/** Errors from other threads have lost their class, not their name. */
function named(error: Error): object {
  const shown = stdSerializers.err(error);
  return error instanceof Object && error.name ? Object.assign(shown, { type: error.name }) : shown;
}

function blot(line: string): string {
  return line.replace(secretFields, `"$1":"${censor}"`).replace(secretForms, censor);
}
