import { text as consume } from "node:stream/consumers";
import { describeBacklog } from "./composition/backlog.ts";
import { backUp } from "./composition/backup.ts";
import { counted } from "./composition/counted.ts";
import { describeErasure } from "./composition/erasure-preview.ts";
import { describeKeys } from "./composition/keys.ts";
import { eraseTenant, resetPassword, rewrapKeys } from "./composition/operator.ts";
import { startRelay } from "./composition/relay.ts";
import { rebuildReadModels } from "./composition/rebuild.ts";
import { version } from "./composition/version.ts";
import { createLogger } from "./adapters/pino/logger.ts";
import { configWarnings, readConfig, type Config } from "./config/config.ts";
import { ConfigError } from "./config/parse.ts";
import { readSecrets, type Secrets } from "./config/secrets.ts";

interface Settings {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly warnings: readonly string[];
}

const usage = `usage: npm start [-- command]

  serve             run the relay (the default)
  rebuild           drop the read models and build them again from the log, then exit
  backup FOLDER     copy the log and the expiring state of a running relay into FOLDER, then exit
  backlog           tell which destinations most events wait for; a relay may be running
  keys              tell what each master key wraps, and which old ones may go; a relay may be running
  rewrap            bring every key under the newest master key, then exit (a running relay does it by itself)
  reset-owner-password EMAIL
                    give an Owner the password on standard input, or one that is made and printed, then exit
  erase-tenant TENANT_ID --yes
                    take a tenant and all that is its own out of every file, for good, then exit
  help, --version   print this, or the version, and exit
`;

function settingsOrExit(): Settings {
  try {
    const config = readConfig(process.env);
    return { config, secrets: readSecrets(process.env, config), warnings: configWarnings(process.env, config) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
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
    // One that still waits for an engine has acknowledged nothing.
    setTimeout(() => process.exit(0), config.shutdownTimeoutMs);
    starting.then((relay) => relay.stop()).then(
      () => process.exit(0),
      (error: unknown) => exitBecause("the relay did not stop cleanly", error),
    );
  };
  // Before the start: it, too, may be told to end, and then is drained like any other.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // A process that stayed, alive and of no use, would not be started again by anyone.
  const onFatal = (error: Error) => exitBecause("an engine has failed; the relay must be started again", error);
  const starting = startRelay({ config, secrets, logger, onFatal }).catch((error: unknown) =>
    exitBecause("the relay cannot start", error));
  await starting;
}

async function rebuild({ config, secrets }: Settings): Promise<void> {
  const logger = createLogger(config.logLevel);
  const { seconds } = await rebuildReadModels({ config, secrets, logger }).catch((error: unknown) =>
    exitBecause("the read models cannot be rebuilt", error));
  process.stdout.write(`read models rebuilt from the log in ${seconds.toFixed(1)} s\n`);
  process.exit(0);
}

async function backup({ config }: Settings): Promise<void> {
  const folder = process.argv[3] ?? exitWithUsage();
  try {
    backUp(config, folder);
    process.stdout.write(`backed up to ${folder}; keep the master key apart: the backup cannot be read without it\n`);
  } catch (error) {
    exitBecause("the backup failed", error);
  }
}

async function keys({ config, secrets }: Settings): Promise<void> {
  const lines = await describeKeys({ config, secrets, logger: createLogger(config.logLevel) }).catch((error: unknown) =>
    exitBecause("the keys cannot be told", error));
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function backlog({ config, secrets }: Settings): Promise<void> {
  const logger = createLogger(config.logLevel);
  const lines = await describeBacklog({ config, secrets, logger }).catch((error: unknown) =>
    exitBecause("the backlog cannot be told", error));
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function rewrap({ config, secrets }: Settings): Promise<void> {
  const count = await rewrapKeys({ config, secrets, logger: createLogger(config.logLevel) }).catch((error: unknown) =>
    exitBecause("the keys cannot be re-wrapped", error));
  process.stdout.write(`${count} tenants' keys re-wrapped; every key is under the newest master key\n`);
}

async function resetOwnerPassword({ config, secrets }: Settings): Promise<void> {
  const email = process.argv[3] ?? exitWithUsage();
  const given = process.stdin.isTTY ? "" : (await consume(process.stdin)).replace(/\r?\n$/, "");
  const logger = createLogger(config.logLevel);
  const password = await resetPassword({ config, secrets, logger }, email, given === "" ? null : given).catch(
    (error: unknown) => exitBecause("the password cannot be reset", error));
  process.stdout.write(given === "" ? `the new password: ${password}\n` : "the password was reset\n");
}

async function eraseOne({ config, secrets }: Settings): Promise<void> {
  const [given = exitWithUsage(), yes] = process.argv.slice(3);
  const tenantId = given.toLowerCase();
  const settings = { config, secrets, logger: createLogger(config.logLevel) };
  const failed = (error: unknown) => exitBecause("the tenant cannot be erased", error);
  if (yes !== "--yes") {
    const going = await describeErasure(settings, tenantId).catch(failed);
    process.stderr.write(`${going} would be erased for good, from every file; add --yes\n`);
    process.exit(2);
  }
  const count = await eraseTenant(settings, tenantId).catch(failed);
  process.stdout.write(`tenant ${tenantId} is erased, ${counted(count, "stream")} of it deleted\n`);
}

function exitWithUsage(): never {
  process.stderr.write(usage);
  process.exit(2);
}

function exitBecause(what: string, error: unknown): never {
  process.stderr.write(`${what}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

// Whatever this makes holds payloads, hashes or keys.
process.umask(0o077);
const command = process.argv[2] ?? "serve";
const commands = new Map(Object.entries({
  serve, rebuild, backup, backlog, keys, rewrap, "reset-owner-password": resetOwnerPassword, "erase-tenant": eraseOne,
}));
const answers = new Map(Object.entries({
  help: usage, "--help": usage, "-h": usage, "--version": `${version}\n`, "-v": `${version}\n`,
}));
const answer = answers.get(command);
if (answer === undefined) {
  const run = commands.get(command) ?? exitWithUsage();
  await run(settingsOrExit());
} else process.stdout.write(answer);
