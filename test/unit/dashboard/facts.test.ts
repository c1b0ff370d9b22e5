import { expect } from "chai";
import { factWords } from "../../../packages/dashboard/src/parts/fact-words.ts";
import { facts, shownData } from "../../../src/features/facts.ts";
import { examplesOf } from "../../support/fact-examples.ts";

const ids = { destinationId: "d", tenantId: "t", at: "2026-01-01T00:00:00.000Z" };
const circuit = { ...ids, position: "Closed", openUntil: null, probe: null, eventId: "e" } as const;

describe("the words of a fact", () => {
  it("name the changed setting and its new value", () => {
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
