import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Admission, Ingest } from "../../../src/application/ingest.ts";
import { refuse } from "../../../src/domain/refusal.ts";
import type { Api } from "../../../src/http/api.ts";
import { createFailures } from "../../../src/http/failures.ts";
import { createIngestHandler, ingestPath } from "../../../src/http/ingest.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { SystemIds } from "../../../src/adapters/system/system-ids.ts";
import { quiet, uncounted } from "../../support/api.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const tenantId = "0193a1b2-0000-7000-8000-000000000001";

describe("refused ingest", () => {
  it("is counted by status, and told in the log where the key was good: the first, then how many", async () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const counted: number[] = [];
    const ingest = {
      admit: async (_tenant: string, _token: string, key?: string) =>
        (key ? { key: { tenantId } } as Admission : refuse("unauthenticated", "X-Api-Key: missing")),
      accept: async () => refuse("rejected", "the destination is inactive"),
    } as unknown as Ingest;
    const api = {
      services: { ingest }, clock, ids: new SystemIds(), maxBodyBytes: 1_000,
      logger: { ...quiet, info: (fields: object, message: string) => lines.push({ ...fields, message }) },
      metrics: { ...uncounted, ingest: (status: number) => counted.push(status) },
    } as unknown as Api;
    const handle = createIngestHandler(api, createFailures(api));
    const server = createHttpServer((request, response) => {
      void handle(request, response, ingestPath(request.url ?? "")!);
    }, api.ids).listen(0, "127.0.0.1");
    await once(server, "listening");
    const send = (headers: Record<string, string>) => {
      const { port } = server.address() as AddressInfo;
      return fetch(`http://127.0.0.1:${port}/api/v1/ingest/${tenantId}/dst_x`, {
        method: "POST", headers: { "content-type": "application/json", "x-request-id": "mine", ...headers }, body: "{}",
      });
    };
    await send({});
    expect(lines).to.deep.equal([]);
    for (let n = 0; n < 3; n += 1) await send({ "x-api-key": "good" });
    clock.advance(10_000);
    expect(lines).to.deep.equal([
      {
        tenantId, status: 422, reason: "the destination is inactive", requestId: "mine",
        message: "an ingest request was refused",
      },
      { of: `tenant ${tenantId}: 422`, requests: 2, message: "more ingest requests were refused" },
    ]);
    expect(counted).to.deep.equal([401, 422, 422, 422]);
    server.close();
    server.closeAllConnections();
  });
});
