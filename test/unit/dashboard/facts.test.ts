import { expect } from "chai";
import { barShapes } from "../../../packages/dashboard/src/parts/bars.ts";
import { changesOf } from "../../../packages/dashboard/src/parts/changes.ts";
import { factWords } from "../../../packages/dashboard/src/parts/fact-words.ts";
import { facts } from "../../../src/features/facts.ts";
import { shownData } from "../../../src/kernel/domain/history-fields.ts";
import { examplesOf } from "../../support/fact-examples.ts";

const ids = { destinationId: "d", tenantId: "t", at: "2026-01-01T00:00:00.000Z" };
const circuit = { ...ids, position: "Closed", openUntil: null, probe: null, eventId: "e" } as const;

describe("the words of a fact", () => {
  it("say what changed, and its new value", () => {
    const data = { ...ids, url: "https://a.example/<b>" };
    expect(factWords({ type: "DestinationUrlChanged", data })).to.equal("changed the URL to https://a.example/<b>");
  });

  it("are whole for every fact that people are shown", () => {
    for (const [type] of [...facts].filter(([, { shown }]) => shown)) {
      for (const { data } of examplesOf(type)) {
        const shown = { type, data: shownData({ type, data }) } as Parameters<typeof factWords>[0];
        expect(factWords(shown), type).not.to.match(/^wrote |[{}]/);
      }
    }
  });

  it("count failures in a row, and name the pause that a receiver asked for", () => {
    const counted = (fields: object) =>
      factWords({ type: "CircuitCounted", data: { ...circuit, failures: 0, ...fields } });
    expect(counted({ failures: 1 })).to.equal("counts 1 failed attempt");
    expect(counted({ failures: 3 })).to.equal("counts 3 failed attempts in a row");
    expect(counted({})).to.equal("counts no failed attempt any longer");
    expect(counted({ pausedUntil: "2026-01-01T00:00:09.000Z" }))
      .to.equal("pauses until 2026-01-01T00:00:09.000Z, as the receiver asked");
  });

  it("name the type of a fact that is newer than the pages", () => {
    const newer = { type: "DestinationPainted", data: {} } as unknown as Parameters<typeof factWords>[0];
    expect(factWords(newer)).to.equal("wrote DestinationPainted");
  });
});

describe("the changes between two states", () => {
  it("have what was and what is of each field that differs, also of fields that one state lacks", () => {
    expect(changesOf({ url: "a", limit: 5, auth: "ApiKey" }, { url: "b", limit: 5, status: "Active" })).to.deep.equal([
      { field: "url", before: "a", after: "b" },
      { field: "status", before: null, after: "Active" },
      { field: "auth", before: "ApiKey", after: null },
    ]);
  });

  it("tell no value from no field neither by null nor by undefined", () => {
    expect(changesOf({ auth: null }, { auth: undefined })).to.deep.equal([]);
  });
});

describe("the bars of a sparkline", () => {
  it("let the highest fill the height, and keep one failure among thousands visible", () => {
    const [first, second] = barShapes([{ good: 5_000, bad: 1 }, { good: 0, bad: 0 }], { width: 100, height: 24 });
    expect(first!.goodHeight).to.be.within(21, 22);
    expect(first!.badHeight).to.equal(2);
    expect(second).to.deep.include({ x: 50, goodHeight: 0, badHeight: 0 });
  });

  it("are flat where nothing happened", () => {
    expect(barShapes([{ good: 0, bad: 0 }], { width: 10, height: 24 })).to.deep.equal(
      [{ x: 0, width: 9, goodHeight: 0, badHeight: 0 }]);
  });
});
