import { expect } from "chai";
import type { Cause, Chapter, Waiting } from "../../src/features/story/story.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { openAccount, openIngest, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { relayClient } from "../support/api-client.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

/** A story as the API tells it. */
interface Told {
  readonly asOf: { readonly time: string; readonly position: string };
  readonly event: { readonly status: string };
  readonly waiting: Waiting | null;
  readonly chapters: readonly Chapter[];
}

const short = (because: readonly Cause[]) => because.map(({ code, entry }) => `${code} ${entry?.type ?? "-"}`);
const shortly = ({ chapters }: Told) => chapters.map(({ kind, because }) => [kind, ...short(because)].join(", "));

describeOnEngines("stories", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let viewer: Client;
  let deliveries: Deliveries;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = [await openAccount(api.url), await openAccount(api.url)];
    viewer = one.viewer.client;
    deliveries = new Deliveries(api.world);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const opened = async () => {
    const ingest = await openIngest(one.owner.client, one.tenantId);
    const producer = relayClient(api.url, { apiKey: ingest.apiKey });
    const target = { tenantId: one.tenantId, token: ingest.ingestToken };
    const { destinationId: id } = ingest;
    return {
      id,
      post: async () => (await producer.ingest(target, {})).eventId,
      tell: (...commands: Parameters<typeof tellCircuit>[2][]) =>
        tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, ...commands),
    };
  };
  const storyOf = async (id: string, asOf?: string) => {
    const query = asOf === undefined ? "" : `?AsOf=${encodeURIComponent(asOf)}`;
    return shaped(await viewer.get(`/api/v1/events/${id}/story${query}`), "story") as unknown as Told;
  };

  it("tell why events wait, and how many are before them", async () => {
    const { id, post, tell } = await opened();
    const events = [await post(), await post(), await post()];
    expect((await storyOf(events[2]!)).waiting).to.include({ reason: "first-attempt", ahead: 2 });
    await tell(attemptEnded(nowhere, false));
    const { waiting } = await storyOf(events[1]!);
    expect(waiting).to.include({ reason: "circuit-open", ahead: 1 });
    expect(Date.parse(waiting!.until!) - Date.parse(waiting!.since)).to.be.within(290_000, 310_000);
    expect(short(waiting!.because)).to.deep.equal(["circuit-open CircuitOpened"]);
    expect(waiting!.because[0]?.entry?.subject).to.deep.equal({ type: "circuit", id });
    await tell({ type: "Close" });
    await one.owner.client.api.updateDestination({ id }, { status: "inactive" });
    expect((await storyOf(events[0]!)).waiting).to.include({ reason: "destination-inactive", ahead: 0, until: null });
    await one.owner.client.api.updateDestination({ id }, { status: "active", serverRateLimit: 1 });
    await deliveries.start(events[0]!);
    const full = (await storyOf(events[2]!)).waiting;
    expect(full).to.include({ reason: "concurrency-limit", ahead: 1 });
    expect(full?.because.at(-1)).to.deep.include({ values: { serverRateLimit: 1, inFlight: 1 } });
    expect((await storyOf(events[0]!)).waiting).to.equal(null);
  });

  it("tell of retries, replays and the end, and of each moment before", async () => {
    const { post } = await opened();
    const id = await post();
    const seen: Told[] = [];
    const look = async () => {
      seen.push(await storyOf(id));
      engines.clock.advance(100);
    };
    await look();
    await deliveries.fail(id, 5, 0);
    await look();
    await deliveries.fail(id, 1);
    await look();
    await one.developer.client.api.replayEvent({ id });
    await look();
    await one.developer.client.api.cancelEvent({ id });
    await look();
    const told = await storyOf(id);
    expect(shortly(told)).to.deep.equal([
      "accepted", "attempt, first-attempt EventAccepted", "wait, retry-schedule RetryScheduled",
      "attempt, retry-schedule RetryScheduled", "exhausted, max-attempts DeliveryExhausted",
      "replayed, requested EventReplayed", "cancelled, requested EventCancelled",
    ]);
    expect(told.chapters[5]?.entries[0]?.actor).to.deep.equal({
      type: "user", id: one.developer.id, role: "Developer",
    });
    expect(seen.map(({ event }) => event.status)).to.deep.equal([
      "Pending", "WaitingRetry", "CriticalFailure", "Pending", "Cancelled",
    ]);
    for (const { asOf: { time, position }, event, chapters } of seen) {
      for (const asOf of [time, position]) {
        const again = await storyOf(id, asOf);
        expect(again.event).to.deep.equal(event);
        expect(again.chapters.map(({ kind }) => kind)).to.deep.equal(chapters.map(({ kind }) => kind));
        expect(again.asOf.position).to.equal(position);
        const got = await viewer.get(`/api/v1/events/${id}?AsOf=${encodeURIComponent(asOf)}`);
        const { asOf: _, ...shown } = shaped(got, "event");
        expect(shown).to.deep.equal(event);
      }
    }
  });

  it("are a text for a ticket if Markdown is asked for, as of any moment", async () => {
    const { post } = await opened();
    const id = await post();
    await deliveries.fail(id, 1);
    await one.developer.client.api.replayEvent({ id });
    const path = `/api/v1/events/${id}/story`;
    const asked = (accept: string, by = viewer, query = "") => by.call("GET", path + query, { headers: { accept } });
    const answer = await asked("text/markdown");
    expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([200, "text/markdown; charset=utf-8"]);
    const lines = answer.text.split("\n");
    expect(lines[0]).to.equal(`# Event ${id}: Queued`);
    expect(lines).to.include("- Destination: `https://receiver.example/hook`, " +
      `${String((await viewer.get(`/api/v1/events/${id}`)).json["destinationUrlId"])}`);
    const chapterLines = lines.filter((line) => line.includes("**"));
    expect(chapterLines.map((line) => line.replace(/^- \S+ | in \d+ ms/g, ""))).to.deep.equal([
      "**Accepted**, by API key `producer`",
      "**Attempt 1**, answered 500, the first attempt after acceptance",
      "**Failed**, 1 attempt failed, the most for this event",
      `**Replayed**, requested by user \`${one.developer.email}\``,
    ]);
    const { asOf, chapters } = await storyOf(id);
    expect(asOf.position).to.be.a("string");
    const failed = await asked("text/markdown", viewer, `?AsOf=${chapters[1]!.entries.at(-1)!.position}`);
    expect(failed.text).not.to.include("Replayed");
    for (const accept of ["application/json", "*/*", "text/markdown, application/json"]) {
      expect((await asked(accept)).headers.get("content-type"), accept).to.include("application/json");
    }
    expect((await asked("text/markdown", other.viewer.client)).status).to.equal(403);
  });

  it("tell of the deletion of the destination, and of settings that changed", async () => {
    const { id: destinationId, post } = await opened();
    const id = await post();
    await one.admin.client.api.updateTenant({ id: one.tenantId }, { maxTrys: 4 });
    await deliveries.fail(id, 5);
    await one.owner.client.api.deleteDestination({ id: destinationId });
    const told = await storyOf(id);
    expect(shortly(told)).to.deep.equal([
      "accepted", "setting, requested TenantDeliveryPolicyChanged", "attempt, first-attempt EventAccepted",
      "wait, retry-schedule RetryScheduled", "setting, requested DestinationDeleted",
    ]);
    expect(told.waiting).to.include({ reason: "retry-schedule" });
    engines.clock.advance(120_000);
    expect((await storyOf(id)).waiting).to.include({ reason: "destination-deleted", until: null });
  });

  it("name an opening of the circuit that thousands of facts followed, and read few of them", async () => {
    const { post, tell } = await opened();
    const id = await post();
    await tell(attemptEnded(nowhere, false), { type: "Close" }, attemptEnded(nowhere, false));
    const streams: number[] = [];
    const read = engines.store.readStream.bind(engines.store);
    const later = Array.from({ length: 40 }, () => [{ type: "Close" }, attemptEnded(nowhere, false)] as const).flat();
    await tell(...later);
    engines.store.readStream = async (...asked) => {
      const entries = await read(...asked);
      streams.push(entries.length);
      return entries;
    };
    try {
      expect(short((await storyOf(id)).waiting!.because)).to.have.length(10);
    } finally {
      Reflect.deleteProperty(engines.store, "readStream");
    }
    expect(Math.max(...streams)).to.be.at.most(64);
  });

  it("are for every role of the tenant, and nobody else", async () => {
    const { post } = await opened();
    const id = await post();
    const before = timestamp(engines.clock.now() - 3_600_000);
    const path = `/api/v1/events/${id}/story`;
    expect((await viewer.get(`${path}?AsOf=${before}`)).status).to.equal(404);
    expect((await viewer.get(`${path}?AsOf=sometime`)).status).to.equal(400);
    expect((await viewer.get(`/api/v1/events/${nowhere}/story`)).status).to.equal(404);
    expect((await other.owner.client.get(path)).status).to.equal(403);
    expect((await one.viewer.client.get(path)).status).to.equal(200);
  });

  it("end with a purge", async () => {
    const { id: destinationId, post } = await opened();
    const id = await post();
    await deliveries.succeed(id);
    const { asOf } = await storyOf(id);
    await one.owner.client.api.purgeEvents({ destinationUrlId: destinationId });
    for (const path of ["", `?AsOf=${encodeURIComponent(asOf.position)}`]) {
      expect((await viewer.get(`/api/v1/events/${id}/story${path}`)).status).to.equal(404);
    }
  });
});
