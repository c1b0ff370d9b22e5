import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const somewhere = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03";

/** Bodies that must not pass for a body without filters, and the start of the answer to each. */
const forPurges: [string, string][] = [
  ['{"Before":"2020-01-01"}', "Before: is not one of its fields, which are before, status, destinationUrlId, " +
    "senderId, eventType, ownerId, messageId, correlationId, tags, finishedFrom, finishedTo, dryRun"],
  ['{"before":"2020-01-01","Status":"Succeeded"}', "Status: is not one of its fields"],
  ['{"befor":"2020-01-01"}', "befor: is not one of its fields"],
  ['{"before ":"2020-01-01"}', '"before ": is not one of its fields'],
  ['{"bef\\u0000ore":"2020-01-01"}', '"bef\\u0000ore": is not one of its fields'],
  ['{"\\u0432efore":"2020-01-01"}', '"вefore": is not one of its fields'],
  ['{"":"2020-01-01"}', '"": is not one of its fields'],
  [`{"${"a".repeat(10_000)}":1}`, `"${"a".repeat(64)}": is not one of its fields`],
  ['{"dryrun":true}', "dryrun: is not one of its fields"],
  ['{"dryRun":"true"}', "dryRun: must be a boolean"],
  ['{"dryRun":true,"dryRun":false}', "dryRun: must be given once"],
  ['{"from":"2020-01-01"}', "from: is not one of its fields"],
  ['{"to":"2020-01-01"}', "to: is not one of its fields"],
  ['{"destinationId":null}', "destinationId: is not one of its fields"],
  ['{"filter":{"before":"2020-01-01"}}', "filter: is not one of its fields"],
  ['{"__proto__":{"before":"2020-01-01"}}', "__proto__: is not one of its fields"],
  ['{"constructor":{"prototype":{"before":"2020-01-01"}}}', "constructor: is not one of its fields"],
  ['{"toString":"2020-01-01"}', "toString: is not one of its fields"],
  ['{"before":"2020-01-01","before":"2999-01-01"}', "before: must be given once"],
  ['{"before":"2020-01-01","bef\\u006fre":"2999-01-01"}', "before: must be given once"],
  ['{"status":"Cancelled" , "status" : "Succeeded"}', "status: must be given once"],
  ['{"before":null}', "before: must be a string"],
  ['{"before":""}', "before: must be an ISO 8601 date-time"],
  ['{"before":0}', "before: must be a string"],
  ['{"before":["2020-01-01"]}', "before: must be a string"],
  ['{"before":{}}', "before: must be a string"],
  ['{"status":null}', "status: must be a string"],
  ['{"status":""}', "status: must be one of Succeeded, CriticalFailure, Cancelled"],
  ['{"status":"succeeded"}', "status: must be one of Succeeded"],
  ['{"status":["Succeeded"]}', "status: must be a string"],
  ['{"destinationUrlId":null}', "destinationUrlId: must be a string"],
  ['{"destinationUrlId":""}', "destinationUrlId: must be a UUID"],
  ["", "body: is empty; send a JSON object"],
  ["[]", "body: must be a JSON object"],
  ["null", "body: must be a JSON object"],
];

const forReplays: [string, string][] = [
  [`{"DestinationUrlId":"${somewhere}"}`,
    "DestinationUrlId: is not one of its fields, which are destinationUrlId, senderId, eventType, from, to, ownerId, " +
    "messageId, correlationId, tags, finishedFrom, finishedTo, dryRun"],
  ['{"From":"2999-01-01"}', "From: is not one of its fields"],
  ['{"dryrun":true}', "dryrun: is not one of its fields"],
  ['{"status":"CriticalFailure"}', "status: is not one of its fields"],
  ['{"before":"2020-01-01"}', "before: is not one of its fields"],
  ['{"__proto__":{"dryRun":true}}', "__proto__: is not one of its fields"],
  ['{"dryRun":true,"dryRun":false}', "dryRun: must be given once"],
  ['{"to":"2020-01-01","to":"2999-01-01"}', "to: must be given once"],
  ['{"dryRun":"true"}', "dryRun: must be a boolean"],
  ['{"dryRun":1}', "dryRun: must be a boolean"],
  ['{"dryRun":null}', "dryRun: must be a boolean"],
  ['{"from":null}', "from: must be a string"],
  ['{"from":""}', "from: must be an ISO 8601 date-time"],
  ['{"to":null}', "to: must be a string"],
  ['{"to":""}', "to: must be an ISO 8601 date-time"],
  ['{"destinationUrlId":null}', "destinationUrlId: must be a string"],
  ['{"destinationUrlId":""}', "destinationUrlId: must be a UUID"],
];

