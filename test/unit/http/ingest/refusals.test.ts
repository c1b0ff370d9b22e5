import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import type { Ingest } from "../../../../src/features/ingest/ingest.ts";
import type { Admission, ProducerAuthentication } from "../../../../src/features/ingest/producer-authentication.ts";
import { createFailures } from "../../../../src/http/answers/errors.ts";
import type { Api } from "../../../../src/http/api.ts";
import { createAnswerIngest, createIngestHandler } from "../../../../src/http/ingest/answer.ts";
import { jsonObjectReader } from "../../../../src/http/requests/json-body.ts";
import { createHttpServer } from "../../../../src/http/server.ts";
import { refuse } from "../../../../src/kernel/domain/refusal.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ampleMemory } from "../../../support/shared-memory.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const tenantId = "0193a1b2-0000-7000-8000-000000000001";

/** The admission for a token; a `sndr_` token belongs to a sender of the same destination. */
function admissionOf(token: string): Admission {
  const [prefix, name] = token.split("_");
  const sender = prefix === "sndr" ? { id: `sender of ${name}` } : null;
  return { key: { id: "the key", tenantId }, destination: { id: name }, sender } as unknown as Admission;
}

describe("refused ingest", () => {
  const lines: object[] = [];
  const counted: number[] = [];
  const seconds: number[] = [];
  let accept: () => Promise<never>;
  let clock: ManualClock;
  let server: Server;

  beforeEach(async () => {
    clock = new ManualClock();
    lines.length = counted.length = seconds.length = 0;
    accept = async () => refuse("rejected", "the destination is inactive");
    const producers = {
      admit: async (_tenant: string, token: string, key?: string) =>
        (key ? admissionOf(token) : refuse("unauthenticated", "X-Api-Key: is required")),
    } as unknown as ProducerAuthentication;
    const ingest = { accept: () => accept() } as unknown as Ingest;
    const api = {
      services: { producers, ingest, refused: { count: () => undefined } }, clock, ids: new SystemIds(),
      maxBodyBytes: 1_000, memory: ampleMemory(),
      logger: { ...quiet, info: (fields: object, message: string) => lines.push({ ...fields, message }) },
      metrics: {
        ...uncounted,
        ingest: (status: number, took: number) => {
          counted.push(status);
          seconds.push(took);
        },
      },
    } as unknown as Api;
    const fail = createFailures(api);
    const app = new Koa();
    app.use(async (context, next) => {
      context.state = { requestId: context.get("x-request-id") };
      await next();
    });
    app.use(createIngestHandler(api, createAnswerIngest(api, fail), jsonObjectReader(api.maxBodyBytes)));
    const listener = app.callback();
    server = createHttpServer((request, response) => void listener(request, response), api).listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  async function send(token: string, headers: Record<string, string> = { "x-api-key": "good" }, body = "{}") {
    const { port } = server.address() as AddressInfo;
    const own = { "content-type": "application/json", "x-request-id": "mine" };
    const url = `http://127.0.0.1:${port}/api/v1/ingest/${tenantId}/${token}`;
    await fetch(url, { method: "POST", headers: { ...own, ...headers }, body });
  }

  it("is counted by status, and logged for each target and status if the key was valid", async () => {
    await send("dst_a", {});
    expect(lines).to.deep.equal([]);
    for (let n = 0; n < 3; n += 1) await send("dst_a");
    await send("dst_b");
    await send("sndr_a");
    await send("dst_a", { "x-api-key": "good", "x-idempotency-key": "" });
    const told = { tenantId, apiKeyId: "the key", requestId: "mine", message: "an ingest request was refused" };
    const inactive = { ...told, status: 422, reason: "the destination is inactive" };
    const empty = "X-Idempotency-Key: must not be empty";
    expect(lines.splice(0)).to.deep.equal([
      { ...inactive, destinationId: "a", senderId: null },
      { ...inactive, destinationId: "b", senderId: null },
      { ...inactive, destinationId: "a", senderId: "sender of a" },
      { ...told, destinationId: "a", senderId: null, status: 400, reason: empty },
    ]);
    clock.advance(10_000);
    expect(lines).to.deep.equal([{
      tenantId, destinationId: "a", senderId: null, status: 422, requests: 2,
      message: "more ingest requests were refused",
    }]);
    expect(counted).to.deep.equal([401, 422, 422, 422, 422, 422, 400]);
  });

  it("is not logged where the relay was overloaded; its duration is measured as well", async () => {
    accept = async () => {
      clock.advance(250);
      return refuse("unavailable", "too many wait");
    };
    await send("dst_a");
    expect(lines).to.deep.equal([]);
    expect([counted, seconds]).to.deep.equal([[503], [0.25]]);
  });

  it("is logged in one line for all targets beyond the first hundred", async () => {
    for (let n = 0; n < 103; n += 1) await send(`dst_${n}`);
    clock.advance(10_000);
    expect(lines.slice(100)).to.deep.equal([
      { ...lines[100], destinationId: "100" },
      { targets: "many", requests: 2, message: "more ingest requests were refused" },
    ]);
  });
});
