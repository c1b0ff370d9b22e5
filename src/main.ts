import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { createLogger } from "./engines/pino/logger.ts";
import { SystemClock } from "./engines/system/system-clock.ts";
import { SystemIds } from "./engines/system/system-ids.ts";
import { shrinkAtRest } from "./kernel/threads/threads.ts";
import { configWarnings, readConfig, version, type Config } from "./main/config/config.ts";
import { ConfigError } from "./main/config/parse.ts";
import { readSecrets, type Secrets } from "./main/config/secrets.ts";
import { backUp, requireLog } from "./main/engines/files.ts";
import { describeBacklog } from "./main/operator/backlog.ts";
import {
  createTenant, eraseTenant, listTenants, rebuildReadModels, resetPassword, rewrapKeys,
} from "./main/operator/commands.ts";
import { counted, describeErasure, describeKeys } from "./main/operator/reports.ts";
import { startRelay, type RelaySettings } from "./main/relay.ts";

interface Settings {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly warnings: readonly string[];
}

const madePasswordBytes = 18;

const usage = `usage: npm start [-- command]

  serve             run the relay (the default)
  help, --version   print this, or the version, and exit

beside a running relay or on a stopped one:
  backup FOLDER     copy the log and the expiring state into FOLDER
  backlog           tell which destinations most events wait for
  keys              tell what each master key wraps, and which old ones may go
  tenants           list the tenants, a line of JSON each
  create-tenant NAME EMAIL
                    create a tenant and its Owner, with the password on standard input, or one that is made
  reset-owner-password EMAIL
                    give an Owner the password on standard input, or one that is made and printed
  erase-tenant TENANT_ID --yes
                    take a tenant and all that is its own out of every file, for good

on a stopped relay:
  rebuild           drop the read models and build them again from the log

on a stopped relay; where no engine is embedded, beside a running one, too:
  rewrap            bring every key under the newest master key (a running relay does it by itself)
`;