const forOrders: [string, string][] = [
  [`{"DestinationUrlId":"${somewhere}"}`, "DestinationUrlId: is not one of its fields, which are destinationUrlId,"],
  ['{"persecond":1}', "persecond: is not one of its fields"],
  ['{"before":"2020-01-01"}', "before: is not one of its fields"],
  ['{"__proto__":{"dryRun":true}}', "__proto__: is not one of its fields"],
  ['{"dryRun":true,"dryRun":false}', "dryRun: must be given once"],
  ['{"dryRun":1}', "dryRun: must be a boolean"],
  ['{"from":null}', "from: must be a string"],
  ['{"to":""}', "to: must be an ISO 8601 date-time"],
  ['{"destinationUrlId":null}', "destinationUrlId: must be a string"],
  ['{"toDestinationUrlId":""}', "toDestinationUrlId: must be a UUID"],
  ['{"toDestinationUrlId":null}', "toDestinationUrlId: must be a string"],
  ['{"ids":null}', "ids: must be an array"],
  ['{"ids":[]}', "ids: must not be empty"],
  ['{"ids":["x"]}', "ids.0: must be a UUID"],
  [`{"ids":["${somewhere}",null]}`, "ids.1: must be a string"],
  [`{"ids":${JSON.stringify(Array.from({ length: 1_001 }, () => somewhere))}}`, "ids: must have at most 1000 items"],
  ['{"status":null}', "status: must be a string or an array"],
  ['{"status":""}', "status: must be one of Succeeded, CriticalFailure, Cancelled"],
  ['{"status":"Pending"}', "status: must be one of Succeeded, CriticalFailure, Cancelled"],
  ['{"status":"criticalfailure"}', "status: must be one of Succeeded, CriticalFailure, Cancelled"],
  ['{"status":[]}', "status: must not be empty"],
  ['{"status":["CriticalFailure","Failed"]}', "status.1: must be one of Succeeded, CriticalFailure, Cancelled"],
  ['{"status":[["Succeeded"]]}', "status.0: must be a string"],
  ['{"status":"Cancelled"}', "status: must not be Cancelled without toDestinationUrlId"],
  ['{"status":["CriticalFailure","Cancelled"]}', "status: must not be Cancelled without toDestinationUrlId"],
  ['{"tag":"order"}', "tag: must be the name and value of a tag, name:value"],
  ['{"tag":":1"}', "tag: must be the name and value of a tag, name:value"],
  ['{"tag":["order:1"]}', "tag: must be a string"],
  ['{"eventType":""}', "eventType: must not be empty"],
  ['{"senderId":"x"}', "senderId: must be a UUID"],
  ['{"perSecond":0}', "perSecond: must be at least 0.1"],
  ['{"perSecond":0.09}', "perSecond: must be at least 0.1"],
  ['{"perSecond":1000.5}', "perSecond: must be at most 1000"],
  ['{"perSecond":"50"}', "perSecond: must be a number"],
  ['{"perSecond":null}', "perSecond: must be a number"],
];

