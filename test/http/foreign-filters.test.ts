import { expect } from "chai";
import everyList from "../../schemas/requests/list.json" with { type: "json" };
import { openAccount, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { http } from "../support/http.ts";

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { parameters, security }]) => ({
    method: method.toUpperCase(),
    path: path.replaceAll(/\{\w+\}/g, "00000000-0000-7000-8000-000000000000"),
    isSignedIn: security.some((scheme) => "accessToken" in scheme),
    own: parameters.flatMap((one) => ("in" in one && one.in === "query" ? [one.name] : [])),
  })));
/** Every parameter that narrows or changes an answer, of any operation, but for those of every list. */
const filters = [...new Set(operations.flatMap(({ own }) => own))]
  .filter((name) => !Object.hasOwn(everyList.properties, name));
const spellings = [
  (name: string) => name, (name: string) => name.toLowerCase(), (name: string) => name.toUpperCase(),
];

describe("a filter that an operation has not", () => {
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

  const ask = async (method: string, path: string, token = one.owner.client.token) => {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const { status, text } = await http(method, api.url + path, { headers });
    return [status, text.split(":")[0]];
  };

  it("is 400 with its name at every operation for signed-in callers, in any case", async () => {
    expect(filters).to.include.members(["Status", "CorrelationId", "Tag", "AsOf", "Include", "Text", "GroupBy"]);
    let turn = 0;
    for (const { method, path, own } of operations.filter(({ isSignedIn }) => isSignedIn)) {
      const foreign = filters.filter((name) => !own.includes(name));
      // Each name has its turn at some operations, and the same two at all.
      const some = ["CorrelationId", "AsOf", filters[turn % filters.length]!].filter((name) => foreign.includes(name));
      for (const name of some) {
        const given = spellings[turn++ % spellings.length]!(name);
        expect(await ask(method, `${path}?${given}=1`), `${method} ${path}`).to.deep.equal([400, given]);
      }
    }
    expect(turn).to.be.greaterThan(filters.length);
  });

  it("is told to callers that are signed in only, and leaves other names to be ignored", async () => {
    expect((await ask("GET", "/api/v1/users?CorrelationId=1", ""))[0]).to.equal(401);
    expect((await ask("GET", "/api/v1/users?Colour=1&Qt=1"))[0]).to.equal(200);
    expect((await ask("GET", "/api/v1/me?Qt=1"))[0]).to.equal(200);
  });
});
