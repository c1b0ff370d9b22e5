import { expect } from "chai";
import { decide, evolve, isUsable, type ApiKeyState } from "../../../../src/features/keys/api-keys/decide.ts";
import type { ApiKeyEvent } from "../../../../src/features/keys/api-keys/facts.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const apiKey = { initial: (): ApiKeyState => undefined, evolve, decide };
const given = specificationsOf(apiKey);

const [before, at, after] = ["2026-01-15T09:29:59.999Z", "2026-01-15T09:30:00.000Z", "2026-01-15T09:30:00.001Z"];
const ids = { keyId: "0193a1b2-c3d4-7000-8000-000000000004", tenantId: "0193a1b2-c3d4-7000-8000-000000000001" };
const successorId = "0193a1b2-c3d4-7000-8000-000000000005";
const key = (expiresAt: string | null) => ({
  ...ids,
  name: "billing",
  keyHash: "h",
  prefix: "rk_",
  last4: "x9Zk",
  expiresAt,
});
const issued = (expiresAt: string | null): ApiKeyEvent => ({ type: "ApiKeyIssued", data: { ...key(expiresAt), at } });
const rotated = (expiresAt: string): ApiKeyEvent =>
  ({ type: "ApiKeyRotated", data: { ...ids, successorId, expiresAt, at } });
const revoked: ApiKeyEvent = { type: "ApiKeyRevoked", data: { ...ids, keyHash: "h", at } };

describe("API key", () => {
  it("is issued once, with no end or one in the future", () => {
    given([])
      .when({ type: "IssueApiKey", key: key(null), at })
      .gives(issued(null));
    given([])
      .when({ type: "IssueApiKey", key: key(after), at })
      .gives(issued(after));
    for (const past of [at, before])
      given([])
        .when({ type: "IssueApiKey", key: key(past), at })
        .refused("invalid", "expiresAt");
    given([issued(null)])
      .when({ type: "IssueApiKey", key: key(null), at })
      .refused("conflict", "API key");
  });

  it("is revoked once", () => {
    given([issued(null)])
      .when({ type: "RevokeApiKey", at })
      .gives(revoked);
    given([issued(null), revoked])
      .when({ type: "RevokeApiKey", at })
      .refused("not-found", "API key");
    given([]).when({ type: "RevokeApiKey", at }).refused("not-found", "API key");
  });

  it("ends after the overlap when it is rotated, and never later than it would have", () => {
    const minute = "2026-01-15T09:31:00.000Z";
    const rotate = (overlapSeconds: number) => ({ type: "RotateApiKey", successorId, overlapSeconds, at } as const);
    given([issued(null)]).when(rotate(60)).gives(rotated(minute));
    given([issued(null)]).when(rotate(0)).gives(rotated(at));
    given([issued(after)]).when(rotate(60)).gives(rotated(after));
    given([issued(null), rotated(minute)]).when(rotate(3600)).gives(rotated(minute));
    given([issued(null), rotated(minute)]).when(rotate(0)).gives(rotated(at));
    given([issued(null), revoked]).when(rotate(60)).gives();
    expect(isUsable(folded(apiKey, [issued(null), rotated(at)]), at)).to.equal(false);
    expect(isUsable(folded(apiKey, [issued(null), rotated(minute)]), after)).to.equal(true);
  });

  it("is usable until its end, or until it is revoked", () => {
    const usable = (facts: readonly ApiKeyEvent[], now: string) => isUsable(folded(apiKey, facts), now);
    expect(usable([], at)).to.equal(false);
    expect(usable([issued(null)], after)).to.equal(true);
    expect(usable([issued(after)], at)).to.equal(true);
    expect(usable([issued(after)], after)).to.equal(false);
    expect(usable([issued(null), revoked], before)).to.equal(false);
    expect(folded(apiKey, [revoked])).to.equal(undefined);
  });
});
