import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { createHealthApp } from "../../../../src/http/health/operations.ts";
import { ReadModelsUnavailable } from "../../../../src/kernel/ports/read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("a process without the API", () => {
  let ready: () => string | null;
  let server: Server;
  let ask: (path: string, method?: string) => Promise<readonly [status: number, text: string]>;

  beforeEach(async () => {
    server = createServer(createHealthApp({
      health: { ready: () => ready(), metrics: async () => "relay_up 1" },
      clock: new ManualClock(),
      ids: new SystemIds(),
      logger: quiet,
      metrics: uncounted,
    })).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    ask = async (path, method = "GET") => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      return [response.status, await response.text()];
    };
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it("answers probes, and nothing else", async () => {
    ready = () => null;
    expect(await ask("/healthz?any")).to.deep.equal([200, "ok"]);
    expect(await ask("/readyz")).to.deep.equal([200, "ready"]);
    expect(await ask("/metrics")).to.deep.equal([200, "relay_up 1"]);
    expect(await ask("/readyz", "HEAD")).to.deep.equal([200, ""]);
    expect(await ask("/readyz", "POST")).to.deep.equal([404, "this process serves no API"]);
    expect(await ask("/api/v1/events")).to.deep.equal([404, "this process serves no API"]);
  });

  it("answers a probe that fails in the same way as the API", async () => {
    ready = () => "the log is away";
    expect(await ask("/readyz")).to.deep.equal([503, "the log is away"]);
    ready = () => { throw new ReadModelsUnavailable("no answer"); };
    expect(await ask("/readyz")).to.deep.equal([503, "the service cannot reach its storage; try again"]);
    ready = () => { throw new Error("a defect"); };
    expect(await ask("/readyz")).to.deep.equal([500, "something went wrong here; it has been noted"]);
  });
});