const forCancellations: [string, string][] = [
  [`{"DestinationUrlId":"${somewhere}"}`,
    "DestinationUrlId: is not one of its fields, which are " +
      "destinationUrlId, senderId, eventType, tag, ids, status, from, to, ownerId, messageId, correlationId, tags, " +
      "finishedFrom, finishedTo, dryRun"],
  ['{"tag":"x"}', "tag: must be the name and value of a tag, name:value"],
  ['{"tag":["a:b"]}', "tag: must be a string"],
  ['{"eventType":""}', "eventType: must not be empty"],
  ['{"senderId":"x"}', "senderId: must be a UUID"],
  ['{"id":[]}', "id: is not one of its fields"],
  [`{"toDestinationUrlId":"${somewhere}"}`, "toDestinationUrlId: is not one of its fields"],
  ['{"perSecond":5}', "perSecond: is not one of its fields"],
  ['{"before":"2020-01-01"}', "before: is not one of its fields"],
  ['{"dryRun":1}', "dryRun: must be a boolean"],
  ['{"ids":[]}', "ids: must not be empty"],
  [`{"ids":"${somewhere}"}`, "ids: must be an array"],
  ['{"ids":["x"]}', "ids.0: must be a UUID"],
  [`{"ids":["${somewhere}",null]}`, "ids.1: must be a string"],
  [`{"ids":${JSON.stringify(Array.from({ length: 1_001 }, () => somewhere))}}`, "ids: must have at most 1000 items"],
  ['{"status":"Succeeded"}', "status: must be one of Pending, WaitingRetry"],
  ['{"status":"pending"}', "status: must be one of Pending, WaitingRetry"],
  ['{"status":["Pending","Succeeded"]}', "status.1: must be one of Pending, WaitingRetry"],
  ['{"status":[]}', "status: must not be empty"],
  ['{"status":null}', "status: must be a string or an array"],
  ['{"status":"Pending","status":"WaitingRetry"}', "status: must be given once"],
  ['{"from":""}', "from: must be an ISO 8601 date-time"],
];

describe("a body that acts on many events", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  let failed: string;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    const { path, apiKey } = await openIngest(one.owner.client, one.tenantId);
    const accepted = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    failed = String(accepted.json["eventId"]);
    await new Deliveries(api.world).fail(failed, 1);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(async () => {
    expect(api.errors).to.deep.equal([]);
    expect((await one.viewer.client.get(`/api/v1/events/${failed}`)).json["status"]).to.equal("CriticalFailure");
  });

  const send = (operation: string, body: string) =>
    one.owner.client.call("POST", `/api/v1/${operation}`, { body });

  for (const [operation, bodies] of [
    ["events/purge", forPurges], ["events/replay", forReplays], ["replays", forOrders],
    ["events/cancel", forCancellations],
  ] as const) {
    for (const [body, problem] of bodies) {
      it(`is refused by ${operation}, and takes no event: ${body.slice(0, 80)}`, async () => {
        const answer = await send(operation, body);
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.text.startsWith(problem), answer.text).to.equal(true);
      });
    }

    it(`is refused by ${operation} if its filters are in the query`, async () => {
      for (const [query, name] of [
        ["before=2020-01-01", "before"], ["DestinationUrlId=x&To=2020-01-01", "DestinationUrlId"], ["dryRun", "dryRun"],
      ]) {
        const answer = await send(`${operation}?${query}`, "{}");
        expect([answer.status, answer.text]).to.deep.equal([400, `${name}: must be in the body, not in the query`]);
      }
    });

    it(`is checked by ${operation} before the caller's role`, async () => {
      const answer = await one.viewer.client.post(`/api/v1/${operation}`, { Before: "2020-01-01" });
      expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, "Before"]);
    });
  }

  it("may repeat a name in different objects", async () => {
    const answer = await send("events/replay", `{"from":"2999-01-01","to":"2999-01-01", "dryRun" :true}`);
    expect([answer.status, answer.json]).to.deep.equal([200, { matched: 0, replayed: 0 }]);
  });

  it("is the only kind of body refused for unknown or repeated fields", async () => {
    const body = '{"name":"first","name":"second","Name":"third"}';
    const answer = await one.owner.client.call("POST", "/api/v1/api-keys", { body });
    expect([answer.status, answer.json["name"]]).to.deep.equal([201, "second"]);
  });
});
