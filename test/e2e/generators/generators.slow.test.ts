import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { openAccount, startTestRelay, type TestRelay } from "../../support/relay.ts";
import { sized } from "../../support/size.ts";
import { Workspace, type Command } from "./workspace.ts";

/** A generator of clients: the commands to install it, to generate and build its client, and to run a program. */
interface Generator {
  /** Its workspace. */
  readonly folder: string;
  /** Lock files and lists of the packages to install. */
  readonly lists: readonly string[];
  readonly install: readonly Command[];
  /** Turns api.json in the workspace into the program of `run`. */
  readonly generate: readonly Command[];
  readonly run: Command;
  /** The client's result for a page with a fact of an unknown type: the types it reads, or its error. */
  readonly unknown: readonly string[];
}

const type = "EventMended";
/** Uses the installed toolchain: another version would have to be fetched. */
const go = (...args: string[]): Command => ["env", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "go", ...args];
const openapiGenerator = "openapi-generator-cli.jar";

/** Those in Go and Java take minutes on a machine that has not built them yet: they run in `make test-full`. */
const generators: Readonly<Record<string, Generator>> = {
  "openapi-typescript": {
    folder: "openapi-typescript",
    lists: ["package-lock.json"],
    install: [["npm", "ci", "--no-audit", "--no-fund"]],
    generate: [
      ["cp", "program.ts.txt", "program.ts"],
      ["npx", "openapi-typescript", "api.json", "--output", "api.d.ts"],
      ["npx", "tsc", "-p", "."],
    ],
    run: ["node", "built/program.js"],
    unknown: ["EventAccepted", type],
  },
  "openapi-python-client": {
    folder: "openapi-python-client",
    lists: ["requirements.txt"],
    install: [
      ["python3", "-m", "venv", "environment"],
      [
        "environment/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
        "--requirement", "requirements.txt",
      ],
    ],
    generate: [[
      "environment/bin/openapi-python-client", "generate", "--path", "api.json",
      "--output-path", "webhook_relay_client", "--overwrite", "--meta", "none", "--config", "config.yml",
      "--fail-on-warning",
    ]],
    run: ["environment/bin/python", "program.py"],
    unknown: ["EventAccepted", type],
  },
  "oapi-codegen": {
    folder: "go",
    lists: ["go.mod", "go.sum"],
    install: [go("build", "-o", "bin/", "tool")],
    generate: [
      ["mkdir", "-p", "oapi-codegen/client"],
      [
        "bin/oapi-codegen", "-generate", "types,client", "-package", "client", "-o", "oapi-codegen/client/client.go",
        "api.json",
      ],
      go("build", "-o", "bin/on-oapi-codegen", "./oapi-codegen"),
    ],
    run: ["bin/on-oapi-codegen"],
    unknown: ["EventAccepted", type],
  },
  ogen: {
    folder: "go",
    lists: ["go.mod", "go.sum"],
    install: [go("build", "-o", "bin/", "tool")],
    generate: [
      ["bin/ogen", "-config", "ogen.yml", "-target", "ogen/client", "-package", "client", "-clean", "api.json"],
      go("build", "-o", "bin/on-ogen", "./ogen"),
    ],
    run: ["bin/on-ogen"],
    unknown: [`unknown type ${type}`],
  },
  "openapi-generator typescript-fetch": {
    folder: "typescript-fetch",
    lists: ["pom.xml", "package-lock.json"],
    install: [
      ["npm", "ci", "--no-audit", "--no-fund"],
      [
        "mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies", "-DoutputDirectory=.",
        "-Dmdep.stripVersion=true",
      ],
    ],
    generate: [
      ["cp", "program.ts.txt", "program.ts"],
      ["rm", "-rf", "client"],
      ["java", "-jar", openapiGenerator, "generate", "-g", "typescript-fetch", "-i", "api.json", "-o", "client"],
      ["npx", "tsc", "-p", "."],
    ],
    run: ["node", "built/program.js"],
    unknown: ["EventAccepted", type],
  },
};

/** A history of the relay as in a later version: one more field in its first fact, and a fact of a new type. */
function startLaterRelay(relay: TestRelay): Server {
  const answer = async ({ url = "", headers }: IncomingMessage, response: ServerResponse) => {
    const asked = await fetch(relay.url + url, { headers: { authorization: headers.authorization ?? "" } });
    const { items: [first] } = (await asked.json()) as { readonly items: readonly [{ readonly data: object }] };
    const items = [{ ...first, data: { ...first.data, more: 1 }, more: 1 }, { ...first, type, data: { how: [true] } }];
    response.setHeader("X-Request-Id", "later").setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ total: items.length, items, nextCursor: null }));
  };
  return createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
}

describe("clients generated from the OpenAPI document", () => {
  const entries = Object.entries(generators);
  let receiver: Receiver;
  let relay: TestRelay;
  let later: Server;
  before(async () => {
    receiver = await startReceiver({ record: false });
    relay = await startTestRelay(receiver);
    later = startLaterRelay(relay);
    await once(later, "listening");
  });
  after(async () => {
    later.close();
    await relay.close();
    await receiver.close();
  });

  for (const [name, { folder, lists, install, generate, run, unknown }] of entries.slice(0, sized(2, entries.length))) {
    it(`compile, post an event and read its history: ${name}`, async function () {
      const workspace = new Workspace(folder);
      try {
        await workspace.install(lists, install);
      } catch (error) {
        console.log(`    no ${name} here: ${String(error).split("\n")[0]}`);
        this.skip();
      }
      writeFileSync(join(workspace.folder, "api.json"), await (await fetch(`${relay.url}/openapi.json`)).text());
      for (const command of generate) await workspace.run(command);

      const account = await openAccount(relay.url);
      const { owner, producer, tenantId } = account;
      const { ingest } = await account.destination({ url: `https://127.0.0.1:${receiver.port}/hook` });
      const printed = await workspace.run(run, {
        RELAY_URL: relay.url,
        LATER_URL: `http://127.0.0.1:${(later.address() as AddressInfo).port}`,
        ACCESS_TOKEN: (owner.headers["authorization"] ?? "").slice("Bearer ".length),
        API_KEY: producer.headers["x-api-key"] ?? "",
        TENANT_ID: tenantId,
        INGEST_TOKEN: ingest.split("/").at(-1) ?? "",
      });
      const said = JSON.parse(printed) as { status: string; payload: string; later: string[] };
      expect([said.status, JSON.parse(said.payload)]).to.deep.equal(["Pending", { n: 1 }]);
      expect(said.later).to.have.length(unknown.length);
      for (const [at, expected] of unknown.entries()) expect(said.later[at]).to.match(new RegExp(expected));
    }).timeout(240_000);
  }
});
