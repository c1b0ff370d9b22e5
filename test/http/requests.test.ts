import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";

const maxBodyBytes = 4_096;
const nested = (depth: number) => `{"name":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describeOnEngines("requests", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    api = await startApi(await freshEngines(), { maxBodyBytes });
    one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Sends bytes unchanged; returns the received text once the server closes the connection or `until` matches. */
  const raw = async (text: string, until?: RegExp): Promise<string> => {
    const socket: Socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(text, "latin1");
    let received = "";
    const closed = once(socket, "close");
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      if (until?.test(received)) socket.destroy();
    });
    await closed;
    return received;
  };
  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

  describe("bodies", () => {
    const paths = () => [
      "/api/v1/tenants",
      "/api/v1/auth/login",
      "/api/v1/users",
      "/api/v1/destinations",
      "/api/v1/api-keys",
      `/api/v1/tenants/${one.tenantId}/webhook-secret/verify`,
      ingest.path,
    ];
    const post = (path: string, body: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
      http("POST", api.url + path, {
        body,
        headers: {
          "content-type": type,
          authorization: `Bearer ${one.owner.client.token ?? ""}`,
          "x-api-key": ingest.apiKey,
        },
      });

    it("give 400 everywhere when they are not a JSON object in UTF-8", async () => {
      const bodies = [
        "",
        "{",
        "[]",
        "null",
        '"x"',
        "7",
        nested(129),
        '{"a":1}x',
        new Uint8Array([0x7b, 0xc3, 0x28, 0x7d]),
        new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      ];
      for (const path of paths()) {
        for (const body of bodies) {
          const answer = await post(path, body);
          expect([answer.status, answer.text.split(":")[0]], path).to.deep.equal([400, "body"]);
        }
      }
    });

    it("give 400 asking for an object when they are empty, with a type or without", async () => {
      const wanted = { status: 400, text: "body: is empty; send a JSON object" };
      for (const path of [...paths(), "/api/v1/events/purge", "/api/v1/events/replay"]) {
        expect(await post(path, ""), path).to.include(wanted);
      }
      expect(await one.owner.client.call("POST", "/api/v1/events/purge")).to.include(wanted);
    });

    it("may come in pieces, cut anywhere", async () => {
      const head =
        `POST ${ingest.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Api-Key: ${ingest.apiKey}\r\n` +
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
      const payload = '{"price":1.0,"name":"é\u{1f600}"}';
      const bytes = Array.from(Buffer.from(payload).toString("latin1"), (byte) => `1\r\n${byte}\r\n`);
      const answer = await raw(`${head}${bytes.join("")}0\r\n\r\n`);
      expect(statusOf(answer), answer).to.equal(202);
      const [, eventId = ""] = /"eventId":"([^"]+)"/.exec(answer) ?? [];
      const event = await one.owner.client.get(`/api/v1/events/${eventId}`);
      expect(event.json["payload"]).to.equal(payload);
    });

    it("give 415 everywhere when they are of another type", async () => {
      for (const path of paths()) {
        for (const type of [
          "text/plain",
          "multipart/form-data; boundary=x",
          "application/xml",
          "application/json; charset=utf-16",
        ]) {
          expect((await post(path, "{}", type)).status, path).to.equal(415);
        }
        const head =
          `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Api-Key: ${ingest.apiKey}\r\n` +
          `Authorization: Bearer ${one.owner.client.token ?? ""}\r\n`;
        for (const body of ["Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"]) {
          expect(statusOf(await raw(head + body)), `${path}, of no type`).to.equal(415);
        }
      }
    });

    it("give 400 when both they and their type are missing", async () => {
      for (const path of paths()) {
        const headers = { "x-api-key": ingest.apiKey, authorization: `Bearer ${one.owner.client.token ?? ""}` };
        const answer = await http("POST", api.url + path, { headers });
        expect([answer.status, answer.text.split(":")[0]], path).to.deep.equal([400, "body"]);
      }
    });

    it("give 413 everywhere when they are too large, said or counted", async () => {
      for (const path of paths()) {
        expect((await post(path, `{"name":"${"x".repeat(maxBodyBytes)}"}`)).status, path).to.equal(413);
        const head =
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Api-Key: ${ingest.apiKey}\r\n` +
          `Authorization: Bearer ${one.owner.client.token ?? ""}\r\n`;
        const chunk = `400\r\n${" ".repeat(1_024)}\r\n`;
        const answer = await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(100)}0\r\n\r\n`);
        expect(statusOf(answer), answer).to.equal(413);
        expect(answer).to.match(/\r\nConnection: close\r\n/i);
      }
    });

    it("of 413 are read to the end, so that a client that sends all before it reads gets the answer", async () => {
      const length = 2_000_000;
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
      socket.pause();
      const head = "POST /api/v1/tenants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
      socket.write(`${head}Content-Length: ${length}\r\n\r\n`);
      for (let sent = 0; sent < length; sent += 50_000) {
        await new Promise<void>((resolve, reject) => {
          socket.write(" ".repeat(50_000), (error) => (error ? reject(error) : resolve()));
        });
        // Let the server run between any two chunks.
        await setImmediate();
      }
      let answer = "";
      socket.on("data", (chunk: Buffer) => (answer += chunk.toString())).resume();
      await once(socket, "end");
      expect(statusOf(answer)).to.equal(413);
      expect(answer).to.include("body: must be at most 4096 bytes");
    });

    it("are not asked for with 100 Continue when the request is refused by its head", async () => {
      const expecting = (headers: string) =>
        `POST ${ingest.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `Expect: 100-continue\r\n${headers}Connection: close\r\n\r\n`;
      expect(await raw(expecting("Content-Length: 2\r\n"), /\r\n\r\n./)).to.match(/^HTTP\/1\.1 401 /);
      const tooLarge = expecting(`Content-Length: 99999\r\nX-Api-Key: ${ingest.apiKey}\r\n`);
      expect(await raw(tooLarge, /\r\n\r\n./)).to.match(/^HTTP\/1\.1 413 /);
      const wanted = expecting(`Content-Length: 2\r\nX-Api-Key: ${ingest.apiKey}\r\n`);
      expect(await raw(`${wanted}{}`)).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 202 /);
    });

    it("are not asked for from an HTTP/1.0 client, which takes 100 Continue for the answer", async () => {
      const answer = await raw(
        `POST ${ingest.path} HTTP/1.0\r\nContent-Type: application/json\r\nX-Api-Key: ${ingest.apiKey}\r\n` +
          "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
      );
      expect(statusOf(answer)).to.equal(202);
    });

    it("that break off do not affect later requests", async () => {
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
      socket.write(
        `POST ${ingest.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Api-Key: ${ingest.apiKey}\r\n` +
          'Content-Length: 100\r\n\r\n{"a"',
      );
      await once(socket, "ready");
      socket.destroy();
      await once(socket, "close");
      expect((await post(ingest.path, "{}")).status).to.equal(202);
    });

    it("may hold unknown fields, and fields named like members of every object", async () => {
      const answer = await post(
        "/api/v1/api-keys",
        '{"name":"k","__proto__":{"expiresAt":5},"constructor":1,"toString":null,"id":"x"}',
      );
      expect(answer.status).to.equal(201);
      expect((await post("/api/v1/api-keys", '{"__proto__":{"name":"k"}}')).status).to.equal(400);
    });

    it("give 400 before the id in the path is looked up: another tenant's, an unknown id, or no UUID", async () => {
      const table: [string, object, string][] = [
        ["tenants", { name: " " }, "name"],
        ["users", { email: "nobody" }, "email"],
        ["users", { password: "short" }, "password"],
        ["destinations", { url: "http://receiver.example" }, "url"],
        ["destinations", { authType: "BearerToken" }, "credentials"],
        ["senders", { name: " " }, "name"],
        ["senders", { mapping: { language: "jmespath", expression: "#" } }, "mapping.expression"],
      ];
      const other = await openAccount(api.url);
      for (const [resource, fields, field] of table) {
        for (const id of [other.tenantId, "0193a1b2-0000-7000-8000-00000000eeee", "none"]) {
          const { status, text } = await one.owner.client.patch(`/api/v1/${resource}/${id}`, fields);
          expect([status, text.split(":")[0]], `${resource}/${id}`).to.deep.equal([400, field]);
        }
      }
    });

    it("are ignored by operations without a body", async () => {
      const { owner } = one;
      const answer = await owner.client.call("POST", `/api/v1/destinations/${ingest.destinationId}/ingest-token`, {
        body: "no json",
      });
      expect(answer.status).to.equal(200);
      ingest = { ...ingest, path: `/api/v1/ingest/${one.tenantId}/${String(answer.json["ingestToken"])}` };
    });
  });

  describe("paths and methods", () => {
    it("give 404 for an unknown path, to any caller", async () => {
      for (const path of [
        "/api",
        "/api/v1",
        "/api/v2/users",
        "/api/v1/nothing",
        "/api/v1/users/x/y",
        "/API/v1/users",
        "/api/v1/users/",
        "//",
        "/%",
        "/%00",
        "/api/v1/users/%2e%2e/x",
      ]) {
        const answer = await http("GET", api.url + path);
        expect([answer.status, answer.headers.get("content-type")], path).to.deep.equal([
          404,
          "text/plain; charset=utf-8",
        ]);
      }
    });

    it("point from the root to the descriptions of the API", async () => {
      const { status, text } = await http("GET", `${api.url}/`);
      expect(status).to.equal(200);
      const paths = text.match(/\/[a-z]+(\.json)?/g) ?? [];
      expect(paths).to.deep.equal(["/docs", "/openapi.json"]);
      for (const path of paths) expect((await http("GET", api.url + path)).status, path).to.equal(200);
    });

    it("give 405 and the allowed methods for another method", async () => {
      const table: [string, string, string][] = [
        ["PUT", "/api/v1/users", "GET, HEAD, OPTIONS, POST"],
        ["DELETE", "/api/v1/tenants", "OPTIONS, POST"],
        ["GET", "/api/v1/auth/login", "OPTIONS, POST"],
        ["POST", "/healthz", "GET, HEAD, OPTIONS"],
        ["PUT", `/api/v1/users/${one.owner.id}`, "DELETE, GET, HEAD, OPTIONS, PATCH"],
        ["PROPFIND", "/api/v1/users", "GET, HEAD, OPTIONS, POST"],
      ];
      for (const [method, path, allowed] of table) {
        const answer = await http(method, api.url + path);
        expect([answer.status, answer.headers.get("allow")], `${method} ${path}`).to.deep.equal([405, allowed]);
      }
    });

    it("answer OPTIONS and HEAD", async () => {
      const options = await http("OPTIONS", `${api.url}/api/v1/users`);
      expect([options.status, options.headers.get("allow"), options.text]).to.deep.equal([
        204,
        "GET, HEAD, OPTIONS, POST",
        "",
      ]);
      const head = await one.owner.client.call("HEAD", "/api/v1/users");
      expect([head.status, head.text]).to.deep.equal([200, ""]);
      expect((await http("HEAD", `${api.url}/api/v1/users`)).status).to.equal(401);
    });

    it("give 4xx for malformed HTTP", async () => {
      const lines = (text: string) => `${text}\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const chunked = "POST /api/v1/tenants HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked";
      const table: [string, number][] = [
        [lines(`GET /${"x".repeat(20_000)} HTTP/1.1`), 431],
        [lines(`GET / HTTP/1.1\r\nX-Long: ${"x".repeat(20_000)}`), 431],
        ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
        [lines("GET /\0 HTTP/1.1"), 400],
        [lines("GET / HTTP/1.1\r\nX-Odd: a\0b"), 400],
        [lines("GET / HTTP/9.9"), 400],
        [lines("NONSENSE"), 400],
        [lines("POST /api/v1/tenants HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"), 400],
        [lines("POST /api/v1/tenants HTTP/1.1\r\nContent-Length: -5"), 400],
        [lines("POST /api/v1/tenants HTTP/1.1\r\nExpect: something"), 417],
        [`${lines(chunked)}1;${"x".repeat(20_000)}\r\n{\r\n`, 413],
        [lines("GET /healthz HTTP/1.1\r\nX-Odd: \xff\xfe"), 200],
        [lines("OPTIONS * HTTP/1.1"), 404],
        [lines("GET nowhere HTTP/1.1"), 400],
      ];
      for (const [text, expected] of table) {
        expect(statusOf(await raw(text)), text.slice(0, 60)).to.equal(expected);
      }
    });

    it("explain the error in malformed HTTP", async () => {
      const malformed = "headers: each must be one line: name, colon right after it, no control characters";
      const table: [string, string][] = [
        [`X-Long: ${"x".repeat(20_000)}`, "headers: must be at most 16384 bytes, the request line included"],
        ["X-Odd: a\0b", malformed],
        ["X-Odd a", malformed],
        ["X-Odd : a", malformed],
        ["X(Odd: a", malformed],
        ["X-Odd: a\r\n b", malformed],
        ["Expect: something", "Expect: must be 100-continue"],
      ];
      for (const [line, expected] of table) {
        const answer = await raw(`GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}\r\n\r\n`);
        const [head = "", text] = answer.split("\r\n\r\n");
        expect(text).to.equal(expected);
        expect(head).to.match(/\r\nContent-Type: text\/plain; charset=utf-8\r\n/);
        expect(head).to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
        expect(head).to.match(/\r\nX-Content-Type-Options: nosniff\r\n/);
      }
      const hostless = await raw("GET /healthz HTTP/1.1\r\nX-Request-Id: my-id\r\nConnection: close\r\n\r\n");
      expect([statusOf(hostless), hostless.split("\r\n\r\n")[1]]).to.deep.equal([400, "Host: is required"]);
      expect(hostless).to.match(/\r\nX-Request-Id: my-id\r\n/);
      expect(statusOf(await raw("GET /healthz HTTP/1.0\r\n\r\n"))).to.equal(200);
      const answer = await raw("NONSENSE\r\n\r\n");
      expect(answer.split("\r\n\r\n")[1]).to.equal("the request is not HTTP/1.1 that can be read");
    });
  });

  describe("answers", () => {
    it("carry the request's id, the caller's own if it is valid", async () => {
      const ids = ["my-id", "!".repeat(128)];
      for (const path of ["/healthz", "/nothing", "/api/v1/users", ingest.path]) {
        for (const id of ids) {
          const answer = await http(path === ingest.path ? "POST" : "GET", api.url + path, {
            headers: { "x-request-id": id },
          });
          expect(answer.headers.get("x-request-id")).to.equal(id);
        }
        for (const id of ["", "two words", "x".repeat(129), "ü"]) {
          const answer = await http("GET", api.url + path, { headers: { "x-request-id": id } });
          expect(answer.headers.get("x-request-id"), id).to.match(/^[0-9a-f-]{36}$/);
        }
      }
      const unmet = ["Host: x", "Connection: close", "Expect: something", "X-Request-Id: my-id", "", ""];
      expect(await raw(["GET /healthz HTTP/1.1", ...unmet].join("\r\n"))).to.match(/\r\nX-Request-Id: my-id\r\n/);
    });

    it("share the request's id with the entries of the log", async () => {
      const send = () =>
        http("POST", api.url + ingest.path, {
          json: {},
          headers: { "x-api-key": ingest.apiKey, "x-request-id": "the-request" },
        });
      const { eventId } = (await send()).json as { eventId: string };
      const [entry] = await api.world.store.readStream(streams.event(eventId));
      expect(entry?.unreadable === undefined && entry?.metadata.correlationId).to.equal("the-request");
    });

    it("forbid sniffing and caching", async () => {
      for (const path of ["/healthz", "/nothing", "/api/v1/users", ingest.path]) {
        const { headers } = await http("GET", api.url + path);
        expect(headers.get("x-content-type-options")).to.equal("nosniff");
        expect(headers.get("cache-control")).to.equal("no-store");
        expect(headers.has("x-powered-by")).to.equal(false);
        expect(headers.has("server")).to.equal(false);
      }
    });
  });

  it("about health need no credentials", async () => {
    expect((await http("GET", `${api.url}/healthz`)).text).to.equal("ok");
    expect((await http("GET", `${api.url}/readyz`)).text).to.equal("ready");
    const metrics = await http("GET", `${api.url}/metrics`);
    expect([metrics.status, metrics.headers.get("content-type")]).to.deep.equal([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
  });
});
