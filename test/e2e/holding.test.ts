import { expect } from "chai";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

describe("a destination that holds posts while it is suspended", function () {
  this.timeout(60_000);
  let receiver: Receiver;
  let relay: RelayProcess;

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it("refuses no post while its receiver is dead, and delivers all once it is back", async () => {
    receiver = await startReceiver();
    relay = await RelayProcess.start(receiver, { env: { RELAY_RETRY_SCHEDULE: "50ms" } });
    const account = await openAccount(relay.url, { maxTrys: 5, circuitBreakerTimer: 2 });
    const get = (path: string) => relay.at(account.owner).get(path);
    let isDead = true;
    receiver.on("/hook", () => ({ status: isDead ? 500 : 200 }));
    const { id, ingest } = await account.destination({ url: receiver.url("/hook"), whenSuspended: "hold" });
    const post = async (body: Json) => text(await relay.at(account.producer).post(ingest, body), "eventId");
    // An event that fails more often than maxTrys is given up: each fails once at most before the circuit opens.
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await post({ n }));
    await eventually(() => get(`/api/v1/destinations/${id}`), ({ status }) => status === "Suspended");
    for (let n = 0; n < 40; n += 1) ids.push(await post({ late: n }));
    const { health } = (await get(`/api/v1/destinations/${id}`)) as { readonly health: { readonly waiting: number } };
    expect(health).to.deep.nested.include({ "circuit.position": "open" });
    expect(health.waiting).to.be.at.least(40);
    isDead = false;
    for (const eventId of ids) await eventReaches(relay.at(account.owner), eventId, "Succeeded", 30_000);
    const circuit = (await get(`/api/v1/destinations/${id}/circuit/history?Qt=100&TpOrd=Asc`))["items"] as Json[];
    const probes = circuit.filter(({ type }) => type === "CircuitProbeClaimed");
    expect(ids).to.include((probes.at(-1)!["data"] as Json)["eventId"]);
  });
});
