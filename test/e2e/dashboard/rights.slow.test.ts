import { expect } from "chai";
import type { OperationId } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { operationOf, pagesOf } from "../../support/dashboard-pages.ts";
import { furnish, furnishedReceiver } from "../../support/furnished-tenant.ts";

describe("the pages of the dashboard for a caller without the right to read all their content", () => {
  const stage = dashboardStage({
    receiver: { record: false, script: furnishedReceiver() }, env: { RELAY_RETRY_SCHEDULE: "100ms" },
  });

  it("call no operation that me.operations lacks, and neither fail nor load for ever", async () => {
    const tenant = await furnish(stage.relay.url, `https://127.0.0.1:${stage.receiver.port}`, { events: 2 });
    const me = await tenant.owner.getMe();
    const seen = await stage.visit();
    const { page } = seen;
    await seen.go("/login");
    await signIn(seen, tenant);
    let lacking: readonly OperationId[] = [];
    await page.route("**/api/v1/me", (route) => route.fulfill({
      json: { ...me, operations: me.operations.filter((operation) => !lacking.includes(operation as OperationId)) },
    }));
    const called = new Set<OperationId>();
    page.on("request", (request) => {
      const operation = operationOf(request.method(), request.url());
      if (operation !== undefined) called.add(operation);
    });
    const callsOf = async (path: string, without: readonly OperationId[] = []) => {
      lacking = without;
      called.clear();
      await seen.go(path);
      await seen.loaded();
      return [...called].filter((operation) => operation !== "getMe");
    };

    const faults: string[] = [];
    const known = new Set<OperationId>();
    for (const path of pagesOf(tenant)) {
      const calls = await callsOf(path);
      // Operations that other pages call, too, are taken away together, so that the page's own ones show.
      const shared = calls.filter((operation) => known.has(operation));
      const own = calls.filter((operation) => !known.has(operation));
      for (const without of [shared, ...own.map((operation) => [operation])]) {
        const wrong = (await callsOf(path, without)).filter((operation) => without.includes(operation));
        if (wrong.length > 0) faults.push(`${path} calls ${wrong.join()}`);
        const failed = (await page.getByRole("alert").allInnerTexts()).join("");
        if (failed !== "") faults.push(`${path} without ${without.join()}: ${failed}`);
      }
      for (const operation of own) known.add(operation);
    }
    expect(faults).to.deep.equal([]);
  }).timeout(240_000);
});
