import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { openAccount, openIngest } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";

const maxBodyBytes = 4_096;
const nowhere = "00000000-0000-7000-8000-000000000000";

describe("a fast-path request to ingest", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let theirs: Awaited<ReturnType<typeof openIngest>>;
  let byNode: number;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines, { maxBodyBytes });
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    mine = await openIngest(one.owner.client, one.tenantId);
    theirs = await openIngest(other.owner.client, other.tenantId);
    api.server.on("request", () => (byNode += 1));
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  beforeEach(() => (byNode = 0));
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Sends one request over its own connection; returns the answer without the values that differ each time. */
  const answerTo = async (path: string, headers: readonly string[], body: string, last: boolean): Promise<string> => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    const lines = [`POST ${path} HTTP/1.1`, "Host: relay", ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
    socket.write(`${[...lines, ...(last ? ["Connection: close"] : [])].join("\r\n")}\r\n\r\n${body}`);
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, length] = /\r\nContent-Length: (\d+)/.exec(text) ?? [];
      const begin = text.indexOf("\r\n\r\n");
      if (!last && begin >= 0 && Buffer.byteLength(text.slice(begin + 4)) >= Number(length)) socket.end();
    });
    await once(socket, "close");
    return text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "(an id)")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "(a time)")
      .replace(/\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/, "\r\nDate: (a date)\r\n")
      .replace(/\r\nConnection: (?:close|keep-alive\r\nKeep-Alive: timeout=65)\r\n/, "\r\n(the connection)\r\n");
  };

  const json = "Content-Type: application/json";
  const key = () => `X-Api-Key: ${mine.apiKey}`;
  const idempotency = "X-Idempotency-Key: once";
  const at = (tenantId: string, token: string) => `/api/v1/ingest/${tenantId}/${token}`;
  const requests: Readonly<Record<string, readonly [number, () => readonly [string, readonly string[], string]]>> = {
    "that is good": [202, () => [mine.path, [json, key()], '{"a":"é"}']],
    "that has an id": [202, () => [mine.path, [json, key(), "X-Request-Id: mine"], "{}"]],
    "of a named charset": [202, () => [mine.path, [`${json}; charset=UTF-8`, key()], "{}"]],
    "that was made before": [200, () => [mine.path, [json, key(), idempotency], '{"a":"é"}']],
    "without a key": [401, () => [mine.path, [json], "{}"]],
    "of another's key": [403, () => [mine.path, [json, `X-Api-Key: ${theirs.apiKey}`], "{}"]],
    "to an unknown tenant": [404, () => [at(nowhere, mine.ingestToken), [json, key()], "{}"]],
    "to an unknown token": [404, () => [at(mine.path.split("/")[4]!, "dst_none"), [json, key()], "{}"]],
    "with too long a key": [400, () => [mine.path, [json, key(), `${idempotency}${"e".repeat(255)}`], "{}"]],
    "that is no JSON": [400, () => [mine.path, [json, key()], "{"]],
    "without a body": [400, () => [mine.path, [json, key()], ""]],
    "of another type": [415, () => [mine.path, ["Content-Type: text/plain", key()], "{}"]],
    "in another encoding": [415, () => [mine.path, [json, key(), "Content-Encoding: gzip"], "{}"]],
  };
  for (const [what, [status, parts]] of Object.entries(requests)) {
    it(`${what} is answered as Node's HTTP server answers it, ${status}`, async () => {
      // The first answer to a new event may differ.
      if (status === 200) await answerTo(...parts(), true);
      byNode = 0;
      const plain = await answerTo(...parts(), false);
      expect(byNode).to.equal(0);
      expect(plain).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(plain).to.equal(await answerTo(...parts(), true));
      expect(byNode).to.equal(1);
    });
  }

  it("is refused by Node if its target has a forbidden character or a dot segment", async () => {
    const targets: [string, number][] = [
      ["?a=#", 400], ["#", 400], ["\\", 400], ["?a=\"", 400], ["?a={}", 400], ["/..", 404], ["/%2E%2e/x", 404],
    ];
    for (const [tail, status] of targets) {
      byNode = 0;
      const answer = await answerTo(mine.path + tail, [json, key()], "{}", false);
      expect([Number(answer.split(" ")[1]), byNode], tail).to.deep.equal([status, 1]);
    }
    for (const path of [at("..", mine.ingestToken), at(mine.path.split("/")[4]!, "%2e")]) {
      byNode = 0;
      expect(await answerTo(path, [json, key()], "{}", false)).to.match(/^HTTP\/1\.1 404 [^]*\r\n\r\nno such path$/);
      expect(byNode).to.equal(1);
    }
  });

  it("has its traceparent kept if valid, and only with the acceptance, by either HTTP parser", async () => {
    const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const other = `01-${"a".repeat(32)}-${"b".repeat(16)}-00`;
    const table: readonly [headers: readonly string[], kept: string | undefined][] = [
      [[`traceparent: ${trace}`], trace],
      [[`TraceParent: ${other}-more`], `${other}-more`],
      [[], undefined],
      [["traceparent: 00-none"], undefined],
      [[`traceparent: ${trace}`, `traceparent: ${trace}`], undefined],
      [[`traceparent: ${other}-more`, `Traceparent: ${other}`], undefined],
      [["traceparent: "], undefined],
    ];
    for (const [at, [headers, kept]] of table.entries()) {
      for (const last of [false, true]) {
        const requestId = `traced-${at}-${String(last)}`;
        const answer = await answerTo(mine.path, [json, key(), `X-Request-Id: ${requestId}`, ...headers], "{}", last);
        expect(answer).to.match(/^HTTP\/1\.1 202 /);
        const { entries } = await engines.store.readLog("", 10_000);
        const own = entries.flatMap((entry) =>
          entry.unreadable === undefined && entry.metadata.correlationId === requestId ? [entry] : []);
        expect(own.map(({ type, metadata }) => [type, metadata.traceparent]), headers.join()).to.deep.equal(
          own.map(({ type }) => [type, type === "EventAccepted" ? kept : undefined]),
        );
        expect(own[0]?.type).to.equal("EventAccepted");
      }
    }
  });

  it("gets 413 from Node if it is too large for an event", async () => {
    const answer = await answerTo(mine.path, [json, key()], `{"a":"${"a".repeat(maxBodyBytes)}"}`, false);
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
    expect(byNode).to.equal(1);
  });
});
