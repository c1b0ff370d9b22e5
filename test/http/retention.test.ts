import { expect } from "chai";
import { openAccount, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { shaped } from "../support/http.ts";

describeOnEngines("a tenant's retentionDays", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  before(async () => (api = await startApi(await freshEngines())));
  beforeEach(async () => (one = await openAccount(api.url)));
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const path = () => `/api/v1/tenants/${one.tenantId}`;
  const change = (fields: object, by = one.admin.client) => by.patch(path(), fields);
  const shown = async () => shaped(await one.viewer.client.get(path()), "tenant")["retentionDays"];

  it("is null at first, is set to 1 to 3650 and to null again, and stays if absent from a change", async () => {
    expect(await shown()).to.equal(null);
    for (const retentionDays of [1, 30, 3650, null, 7]) {
      expect(shaped(await change({ retentionDays }), "tenant")).to.include({ retentionDays });
      expect(await shown()).to.equal(retentionDays);
    }
    expect(shaped(await change({ maxTrys: 3 }), "tenant")).to.include({ maxTrys: 3, retentionDays: 7 });
    expect(shaped(await change({}), "tenant")).to.include({ retentionDays: 7 });
  });

  for (const retentionDays of [0, -1, 3651, 1.5, "30", true, [], {}]) {
    it(`gives 400 for ${JSON.stringify(retentionDays)}`, async () => {
      const before = await shown();
      const answer = await change({ retentionDays });
      expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, "retentionDays"]);
      expect(await shown()).to.equal(before);
    });
  }
});