function settingsOrExit(): Settings {
  try {
    const config = readConfig(process.env);
    const warnings = configWarnings(process.env, config, new SystemClock().now());
    return { config, secrets: readSecrets(process.env, config), warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    exitWith(1, `${error.message}\n`);
  }
}

async function serve({ config, secrets, warnings }: Settings): Promise<void> {
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn({}, warning);
  let stopping = false;
  const stop = (signal: string) => {
    // Ctrl-C under npm comes twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, "draining");
    // A start that waits for an engine has acknowledged nothing: it may be killed.
    setTimeout(() => process.exit(0), config.shutdownTimeoutMs);
    starting.then((relay) => relay.stop()).then(
      () => process.exit(0),
      (error: unknown) => exitBecause("the relay did not stop cleanly", error),
    );
  };
  // Before the start: a signal during it must drain the relay, too.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // On a closed terminal.
  process.on("SIGHUP", stop);
  // A process without its engine must end to be restarted.
  const onFatal = (error: Error) => {
    const what = "an engine has failed; the relay must be started again";
    // Also on standard error: the log may be silent, or lose its last lines.
    logger.error({ err: error }, what);
    exitBecause(what, error);
  };
  const starting = startRelay({ config, secrets, logger, onFatal }).catch((error: unknown) =>
    exitBecause("the relay cannot start", error));
  await starting;
}

/** A command other than `serve`. */
interface Command {
  /** Names of its arguments; those without dashes are required. */
  readonly takes?: readonly string[];
  /** Resolves to its output. */
  readonly run: (settings: RelaySettings, given: string, option?: string) => Promise<string>;
  /** Printed before an error's text. */
  readonly failed: string;
}

const commands = new Map(Object.entries<Command>({
  rebuild: {
    run: async (settings) => `read models rebuilt from the log in ${(await rebuildReadModels(settings)).toFixed(1)} s`,
    failed: "the read models cannot be rebuilt",
  },
  backup: {
    takes: ["FOLDER"],
    run: async ({ config }, folder) => {
      backUp(config, folder);
      return `backed up to ${folder}; keep the master key apart: no relay starts on the backup without it`;
    },
    failed: "the backup failed",
  },
  backlog: {
    run: async (settings) => (await describeBacklog(settings)).join("\n"),
    failed: "the backlog cannot be told",
  },
  keys: {
    run: async (settings) => (await describeKeys(settings)).join("\n"),
    failed: "the keys cannot be told",
  },
  rewrap: {
    run: async (settings) =>
      `keys of ${counted(await rewrapKeys(settings), "tenant")} re-wrapped; every key is under the newest master key`,
    failed: "the keys cannot be re-wrapped",
  },
  tenants: {
    run: async (settings) => (await listTenants(settings)).map((tenant) => JSON.stringify(tenant)).join("\n"),
    failed: "the tenants cannot be listed",
  },
  "create-tenant": {
    takes: ["NAME", "EMAIL"],
    run: async (settings, name, ownerEmail = "") => {
      const { password: ownerPassword, isMade } = await passwordGiven();
      const created = await createTenant(settings, { name, ownerEmail, ownerPassword });
      return JSON.stringify(isMade ? { ...created, ownerPassword } : created);
    },
    failed: "the tenant cannot be created",
  },
  "reset-owner-password": {
    takes: ["EMAIL"],
    run: async (settings, email) => {
      const { password, isMade } = await passwordGiven();
      await resetPassword(settings, { email, password });
      return isMade ? `the new password: ${password}` : "the password was reset";
    },
    failed: "the password cannot be reset",
  },
  "erase-tenant": {
    takes: ["TENANT_ID", "--yes"],
    run: async (settings, given, yes) => {
      const tenantId = given.toLowerCase();
      if (yes !== "--yes") {
        const going = await describeErasure(settings, tenantId);
        exitWith(2, `${going} would be erased for good, from every file; add --yes\n`);
      }
      return `tenant ${tenantId} is erased, ${counted(await eraseTenant(settings, tenantId), "stream")} of it deleted`;
    },
    failed: "the tenant cannot be erased",
  },
}));

/** The password on standard input, else a new one. Rejects bytes that are not UTF-8. */
async function passwordGiven(): Promise<{ readonly password: string; readonly isMade: boolean }> {
  const given = process.stdin.isTTY ? "" : await passwordOnStdin();
  const made = () => Buffer.from(new SystemIds().secretBytes(madePasswordBytes)).toString("base64url");
  return { password: given || made(), isMade: given === "" };
}

async function passwordOnStdin(): Promise<string> {
  const bytes = await buffer(process.stdin);
  if (!isUtf8(bytes)) throw new Error("the password must be in UTF-8");
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}

async function perform(name: string, args: readonly string[]): Promise<void> {
  const { takes = [], run, failed } = commands.get(name) ?? exitWith(2, usage);
  const [given = "", option] = args;
  // An unset shell variable becomes an empty argument.
  const lacking = takes.some((name, at) => !name.startsWith("--") && /^(--[\w-]+)?$/.test(args[at] ?? ""));
  // For example `rebuild --help`, or an unquoted folder with a blank.
  if (lacking || args.length > takes.length) exitWith(2, `usage: npm start -- ${[name, ...takes].join(" ")}\n`);
  const { config, secrets } = settingsOrExit();
  const fail = (error: unknown) => exitBecause(failed, error);
  const settings = { config, secrets, logger: createLogger(config.logLevel), onFatal: fail };
  const result = await requireLog(config).then(() => run(settings, given, option)).catch(fail);
  print(result === "" ? "" : `${result}\n`);
}

/** Writes on standard output. The reader may have gone, as in `tenants | head -1`: that is no failure. */
function print(text: string): void {
  process.stdout.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") exitBecause("the result cannot be printed", error);
    process.exit(0);
  });
  process.stdout.write(text);
}

function exitWith(code: number, text: string): never {
  process.stderr.write(text);
  process.exit(code);
}

function exitBecause(what: string, error: unknown): never {
  exitWith(1, `${what}: ${error instanceof Error ? error.message : String(error)}\n`);
}

// Keeps short-lived objects out of V8's old generation: docs/adr/0024.
setFlagsFromString("--no-allocation-site-pretenuring");
shrinkAtRest();
// The files that this process makes hold payloads, hashes or keys.
process.umask(0o077);
const [name = "serve", ...args] = process.argv.slice(2);
const answers = new Map(Object.entries({
  help: usage, "--help": usage, "-h": usage, "--version": `${version}\n`, "-v": `${version}\n`,
}));
const answer = answers.get(name);
if (answer !== undefined) print(answer);
else {
  // The clock's timers do not keep the process alive while all engines are unavailable.
  const awake = setInterval(() => undefined, 2 ** 30);
  await (name === "serve" && args.length === 0 ? serve(settingsOrExit()) : perform(name, args));
  clearInterval(awake);
}
