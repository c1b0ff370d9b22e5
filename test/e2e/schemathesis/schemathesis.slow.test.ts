import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { ApiDocument } from "../../../src/http/openapi/document.ts";
import { text, type Json } from "../../support/api-client.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { openAccount, startTestRelay, type Account, type TestRelay } from "../../support/relay.ts";
import { sized } from "../../support/size.ts";

const run = promisify(execFile);
const requirements = join(import.meta.dirname, "requirements.txt");
const environment = join(import.meta.dirname, "../../../node_modules/.cache/schemathesis");
const program = join(environment, "bin", "schemathesis");
/** Random input for each operation comes in `make test-full`; `test/http/fuzz` sends some in `make test`. */
const phases = sized(0, 1) === 1 ? "examples,coverage,fuzzing" : "examples,coverage";
const casesPerOperation = sized(8, 1_000);

/** Reasons for a 400 to input that the schemas allow: rules of the application that a schema cannot express. */
const sharperThanSchemas: Readonly<Record<string, string>> = {
  createTenant: "a password is measured in bytes of UTF-8, a name after trimming",
  updateTenant: "a name is measured after trimming",
  createUser: "a password is measured in bytes of UTF-8",
  updateUser: "a password is measured in bytes of UTF-8",
  register: "a password is measured in bytes of UTF-8",
  changePassword: "the current password is the caller's; a password is measured in bytes of UTF-8",
  createApiKey: "a name is measured after trimming; a key cannot expire in the past",
  createDestination: "credentials are those of the authType; URLs are HTTPS and lead to no address of our own networks",
  updateDestination: "credentials are those of the authType; URLs are HTTPS and lead to no address of our own networks",
  replaceSigningSecret: "a secret has 24 to 64 bytes",
  regenerateWebhookSecret: "a secret has 24 to 64 bytes",
  createPortalLink: "it names an owner or destinations, not both; a URL to return to is HTTPS",
  createSender: "a name is measured after trimming; an expression must compile",
  updateSender: "a name is measured after trimming; an expression must compile",
  testMapping: "a payload may come as the text of a JSON object",
  createServiceAccount: "a name is measured after trimming",
  updateServiceAccount: "a name is measured after trimming",
  createServiceKey: "a name is measured after trimming; a key cannot expire in the past",
  ingest: "tags are pairs of a name and a value",
  getStatistics: "it gives 1,500 points at most",
  cancelReplay: "only a replay that runs can be cancelled",
  followStream: "kinds are words, separated by commas",
  testDestination: "a payload is a JSON object, also where it is given as text",
  orderReplay: "a tag is a name and a value",
  cancelEvents: "a tag is a name and a value",
  replayEvents: "a tag is a name and a value",
  purgeEvents: "a tag is a name and a value",
  createView: "a name is measured after trimming",
  updateView: "a name is measured after trimming",
  previewMapping: "an expression must compile",
  createSubscription: "an expression must compile; a filter has conditions of known operators",
  updateSubscription: "an expression must compile; a filter has conditions of known operators",
  testSubscriptions: "a payload may come as the text of a JSON object",
  tryMapping: "a payload may come as the text of a JSON object; an expression must compile",
};

/** The same for parameters, of all operations that have them. */
const sharperParameters: Readonly<Record<string, string>> = {
  Cursor: "only a page gives one that counts, and then Pg must be left out",
  AsOf: "it is a time or a place in the log",
  Tag: "it is a name and a value",
};

/** Reasons for a success with input that the schemas do not allow. */
const milderThanSchemas: Readonly<Record<string, string>> = {
  createServiceAccount: "a role is taken by its name, too",
  updateServiceAccount: "a role is taken by its name, and a status by its code, too",
};

/** Statuses by which the input that the schemas do not allow is refused. */
const refused = [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, 431];

/** Creates the environment if it is missing. Rejects if Python or its registry is missing. */
async function makeEnvironment(): Promise<void> {
  const marker = join(environment, "requirements.txt");
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  mkdirSync(dirname(environment), { recursive: true });
  await run("python3", ["-m", "venv", "--clear", environment]);
  const quick = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
  await run(join(environment, "bin", "pip"), ["install", ...quick, "--requirement", requirements]);
  writeFileSync(marker, wanted);
}

/** The operations that refuse some input that their schemas allow. */
async function sharpOperations(relayUrl: string): Promise<string[]> {
  const document = (await (await fetch(`${relayUrl}/openapi.json`)).json()) as ApiDocument;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const byParameter = operations.filter(({ parameters }) => parameters.some(({ name }) => name in sharperParameters));
  return [...Object.keys(sharperThanSchemas), ...byParameter.map(({ operationId }) => operationId)];
}

/** Credentials, a session that may end, existing ids, and the operations that refuse some well-formed requests. */
interface Knowledge {
  readonly account: Account;
  readonly leaving: string;
  readonly known: Readonly<Record<string, Json>>;
  readonly sharp: readonly string[];
}

