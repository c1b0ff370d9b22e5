import { expect } from "chai";
import { openAccount, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import type { HttpAnswer } from "../support/http.ts";

const digits = "9".repeat(300);

/** Spellings of 2999-01-31T12:30:05.999Z, or of a time within that millisecond. */
const spellings = [
  `2999-01-31T12:30:05.${digits}Z`, "2999-01-31T12:30:05.9991234567Z", "2999-01-31t12:30:05.999z",
  "2999-01-31 12:30:05.9999999999", "2999-01-31T18:00:05,999+05:30", "2999-01-31T07:30:05.999-0500",
  "2999-01-31T14:30:05.999+02",
];

const refused: [string, string][] = [
  ["2016-12-31T23:59:60Z", "must not be a leap second; seconds go from 00 to 59"],
  ["20260131T123005Z", "must be an ISO 8601 date-time in extended format, like 2026-01-31T23:59:59.000Z"],
  ["10000-01-01T00:00:00Z", "must be an ISO 8601 date-time in extended format, like 2026-01-31T23:59:59.000Z"],
];

describe("a time in a request", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  const inQuery = (path: string, name: string) => (time: string) =>
    one.owner.client.get(`/api/v1/${path}?${name}=${encodeURIComponent(time)}`);
  const inBody = (path: string, name: string, fields: object = {}) => (time: string) =>
    one.owner.client.post(`/api/v1/${path}`, { ...fields, [name]: time });

  const places: Record<string, { readonly name: string; readonly send: (time: string) => Promise<HttpAnswer> }> = {
    "From of events": { name: "From", send: inQuery("events", "From") },
    "To of events": { name: "To", send: inQuery("events", "To") },
    "From of totals": { name: "From", send: inQuery("events/totals", "From") },
    "To of totals": { name: "To", send: inQuery("events/totals", "To") },
    "From of the audit": { name: "From", send: inQuery("audit", "From") },
    "To of the audit": { name: "To", send: inQuery("audit", "To") },
    "from of a bulk replay": { name: "from", send: inBody("events/replay", "from") },
    "to of a bulk replay": { name: "to", send: inBody("events/replay", "to") },
    "from of a replay": { name: "from", send: inBody("replays", "from") },
    "to of a replay": { name: "to", send: inBody("replays", "to") },
    "before of a purge": { name: "before", send: inBody("events/purge", "before") },
    "expiresAt of an API key": { name: "expiresAt", send: inBody("api-keys", "expiresAt", { name: "producer" }) },
  };

  for (const [place, { name, send }] of Object.entries(places)) {
    it(`may have any number of fraction digits, either case, a space and any offset: ${place}`, async () => {
      for (const time of spellings) {
        const answer = await send(time);
        expect(answer.status, `${time}: ${answer.text}`).to.be.within(200, 204);
      }
    });

    it(`is refused with a reason if it is a leap second, in basic format or after the year 9999: ${place}`,
      async () => {
        for (const [time, problem] of refused) {
          const answer = await send(time);
          expect([answer.status, answer.text]).to.deep.equal([400, `${name}: ${problem}`]);
        }
      });
  }

  it("is shown in UTC, truncated to milliseconds, not rounded", async () => {
    for (const time of spellings) {
      const key = await one.owner.client.post("/api/v1/api-keys", { name: "producer", expiresAt: time });
      expect(key.json["expiresAt"], time).to.equal("2999-01-31T12:30:05.999Z");
    }
  });
});
