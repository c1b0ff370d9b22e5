import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { webhookSecret } from "../../src/kernel/tools/signature.ts";
import { text } from "../support/api-client.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

/** A program that reads `{secret, headers, body}` and succeeds if the library of its language verifies them. */
interface Library {
  readonly name: string;
  /** Installs the library and writes the program into a folder; returns its command. Throws where it cannot. */
  readonly install: (folder: string) => readonly [string, ...string[]];
}

const goProgram = `package main

import (
  "encoding/json"
  "net/http"
  "os"

  standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
  var given struct {
    Secret, Body string
    Headers map[string]string
  }
  if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
    panic(err)
  }
  headers := http.Header{}
  for name, value := range given.Headers {
    headers.Set(name, value)
  }
  webhook, err := standardwebhooks.NewWebhook(given.Secret)
  if err != nil {
    panic(err)
  }
  if webhook.Verify([]byte(given.Body), headers) != nil {
    os.Exit(1)
  }
}
`;

const pythonProgram = `import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
try:
    Webhook(given["secret"]).verify(given["body"], given["headers"])
except WebhookVerificationError:
    sys.exit(1)
`;

const nodeProgram = `import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
try {
  new Webhook(secret).verify(body, headers);
} catch (error) {
  process.exit(error instanceof WebhookVerificationError ? 1 : 2);
}
`;

const run = (cwd: string, command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { cwd, stdio: "ignore", env: { ...process.env, GOTOOLCHAIN: "local" } });

const libraries: readonly Library[] = [
  {
    name: "Node",
    install: (folder) => {
      run(folder, "npm", "install", "--no-audit", "--no-fund", "--prefix", folder, "standardwebhooks@1.1.1");
      writeFileSync(join(folder, "program.mjs"), nodeProgram);
      return [process.execPath, join(folder, "program.mjs")];
    },
  },
  {
    name: "Python",
    install: (folder) => {
      run(folder, "python3", "-m", "pip", "install", "--quiet", "--target", folder, "standardwebhooks==1.1.0");
      writeFileSync(join(folder, "program.py"), pythonProgram);
      return ["python3", join(folder, "program.py")];
    },
  },
  {
    name: "Go",
    install: (folder) => {
      writeFileSync(join(folder, "main.go"), goProgram);
      run(folder, "go", "mod", "init", "verify");
      run(folder, "go", "get", "github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1");
      run(folder, "go", "build", "-o", "program", ".");
      return [join(folder, "program")];
    },
  },
];

describe("the official libraries of Standard Webhooks", function () {
  this.timeout(300_000);
  let scratch: string;
  let receiver: Receiver;
  let relay: TestRelay;
  let delivered: ReceivedRequest;
  let secrets: { readonly older: string; readonly newer: string };

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), "relay-libraries-"));
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
    const account = await openAccount(relay.url);
    const { id, ingest } = await account.destination({ url: receiver.url("/hook") });
    const path = `/api/v1/tenants/${account.tenantId}/webhook-secret`;
    const replaced = await account.owner.post(path, { gracePeriodSeconds: 3_600 });
    secrets = { older: account.webhookSecret, newer: text(replaced, "webhookSecret") };
    await account.owner.post(`/api/v1/destinations/${id}/signing-key`, {});
    await account.producer.post(ingest, { to: "Zoë", amount: 19.9 });
    await receiver.waitFor(({ received }) => received === 1);
    [delivered] = receiver.requests as readonly [ReceivedRequest];
  });
  after(async () => {
    await relay.close();
    await receiver.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  for (const { name, install } of libraries) {
    it(`verify in ${name} a delivery by either of two secrets, beside the signature of a key`, function () {
      const folder = join(scratch, name);
      mkdirSync(folder);
      let command: readonly [string, ...string[]];
      try {
        command = install(folder);
      } catch {
        return this.skip();
      }
      const [program, ...args] = command;
      const verify = (secret: string, { headers, body }: Pick<ReceivedRequest, "headers" | "body"> = delivered) => {
        const input = JSON.stringify({ secret, headers, body: body.toString() });
        return spawnSync(program, args, { input, encoding: "utf8" }).status;
      };
      const kinds = String(delivered.headers["webhook-signature"]).split(" ").map((one) => one.split(",")[0]);
      expect(kinds).to.deep.equal(["v1", "v1", "v1a"]);
      for (const secret of Object.values(secrets)) {
        expect(verify(secret), "as it came").to.equal(0);
        expect(verify(secret, { ...delivered, body: Buffer.from("{}") }), "another body").to.equal(1);
      }
      expect(verify(webhookSecret(new Uint8Array(32))), "another secret").to.equal(1);
    });
  }
});