/** The configuration of schemathesis. */
function configuration({ account, leaving, known, sharp }: Knowledge): string {
  const { authorization = "" } = account.owner.headers;
  const { "x-api-key": apiKey = "" } = account.producer.headers;
  const names = new Set([...Object.keys(known), ...sharp, ...Object.keys(milderThanSchemas)]);
  const operations = [...names].flatMap((name) => [
    "[[operations]]",
    `include-operation-id = "${name}"`,
    ...(sharp.includes(name) ? ["checks.positive_data_acceptance.enabled = false"] : []),
    // It never ends: the fuzzer reads it for so long, seconds.
    ...(name === "followStream" ? ["request-timeout = 2"] : []),
    ...(name in milderThanSchemas ? ["checks.negative_data_rejection.enabled = false"] : []),
    ...Object.entries(known[name] ?? {}).map(([parameter, value]) => `parameters.${parameter} = "${String(value)}"`),
  ]);
  return [
    "warnings = false",
    "cache.enabled = false",
    // A value too long for its schema may make the request line too long, too.
    `checks.negative_data_rejection.expected-statuses = ${JSON.stringify([...refused.map(String), "5xx"])}`,
    // A rule may also refuse a well-formed request (422), and a healthy relay gives no 5xx.
    'checks.positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "409", "422"]',
    `auth.openapi.accessToken.bearer = "${authorization.slice("Bearer ".length)}"`,
    `auth.openapi.producerKey.api_key = "${apiKey}"`,
    ...operations,
    // An access token is taken where the cookie is, too: these end the session that the request shows.
    ...["logout", "endSession", "renewSession"].flatMap((name) => [
      "[[operations]]", `include-operation-id = "${name}"`, `headers.Authorization = "Bearer ${leaving}"`,
    ]),
    "",
  ].join("\n");
}

/**
 * A tenant with one of everything, and parameters for the operations on them. Deletions get things of their own:
 * schemathesis also takes ids out of answers, its own user's among them.
 */
async function furnish(relayUrl: string, url: string): Promise<{ account: Account; known: Record<string, Json> }> {
  const account = await openAccount(relayUrl);
  const { owner, producer, tenantId, password } = account;
  const make = async (path: string, fields: Json) => text(await owner.post(`/api/v1/${path}`, fields), "id");
  const { id: keptId, ingest } = await account.destination({ url });
  const [kept, changed] = [{ id: keptId }, { id: await make("destinations", { url }) }];
  const mapping = { language: "jmespath", expression: "{order: data.id}" };
  const sender = { id: await make("senders", { name: "Shop", destinationUrlId: keptId, mapping }) };
  const user = { id: await make("users", { email: "viewer@fuzz.example", password, role: 20 }) };
  const event = { id: text(await producer.post(ingest, {}), "eventId") };
  const invite = await owner.post("/api/v1/invites", { email: "new@fuzz.example", role: 0 });
  const spare = {
    destination: { id: await make("destinations", { url }) },
    sender: { id: await make("senders", { name: "Gone", destinationUrlId: keptId }) },
    user: { id: await make("users", { email: "gone@fuzz.example", password, role: 20 }) },
    invite: { id: await make("invites", { email: "nobody@fuzz.example", role: 0 }) },
    apiKey: { id: await make("api-keys", { name: "Gone" }) },
    rotatedKey: { id: await make("api-keys", { name: "Old" }) },
  };
  const tenant = { id: tenantId };
  const known = {
    getTenant: tenant, updateTenant: tenant, getWebhookSecret: tenant, regenerateWebhookSecret: tenant,
    expireWebhookSecrets: tenant,
    verifySignature: tenant, getUser: user, updateUser: user, getDestination: kept, updateDestination: changed,
    replaceSigningSecret: changed, replaceSigningKey: changed, listSigningKeys: tenant,
    regenerateDestinationToken: changed, getSender: sender, updateSender: sender, testMapping: sender, getEvent: event,
    listAttempts: event, listEventHistory: event, replayEvent: event, resendEvent: event,
    retryEvent: event, cancelEvent: event,
    register: { token: text(invite, "inviteToken") },
    deleteDestination: spare.destination, deleteSender: spare.sender, deleteUser: spare.user,
    revokeInvite: spare.invite, deleteApiKey: spare.apiKey, rotateApiKey: spare.rotatedKey,
    ingest: { tenantId, token: ingest.split("/").at(-1) },
  };
  return { account, known };
}

describe("schemathesis", () => {
  const scratch = mkdtempSync(join(tmpdir(), "relay-schemathesis-"));
  let receiver: Receiver;
  let relay: TestRelay;
  before(async function () {
    this.timeout(180_000);
    try {
      await makeEnvironment();
    } catch (error) {
      console.log(`    no schemathesis here: ${String(error).split("\n")[0]}`);
      this.skip();
    }
  });
  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    const unlimited = { RELAY_LIMIT_LOGIN_FAILURES: "off", RELAY_LIMIT_INVITE_REGISTRATION: "off" };
    relay = await startTestRelay(receiver, unlimited);
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  it("finds no answer of a running relay outside its OpenAPI document", async () => {
    const { url } = relay;
    const { account, known } = await furnish(url, `https://127.0.0.1:${receiver.port}/hook`);
    const config = join(scratch, "schemathesis.toml");
    const { owner, email, password } = account;
    const leaving = text(await owner.post("/api/v1/auth/login", { email, password }), "accessToken");
    writeFileSync(config, configuration({ account, leaving, known, sharp: await sharpOperations(url) }));
    const child = spawn(program, [
      "--config-file", config, "run", `${url}/openapi.json`, "--phases", phases,
      "--continue-on-failure", "--max-examples", String(casesPerOperation),
      // With more workers Python's parser fails now and then: its recursion check is not thread-safe.
      "--workers", "1",
    ], { cwd: scratch, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => (output += part));
    }
    const [code] = (await once(child, "close")) as [number | null];
    expect(code, output).to.equal(0);
    const [, generated] = /(\d+) generated/.exec(output) ?? [];
    expect(Number(generated), output).to.be.greaterThan(1_000);
    // Only the session for the logout has ended: all other requests used a live one.
    await owner.get("/api/v1/users");
    const left = await fetch(`${url}/api/v1/users`, { headers: { authorization: `Bearer ${leaving}` } });
    expect(left.status).to.equal(401);
  }).timeout(sized(600_000, 3_600_000));
});
