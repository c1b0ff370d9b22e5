import { expect } from "chai";
import { openAccount, type Account } from "./accounts.ts";
import { startApi, type TestApi } from "./api.ts";
import type { SharedEngines } from "./api-engines.ts";

/** An API on engines of its own, with a tenant. */
export interface ApiStage {
  readonly engines: SharedEngines;
  readonly api: TestApi;
  readonly one: Account;
}

/** The stage with another tenant beside. */
export interface TwoTenantStage extends ApiStage {
  readonly other: Account;
}

/** Starts an API for the tests of a block and hands it over. An error that the API logs fails the test. */
export function apiStage(
  freshEngines: () => Promise<SharedEngines>, take: (stage: ApiStage) => unknown,
): void {
  let api: TestApi;
  before(async () => {
    const engines = await freshEngines();
    api = await startApi(engines);
    await take({ engines, api, one: await openAccount(api.url) });
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));
}

/** {@link apiStage} with two tenants. */
export function twoTenantStage(
  freshEngines: () => Promise<SharedEngines>, take: (stage: TwoTenantStage) => void,
): void {
  apiStage(freshEngines, async (stage) => take({ ...stage, other: await openAccount(stage.api.url) }));
}
