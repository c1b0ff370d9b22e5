import { expect } from "chai";
import type { PortalLinkEvent } from "../../../src/features/portal/facts.ts";
import { projected } from "../../support/projected.ts";

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 15, 9, 30 + minutes)).toISOString();
const hash = (digit: string) => digit.repeat(64);

describe("the read model of portal links", () => {
  const portalLinkId = uuid(6);
  const tenantId = uuid(1);
  const link = {
    tenantId, ownerId: "customer", may: ["read" as const], label: null, sessionSeconds: 300, returnUrl: null,
  };
  const expiresAt = at(1);
  const created: PortalLinkEvent = {
    type: "PortalLinkCreated",
    data: { ...link, portalLinkId, destinationIds: null, codeHash: hash("c"), expiresAt, at: at(0) },
  };
  const shownAfter = async (...facts: PortalLinkEvent[]) => (await projected(facts)).get("portalLinks", portalLinkId);
  const ids = { portalLinkId, tenantId };
  const begun: PortalLinkEvent = {
    type: "PortalSessionBegun",
    data: { ...ids, sessionHash: hash("d"), embedded: true, at: at(0.5), expiresAt: at(5) },
  };
  const shown = {
    ...link, id: portalLinkId, destinationUrlIds: null, createdAt: at(0), expiresAt, begunAt: null, embedded: null,
    endsAt: expiresAt,
  };

  it("holds a link without its secrets, and the end of its session", async () => {
    const session = { ...shown, begunAt: at(0.5), embedded: true, endsAt: at(5) };
    expect(await shownAfter(created)).to.deep.equal(shown);
    expect(await shownAfter(created, begun)).to.deep.equal(session);
    const ended: PortalLinkEvent = { type: "PortalSessionEnded", data: { ...ids, at: at(3) } };
    expect(await shownAfter(created, begun, ended)).to.deep.equal({ ...session, endsAt: at(3) });
    const deleted: PortalLinkEvent = { type: "PortalLinkDeleted", data: { ...ids, at: at(4) } };
    expect(await shownAfter(created, begun, deleted)).to.equal(null);
  });
});
