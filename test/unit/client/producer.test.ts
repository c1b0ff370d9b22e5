import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { Producer, RelayError, type ProducerOptions } from "../../../packages/client/src/index.ts";
import { pauseFor } from "../../../packages/client/src/retries.ts";

const accepted = { eventId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e01", status: "Pending", acceptedAt: "2026-01-01" };
type Respond = (...given: Parameters<RequestListener>) => void;

const refuses = (status: number, headers: Record<string, string> = {}): Respond => (_request, response) =>
  void response.writeHead(status, { "content-type": "text/plain", ...headers }).end("not now");
const accepts: Respond = (_request, response) =>
  void response.writeHead(202, { "content-type": "application/json" }).end(JSON.stringify(accepted));
const breaksOff: Respond = (request) => void request.socket.destroy();
const neverAnswers: Respond = () => undefined;

describe("a producer", () => {
  let server: Server;
  let url: string;
  let answers: Respond[];
  let requests: { readonly request: IncomingMessage; readonly body: string }[];
  let pauses: number[];

  before(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        requests.push({ request, body });
        (answers.shift() ?? accepts)(request, response);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    [answers, requests, pauses] = [[], [], []];
  });

  const producer = (options: Partial<ProducerOptions> = {}) => new Producer({
    url, apiKey: "rk_key", tenantId: "a-tenant", ingestToken: "dst_token",
    pause: async (ms) => void pauses.push(ms),
    ...options,
  });
  const failureOf = (posted: Promise<unknown>): Promise<unknown> =>
    posted.then(() => expect.fail("it succeeds"), (error: unknown) => error);
  const keysSent = () => requests.map(({ request }) => request.headers["x-idempotency-key"]);

  it("posts an event once where it is accepted, with its API key and idempotency key", async () => {
    expect(await producer().post({ type: "order.paid" }, { idempotencyKey: "order-1" })).to.deep.equal(accepted);
    const [{ request, body } = expect.fail("nothing came")] = requests;
    expect(request.url).to.equal("/api/v1/ingest/a-tenant/dst_token");
    expect(request.headers).to.include({
      "x-api-key": "rk_key", "x-idempotency-key": "order-1", "content-type": "application/json",
    });
    expect(body).to.equal('{"type":"order.paid"}');
  });

  it("sends the event's type, owner and tags, if given", async () => {
    await producer().post({}, { eventType: "order.paid", ownerId: "customer-42", tags: { order: "7", region: "eu" } });
    await producer().post({}, { tags: {} });
    const [first, second] = requests.map(({ request }) => request.headers);
    expect(first).to.include({
      "x-event-type": "order.paid", "x-owner-id": "customer-42", "x-tags": "order=7,region=eu",
    });
    expect(second).to.not.have.any.keys("x-event-type", "x-owner-id", "x-tags");
  });

  it("sends a text or bytes unchanged, with their digits and spaces", async () => {
    const exact = '{ "amount": 1.0, "n": 12345678901234567890 }';
    await producer().post(exact);
    await producer().post(new TextEncoder().encode(exact));
    expect(requests.map(({ body }) => body)).to.deep.equal([exact, exact]);
  });

  it("generates an idempotency key for each event, and reuses it in retries", async () => {
    answers = [refuses(503), accepts, accepts];
    await producer().post({});
    await producer().post({});
    const [first, again, second] = keysSent();
    expect(first).to.have.length(36);
    expect([again === first, second === first]).to.deep.equal([true, false]);
  });

  for (const [what, answer] of [
    ...[408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530].map((status) =>
      [String(status), refuses(status)] as const),
    ["a connection that breaks off", breaksOff],
  ] as const) {
    it(`tries again after ${what}, at growing intervals`, async () => {
      answers = [answer, answer, answer];
      expect(await producer().post({}, { idempotencyKey: "order-1" })).to.deep.equal(accepted);
      expect(keysSent()).to.deep.equal(Array(4).fill("order-1"));
      expect(pauses).to.have.length(3);
      pauses.forEach((ms, index) => expect(ms).to.be.within(250 * 2 ** index, 500 * 2 ** index));
    });
  }

  it("tries again where an attempt takes too long", async () => {
    answers = [neverAnswers];
    // Attempts after the first may take too long on a busy machine.
    expect(await producer({ timeout: 0.1, attempts: 100 }).post({})).to.deep.equal(accepted);
    expect(pauses).not.to.be.empty;
  });

  it("pauses as long as the relay asks", async () => {
    answers = [refuses(429, { "retry-after": "7" }), refuses(503, { "retry-after": "0" })];
    await producer().post({});
    expect(pauses).to.deep.equal([7_000, 0]);
  });

  it("rejects at once, with a TypeError, if the event cannot be sent", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["itself"] = cyclic;
    const failures = [
      producer().post(cyclic), producer().post({}, { idempotencyKey: "a\nb" }), producer({ ingestToken: "" }).post({}),
    ];
    for (const failed of failures) expect(await failureOf(failed)).to.be.instanceOf(TypeError);
    expect([requests, pauses]).to.deep.equal([[], []]);
  });

  it("gives up where the relay asks for a longer pause than the longest allowed", async () => {
    answers = [refuses(503, { "retry-after": "61" })];
    expect(await failureOf(producer().post({}))).to.be.instanceOf(RelayError)
      .with.nested.property("details.retryAfter", 61);
    expect(pauses).to.deep.equal([]);
  });

  it("gives up after the set number of attempts, with the last one's error", async () => {
    answers = [refuses(503), breaksOff, refuses(503)];
    expect(await failureOf(producer({ attempts: 3 }).post({}))).to.include({ status: 503, code: "unavailable" });
    answers = [refuses(503), breaksOff];
    expect(await failureOf(producer({ attempts: 2 }).post({}))).to.include({ status: 0, code: "unreachable" });
    expect(requests).to.have.length(5);
  });

  for (const status of [400, 401, 403, 404, 405, 409, 413, 415, 422, 431]) {
    it(`does not retry after ${status}`, async () => {
      answers = [refuses(status)];
      expect(await failureOf(producer().post({}))).to.be.instanceOf(RelayError).with.property("status", status);
      expect(requests).to.have.length(1);
    });
  }

  it("is aborted by its signal during an attempt or a pause, with the signal's reason", async () => {
    const reason = new Error("no longer wanted");
    for (const answer of [neverAnswers, refuses(503, { "retry-after": "60" })]) {
      const stop = new AbortController();
      answers = [
        (request, response) => {
          answer(request, response);
          setImmediate(() => stop.abort(reason));
        },
      ];
      const patient = producer({ pause: pauseFor, timeout: 3_600 });
      expect(await failureOf(patient.post({}, { signal: stop.signal }))).to.equal(reason);
    }
    expect(requests).to.have.length(2);
  });

  it("does not retry when its signal times out", async () => {
    const reason = new DOMException("it is over", "TimeoutError");
    const stop = new AbortController();
    answers = [() => stop.abort(reason)];
    expect(await failureOf(producer().post({}, { signal: stop.signal }))).to.equal(reason);
    expect(pauses).to.deep.equal([]);
  });

  it("waits by the platform's timer by default", async () => {
    answers = [refuses(503, { "retry-after": "0" })];
    const patient = new Producer({ url, apiKey: "rk_key", tenantId: "a-tenant", ingestToken: "dst_token" });
    expect(await patient.post({})).to.deep.equal(accepted);
  });
});
