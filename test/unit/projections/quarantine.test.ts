import { expect } from "chai";
import { quarantineStream, takeBack } from "../../../projections/quarantine/quarantine.ts";
import type { Change } from "../../../src/kernel/ports/read-models.ts";

const eventId = "00000000-0000-4000-8000-000000000005";
const destinationId = "00000000-0000-4000-8000-000000000003";

describe("quarantined streams", () => {
  const entry = { stream: `event-${eventId}`, revision: 3, type: "Odd", reason: "unknown type", newer: true };
  const retry = { eventId, destinationId, dueAt: "2026-01-15T09:30:00.000Z" };
  const due: Change[] = [
    { op: "put", collection: "leases", key: `${eventId}:1`, document: { key: `${eventId}:1` }, fresh: true },
    { op: "remove", collection: "leases", key: `${eventId}:1` },
    { op: "put", collection: "waiting", key: eventId, document: retry, fresh: true },
  ];

  it("remove their event from the due index", () => {
    expect(quarantineStream(entry, due)).to.deep.equal([
      { op: "put", collection: "quarantine", key: entry.stream, document: entry },
      { op: "remove", collection: "leases", key: `${eventId}:1` },
      { op: "remove", collection: "waiting", key: eventId },
    ]);
  });

  it("restore their event in the due index, as its facts left it", () => {
    expect(takeBack(entry.stream, due)).to.deep.equal([
      { op: "remove", collection: "quarantine", key: entry.stream },
      { op: "remove", collection: "leases", key: `${eventId}:1` },
      { op: "put", collection: "waiting", key: eventId, document: retry },
    ]);
  });
});
