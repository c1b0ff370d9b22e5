import { expect } from "chai";
import fc from "fast-check";
import {
  availability, evolve, type ReservationEvent, type ReservationState,
} from "../../../../src/features/tenants/reservations/facts.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { comparableEmail, comparableName } from "../../../../src/kernel/tools/hashing.ts";

const holder = { tenantId: "0193a1b2-c3d4-7000-8000-000000000001", userId: null };
const startMs = Date.parse("2026-01-15T09:30:00.000Z");
const fact = (type: ReservationEvent["type"], ms: number): ReservationEvent => ({
  type,
  data: { holder, at: timestamp(startMs + ms) },
});
const after = (facts: readonly ReservationEvent[]) =>
  facts.reduce<ReservationState>((state, each) => evolve(state, each), undefined);
const asked = (facts: readonly ReservationEvent[], ms: number) => availability(after(facts), timestamp(startMs + ms));

describe("reservation", () => {
  it("leaves a name free that was never taken, or was released", () => {
    expect(asked([], 0)).to.equal("free");
    expect(asked([fact("NameReserved", 0), fact("NameReleased", 1)], 2)).to.equal("free");
    expect(after([fact("NameReserved", 0), fact("NameReleased", 1)])?.holder).to.equal(null);
  });

  it("keeps a name for its holder, and becomes doubtful after 30 s", () => {
    expect(after([fact("NameReserved", 0)])).to.deep.equal({ holder, since: timestamp(startMs) });
    expect(asked([fact("NameReserved", 0)], 0)).to.equal("held");
    expect(asked([fact("NameReserved", 0)], 30_000)).to.equal("held");
    expect(asked([fact("NameReserved", 0)], 30_001)).to.equal("doubtful");
  });

  it("becomes doubtful by the age of the newest reservation, and not by a clock that was set back", () => {
    const again = [fact("NameReserved", 0), fact("NameReleased", 10_000), fact("NameReserved", 40_000)];
    expect(asked(again, 41_000)).to.equal("held");
    expect(asked(again, -3_600_000)).to.equal("held");
  });
});

describe("comparable names", () => {
  it("are equal for addresses that differ in case or in the encoding of accents", () => {
    const one = comparableEmail("José.ÖZ@Example.COM");
    for (const same of ["josé.öz@example.com", "JOSE\u0301.o\u0308z@example.com"])
      expect(comparableEmail(same)).to.equal(one);
    for (const other of ["jose.öz@example.com", " josé.öz@example.com", "josé.oz@example.com"]) {
      expect(comparableEmail(other)).to.not.equal(one);
    }
  });

  it("do not change from release to release: the log holds their hashes", () => {
    expect(comparableEmail("Ann.Weiß@Example.COM")).to.equal("ann.weiss@example.com");
    expect(comparableName(" Kılıç GmbH")).to.equal("kılıç gmbh");
  });

  it("are computed in little time for a text that is too long for an address", () => {
    const accents = "\u0301".repeat(60_000) + "\u0323".repeat(60_000);
    const before = process.cpuUsage();
    expect(comparableEmail(`a${accents}@example.com`)).to.not.equal(comparableEmail("a@example.com"));
    expect(process.cpuUsage(before).user).to.be.below(500_000);
  });

  it("are equal for tenants' names that differ in blanks around them", () => {
    expect(comparableName("  Acme\u00a0GmbH\n")).to.equal(comparableName("ACME\u00a0gmbh"));
    expect(comparableName("Acme GmbH")).to.not.equal(comparableName("AcmeGmbH"));
  });

  it("are equal for letters with the same upper case", () => {
    for (const [one, same] of [
      ["ΣΊΣΥΦΟΣ2", "Σίσυφοσ2"], ["Maſs", "MASS"], ["\u00b5-Labs", "\u039c-LABS"], ["Straße", "STRASSE"],
    ] as const) expect(comparableName(one)).to.equal(comparableName(same));
    expect(comparableName("Kılıç")).to.not.equal(comparableName("Kiliç"));
  });

  it("are the same for every composition of a text, and stay the same when compared again", () => {
    const letters = fc.string({
      unit: fc.constantFrom("a", "A", "ß", "ẞ", "ǰ", "J\u030c", "é", "E\u0301", "İ", "ı", "ſ", "ς", "Σ", "K", " "),
    });
    fc.assert(
      fc.property(letters, (text) => {
        for (const comparable of [comparableEmail, comparableName]) {
          const form = comparable(text);
          expect(comparable(form)).to.equal(form);
          expect(comparable(text.normalize("NFD"))).to.equal(form);
          expect(form).to.equal(form.normalize("NFC"));
        }
      }),
    );
    expect(comparableName("J\u030c")).to.equal(comparableName("ǰ"));
    // In upper case its iota is a separate letter, and a mark behind it would move there.
    expect(comparableName("α\u0345\u0313")).to.equal(comparableName("ᾀ"));
  });
});
