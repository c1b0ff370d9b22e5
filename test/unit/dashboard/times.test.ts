import process from "node:process";
import { expect } from "chai";
import { ticksOf } from "../../../packages/dashboard/src/parts/time-axis.ts";
import { agoText } from "../../../packages/dashboard/src/parts/times.ts";
import { fieldTime, timeInField, today, typedMoment } from "../../../packages/dashboard/src/parts/typed-time.ts";

describe("a time in a field", () => {
  const { TZ } = process.env;
  before(() => {
    process.env["TZ"] = "Europe/Berlin";
  });
  after(() => {
    if (TZ === undefined) delete process.env["TZ"];
    else process.env["TZ"] = TZ;
  });

  it("is the same moment again, in either zone", () => {
    const at = "2026-11-26T12:00:00.000Z";
    for (const zone of ["UTC", "local"] as const) {
      expect(timeInField(fieldTime(at, zone), zone)).to.equal(at);
      expect(timeInField("", zone)).to.equal("");
      expect(fieldTime(undefined, zone)).to.equal("");
      expect(fieldTime("1790000000000x", zone)).to.equal("");
    }
    expect(fieldTime(at, "UTC")).to.equal("2026-11-26 12:00:00");
    expect(fieldTime(at, "local")).to.equal("2026-11-26 13:00:00");
  });

  const [first, second] = ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"];

  it("stays the chosen one of two moments that autumn's clocks show alike, in a shorter text too", () => {
    for (const at of [first, second]) {
      expect(fieldTime(at, "local")).to.equal("2026-10-25 02:30:00");
      for (const text of ["2026-10-25 02:30:00.000", "2026-10-25 02:30"]) {
        expect(timeInField(text, "local", at)).to.equal(at);
      }
    }
    expect(timeInField("2026-10-25 02:30", "local", "2026-10-25T01:30:00Z")).to.equal("2026-10-25T01:30:00Z");
  });

  it("stays in the same of autumn's two hours where only its minutes change", () => {
    expect(timeInField("2026-10-25 02:45", "local", first)).to.equal("2026-10-25T00:45:00.000Z");
    expect(timeInField("2026-10-25 02:45", "local", second)).to.equal("2026-10-25T01:45:00.000Z");
    expect(timeInField("2026-10-25 12:00", "local", first)).to.equal("2026-10-25T11:00:00.000Z");
  });

  it("is behind the hour that spring's clocks skip, and stays there", () => {
    for (const shown of [undefined, "2026-03-29T00:30:00.000Z", "2026-03-29T05:00:00.000Z"]) {
      const at = timeInField("2026-03-29 02:30", "local", shown);
      expect(at).to.equal("2026-03-29T01:30:00.000Z");
      expect(fieldTime(at, "local")).to.equal("2026-03-29 03:30:00");
      expect(timeInField("2026-03-29 03:30", "local", at)).to.equal(at);
    }
  });

  it("has its milliseconds, and every digit of an unchanged moment", () => {
    const at = "2026-11-26T12:00:00.503Z";
    expect(fieldTime(at, "UTC")).to.equal("2026-11-26 12:00:00.503");
    expect(timeInField("2026-11-26 12:00:00.503", "UTC", "2026-11-26T12:00:00.503000Z")).to.equal(
      "2026-11-26T12:00:00.503000Z");
  });

  it("is a time of a given day unless the text names another, or of today", () => {
    const read = (typed: string) => typedMoment(typed, "UTC", "2026-11-25");
    expect(read("10:05")).to.equal("2026-11-25T10:05:00.000Z");
    expect(read(" 9:05:07.5 ")).to.equal("2026-11-25T09:05:07.500Z");
    expect(read("2026-11-24 10:05:30,250")).to.equal("2026-11-24T10:05:30.250Z");
    expect(read("2026-11-24T10:05:00+01:00")).to.equal("2026-11-24T09:05:00.000Z");
    for (const typed of ["", "10", "25:00", "10:05 PM", "yesterday", "2026-13-01 10:05"]) {
      expect(read(typed), typed).to.equal(undefined);
    }
    expect(timeInField("10:05", "UTC")).to.equal(`${today("UTC")}T10:05:00.000Z`);
  });

  it("that is none stays a text, for the relay to refuse", () => {
    const none = "275761-01-01T00:00";
    for (const zone of ["UTC", "local"] as const) expect(timeInField(none, zone)).to.equal(none);
  });
});

describe("an age", () => {
  it("is told in one unit, and in tens of seconds", () => {
    const texts = [-7_200_000, 4_000, 59_000, 60_000, 3_599_000, 86_400_000].map(agoText);
    expect(texts).to.deep.equal(["in 2 h", "just now", "50 s ago", "1 min ago", "59 min ago", "1 d ago"]);
  });
});

describe("the axis of a time", () => {
  it("has round times of the zone, and the day where one begins", () => {
    const [from, to] = [Date.parse("2026-11-25T22:10:00Z"), Date.parse("2026-11-26T04:00:00Z")];
    expect(ticksOf({ from, to }, "UTC").map(({ label }) => label))
      .to.deep.equal(["23:00", "11-26", "01:00", "02:00", "03:00", "04:00"]);
    expect(ticksOf({ from, to: from + 60_000 }, "UTC").map(({ label }) => label)).to.deep.equal(["22:10", "22:11"]);
    expect(ticksOf({ from, to: from + 5 * 86_400_000 }, "UTC").map(({ label }) => label))
      .to.deep.equal(["11-26", "11-27", "11-28", "11-29", "11-30"]);
  });
});
