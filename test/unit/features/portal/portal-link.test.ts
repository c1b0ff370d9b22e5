import { expect } from "chai";
import { decide, type PortalLinkCommand } from "../../../../src/features/portal/decide.ts";
import { evolve, isOpenTo, type PortalLinkEvent, type PortalLinkState } from "../../../../src/features/portal/facts.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";

const at = "2026-01-15T09:30:00.000Z";
const [portalLinkId, tenantId] = ["0193a1b2-c3d4-7000-8000-000000000016", "0193a1b2-c3d4-7000-8000-000000000001"];
const settings = {
  ownerId: "customer", destinationIds: null, may: ["read"] as const, label: null, sessionSeconds: 300, returnUrl: null,
};
const create: PortalLinkCommand = {
  type: "CreateLink", link: { id: portalLinkId, tenantId, ...settings, codeHash: "code" }, at,
};
const begin = (more: Partial<Extract<PortalLinkCommand, { type: "BeginSession" }>> = {}): PortalLinkCommand =>
  ({ type: "BeginSession", codeHash: "code", sessionHash: "session", embedded: false, at, ...more });
const end: PortalLinkCommand = { type: "EndSession", at: "2026-01-15T09:31:00.000Z" };
const remove: PortalLinkCommand = { type: "DeleteLink", at };

/** The state after commands. */
function given(...commands: readonly PortalLinkCommand[]): PortalLinkState {
  return commands.reduce<PortalLinkState>((state, command) =>
    decide(state, command).reduce<PortalLinkState>(evolve, state), undefined);
}

function refusalOf(state: PortalLinkState, command: PortalLinkCommand): string {
  try {
    decide(state, command);
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
  return expect.fail("it was not refused");
}

describe("a portal link", () => {
  it("is created with a code that is good for a minute", () => {
    const expected: PortalLinkEvent = {
      type: "PortalLinkCreated",
      data: { portalLinkId, tenantId, ...settings, codeHash: "code", expiresAt: "2026-01-15T09:31:00.000Z", at },
    };
    expect(decide(undefined, create)).to.deep.equal([expected]);
    expect(refusalOf(given(create), create)).to.equal("conflict");
  });

  it("begins one session, which ends after its time", () => {
    const expected: PortalLinkEvent = {
      type: "PortalSessionBegun",
      data: {
        portalLinkId, tenantId, sessionHash: "session", embedded: true, expiresAt: "2026-01-15T09:35:00.000Z", at,
      },
    };
    expect(decide(given(create), begin({ embedded: true }))).to.deep.equal([expected]);
  });

  it("refuses a second use, a late one, another code, and that of a deleted link or of none", () => {
    const isRefused = (state: PortalLinkState, command: PortalLinkCommand) =>
      expect(refusalOf(state, command)).to.equal("unauthenticated");
    isRefused(given(create, begin()), begin());
    isRefused(given(create), begin({ at: "2026-01-15T09:31:00.000Z" }));
    isRefused(given(create), begin({ codeHash: "other" }));
    isRefused(given(create, remove), begin());
    isRefused(undefined, begin());
    expect(decide(given(create), begin({ at: "2026-01-15T09:30:59.999Z" }))).to.have.length(1);
  });

  it("is open to the token of its session until that ends, by time, sign-out or deletion", () => {
    const isOpen = (commands: readonly PortalLinkCommand[], hash: string, now: string) => {
      const link = given(...commands);
      return link ? isOpenTo(link, hash, now) : expect.fail("no link");
    };
    expect(isOpen([create], "session", at)).to.equal(false);
    expect(isOpen([create, begin()], "session", "2026-01-15T09:34:59.999Z")).to.equal(true);
    expect(isOpen([create, begin()], "session", "2026-01-15T09:35:00.000Z")).to.equal(false);
    expect(isOpen([create, begin()], "code", at)).to.equal(false);
    expect(isOpen([create, begin(), end], "session", "2026-01-15T09:31:00.000Z")).to.equal(false);
    expect(isOpen([create, begin(), remove], "session", at)).to.equal(false);
  });

  it("ends a session once, and is deleted once", () => {
    expect(decide(given(create), end)).to.deep.equal([]);
    expect(decide(given(create, begin()), end)).to.have.length(1);
    expect(decide(given(create, begin(), end), end)).to.deep.equal([]);
    expect(refusalOf(given(create, remove), remove)).to.equal("not-found");
    expect(refusalOf(undefined, end)).to.equal("not-found");
  });
});
