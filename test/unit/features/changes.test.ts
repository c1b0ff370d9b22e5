import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { changesOfFacts, mostRead, type ShownFact } from "../../../src/features/changes.ts";
import { shownData } from "../../../src/features/facts.ts";
import type { DomainEvent } from "../../../src/kernel/domain/domain-event.ts";
import { noStream } from "../../../src/kernel/ports/event-store.ts";
import { examplesOf } from "../../support/fact-examples.ts";
import { InMemoryEventStore } from "../../support/in-memory-event-store.ts";
import { metadata } from "../../support/recorded.ts";

const stream = "destination-d1";
const [userId, otherId] = [randomUUID(), randomUUID()];

/** The newest example of a fact, with other values. */
function fact(type: string, values: object = {}) {
  return { type, data: { ...examplesOf(type).at(-1)!.data, ...values } };
}

const registered: DomainEvent = {
  type: "DestinationRegistered",
  data: { ...examplesOf("DestinationRegistered")[0].data, url: "https://one.example/", serverRateLimit: 5, auth: null },
};
const urlChanged = (url: string) => fact("DestinationUrlChanged", { url });
const limits = (count: number) =>
  Array.from({ length: count }, (_, at) => fact("DestinationRateLimitChanged", { serverRateLimit: at + 10 }));

describe("the changes of facts", () => {
  let store: InMemoryEventStore;
  let shown: ShownFact[];
  let reads: number;

  beforeEach(() => {
    store = new InMemoryEventStore();
    shown = [];
    reads = 0;
    store.beforeStreamRead = () => (reads += 1);
  });

  async function append(...facts: readonly DomainEvent[]): Promise<void> {
    const entries = facts.map((event) => ({ id: randomUUID(), event, metadata }));
    await store.append(stream, shown.at(-1)?.revision ?? noStream, entries);
    for (const one of facts) shown.push({ type: one.type, data: shownData(one), stream, revision: shown.length });
  }

  const changes = (facts: readonly ShownFact[] = shown) => changesOfFacts(store, "t1", facts);

  it("go from the value before each fact to that after it", async () => {
    await append(
      registered, urlChanged("https://two.example/"), fact("DestinationDeactivated"),
      urlChanged("https://three.example/"), fact("DestinationActivated"),
    );
    expect(await changes()).to.deep.equal([
      [
        { field: "status", from: null, to: "Active" }, { field: "url", from: null, to: "https://one.example/" },
        { field: "serverRateLimit", from: null, to: 5 },
      ],
      [{ field: "url", from: "https://one.example/", to: "https://two.example/" }],
      [{ field: "status", from: "Active", to: "Inactive" }],
      [{ field: "url", from: "https://two.example/", to: "https://three.example/" }],
      [{ field: "status", from: "Inactive", to: "Active" }],
    ]);
  });

  it("mask credentials and tokens, which count as changed whenever they are set", async () => {
    const configured = fact("DestinationAuthConfigured");
    const { authType } = shownData(configured) as { authType: string };
    await append(
      registered, configured, configured, fact("DestinationAuthRemoved"), fact("IngestTokenRegenerated"),
    );
    expect((await changes()).slice(1)).to.deep.equal([
      [{ field: "authType", from: null, to: authType }, { field: "auth", from: null, to: "***" }],
      [{ field: "auth", from: "***", to: "***" }],
      [{ field: "authType", from: authType, to: null }, { field: "auth", from: "***", to: null }],
      [{ field: "ingestToken", from: "***", to: "***" }],
    ]);
  });

  it("mask the values of headers, which count as changed whenever they are set", async () => {
    const configured = fact("DestinationHeadersConfigured", { headers: { "X-One": "s1.AAAA" } });
    await append(registered, configured, configured, fact("DestinationHeadersConfigured", { headers: {} }));
    const [before, set] = [{}, { "X-One": "***" }];
    expect((await changes()).slice(1)).to.deep.equal([
      [{ field: "headers", from: null, to: set }], [{ field: "headers", from: set, to: set }],
      [{ field: "headers", from: set, to: before }],
    ]);
  });

  it("list of several given settings only those that changed", async () => {
    const policy = { tenantId: randomUUID(), circuitBreakerTimer: 300 };
    await append(
      fact("TenantCreated", { ...policy, maxTrys: 10 }), fact("TenantDeliveryPolicyChanged", { ...policy, maxTrys: 5 }),
    );
    expect((await changes()).at(-1)).to.deep.equal([{ field: "maxTrys", from: 10, to: 5 }]);
  });

  it("name no setting that was unset and stays so, where the first fact lacks it", async () => {
    const none = { name: null, description: null, ownerId: null, metadata: {} };
    await append(
      registered, fact("DestinationDescribed", { ...none, name: "Billing" }),
      fact("DestinationDescribed", { ...none, metadata: { team: "billing" } }),
    );
    expect((await changes()).slice(1)).to.deep.equal([
      [{ field: "name", from: null, to: "Billing" }],
      [{ field: "name", from: "Billing", to: null }, { field: "metadata", from: {}, to: { team: "billing" } }],
    ]);
  });

  it("are those of one user, though a tenant's users share its stream", async () => {
    await append(
      fact("UserCreated", { userId, role: "Owner" }), fact("UserCreated", { userId: otherId, role: "Viewer" }),
      fact("UserRoleChanged", { userId: otherId, from: "Viewer", role: "Admin" }),
      fact("UserStatusChanged", { userId, from: "Active", status: "Inactive" }),
      fact("UserDeleted", { userId: otherId }),
    );
    expect((await changes()).slice(2)).to.deep.equal([
      [{ field: "role", from: "Viewer", to: "Admin" }],
      [{ field: "status", from: "Active", to: "Inactive" }],
      [{ field: "status", from: "Active", to: "Deleted" }],
    ]);
  });

  it("are undefined for facts that change no setting, for which nothing is read", async () => {
    await append(fact("EventCancelled"));
    expect(await changes()).to.deep.equal([undefined]);
    expect(reads).to.equal(0);
  });

  it("read a stream once for all facts of a page, and no further back than needed", async () => {
    await append(registered, ...limits(300));
    const newest = await changes(shown.slice(-20));
    expect(newest[0]).to.deep.equal([{ field: "serverRateLimit", from: 289, to: 290 }]);
    expect(reads).to.equal(1);
  });

  it("leave a value out that lies too far back, or behind an entry that cannot be read", async () => {
    await append(registered, ...limits(mostRead), urlChanged("https://two.example/"));
    const url = [{ field: "url", to: "https://two.example/" }];
    expect(await changes(shown.slice(-1))).to.deep.equal([url]);
    await store.appendNewer(stream);
    const revision = shown.length + 1;
    const moved = { ...shown.at(-1)!, revision };
    const event = urlChanged("https://two.example/");
    await store.append(stream, revision - 1, [{ id: randomUUID(), event, metadata }]);
    expect(await changes([moved])).to.deep.equal([url]);
  });
});
