import { expect } from "chai";
import fc from "fast-check";
import createInvite from "../../../../schemas/requests/create-invite.json" with { type: "json" };
import createUser from "../../../../schemas/requests/create-user.json" with { type: "json" };
import listUsers from "../../../../schemas/requests/list-users.json" with { type: "json" };
import { passwordProblem } from "../../../../src/kernel/callers/input-rules.ts";
import { eventIdOf, keyOfEvent } from "../../../../src/kernel/domain/event-id.ts";
import { atLeast, rolesByCode } from "../../../../src/kernel/domain/roles.ts";
import { categoryOf, streams, subjectOf } from "../../../../src/kernel/domain/streams.ts";
import { millis, timestamp } from "../../../../src/kernel/domain/time.ts";

describe("roles", () => {
  it("have the codes that requests may name, and no others", () => {
    expect(rolesByCode).to.deep.equal({ 0: "Developer", 1: "Admin", 10: "Owner", 20: "Viewer" });
    const named = [createUser, createInvite].map(({ properties }) => properties.role);
    for (const { enum: codes } of [...named, listUsers.properties.Role]) {
      expect(codes.map(String)).to.deep.equal(Object.keys(rolesByCode));
    }
  });

  it("rank in the order Owner, Admin, Developer, Viewer", () => {
    const downwards = ["Owner", "Admin", "Developer", "Viewer"] as const;
    for (const [rank, role] of downwards.entries()) {
      for (const [other, least] of downwards.entries()) expect(atLeast(role, least)).to.equal(rank <= other);
    }
  });
});

describe("stream names", () => {
  it("give the category and the subject, also with dashes in ids", () => {
    const id = "0193a1b2-c3d4-7000-8000-000000000001";
    for (const kind of [
      "tenant",
      "destination",
      "circuit",
      "apiKey",
      "session",
      "person",
      "email",
      "tenantName",
    ] as const) {
      expect(categoryOf(streams[kind](id))).to.equal(kind);
      expect(subjectOf(streams[kind](id))).to.equal(id);
    }
    expect(categoryOf(streams.event(id))).to.equal("event");
    expect(subjectOf(streams.event(id))).to.equal(keyOfEvent(id)).and.equal("7000-8000-000000000001");
    expect(categoryOf(streams.platform)).to.equal("platform");
    expect(subjectOf(streams.platform)).to.equal("platform");
  });
});

describe("ids of events", () => {
  it("begin with the time, end with the key, and sort as time does", () => {
    const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [one, other] = [eventIdOf(a, "8fff-bfff-ffffffffffff"), eventIdOf(b, "8000-8000-000000000000")];
        expect(one).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8fff-bfff-f{12}$/);
        expect(keyOfEvent(other)).to.equal("8000-8000-000000000000");
        if (a < b) expect(one < other).to.equal(true);
      }),
    );
    expect(eventIdOf(Date.UTC(2026, 10, 21), "8000-8000-000000000000")).to.match(/^01a1fb67-1800-/);
  });
});

describe("timestamps", () => {
  it("keep the millisecond, and sort as time does", () => {
    const any = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(millis(timestamp(a))).to.equal(a);
        expect(timestamp(a) < timestamp(b)).to.equal(a < b);
      }),
    );
  });
});

describe("passwords", () => {
  it("are 8 to 72 bytes of UTF-8", () => {
    for (const good of ["12345678", "é€😀", "x".repeat(72), "é".repeat(36), "😀".repeat(18)]) {
      const bytes = Buffer.byteLength(good);
      expect(passwordProblem(good) === null, good).to.equal(bytes >= 8 && bytes <= 72);
    }
    for (const bad of ["", "1234567", "x".repeat(73), "é".repeat(37), `${"😀".repeat(18)}x`]) {
      expect(passwordProblem(bad), bad).to.include("8 to 72 bytes");
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const bytes = Buffer.byteLength(text);
        expect(passwordProblem(text)?.includes("8 to 72 bytes") ?? false).to.equal(bytes < 8 || bytes > 72);
      }),
    );
  });

  it("contain no characters that bcrypt cannot tell apart", () => {
    expect(passwordProblem("password\0password")).to.include("NUL");
    expect(passwordProblem("password\ud800")).to.include("Unicode");
  });
});
