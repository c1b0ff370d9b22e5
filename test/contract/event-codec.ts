import { expect } from "chai";
import type { DomainEvent, Metadata } from "../../src/kernel/domain/domain-event.ts";
import type { EventCodec } from "../../src/kernel/ports/event-codec.ts";
import { UnacceptableEntry } from "../../src/kernel/ports/event-store.ts";

const event = {
  type: "UserPasswordChanged",
  data: {
    tenantId: "0193a1b2-c3d4-7000-8000-000000000001",
    userId: "0193a1b2-c3d4-7000-8000-000000000002",
    passwordHash: "$2b$12$s3cret",
    at: "2026-01-15T09:30:00.000Z",
  },
} as const satisfies DomainEvent;

const metadata: Metadata = {
  actor: { type: "user", id: event.data.userId, role: "Owner" },
  correlationId: "c1", causationId: null, at: event.data.at,
};

/** The contract of every codec of the domain's facts. */
export function eventCodecContract(make: () => EventCodec): void {
  describe("event codec", () => {
    const codec = make();
    const encoded = codec.encode(event, metadata);
    const reasonFor = (change: Partial<typeof encoded>): string => {
      const decoded = codec.decode({ ...encoded, ...change });
      if (!("unreadable" in decoded)) throw new Error("it was read");
      return decoded.unreadable;
    };
    const isNewer = (change: Partial<typeof encoded>) => {
      const decoded = codec.decode({ ...encoded, ...change });
      return "unreadable" in decoded && decoded.newer;
    };

    it("reads its own output", () => {
      expect(codec.decode(encoded)).to.deep.equal({ event, metadata });
      expect(encoded.type).to.equal(event.type);
      expect(JSON.parse(encoded.data)).to.deep.equal(event.data);
    });

    it("tells the time in metadata, and null for metadata that cannot be read", () => {
      expect(codec.timeOf(encoded.metadata)).to.equal(metadata.at);
      for (const damaged of ["", "{}", "[", "null"]) expect(codec.timeOf(damaged)).to.equal(null);
    });

    it("writes the schema version beside the metadata", () => {
      expect(JSON.parse(encoded.metadata)).to.deep.equal({ ...metadata, schemaVersion: 1 });
    });

    const actors: readonly Metadata["actor"][] = [
      { type: "user", id: "u", role: "Viewer" },
      { type: "apiKey", id: "k" },
      { type: "anonymous" },
      { type: "service", part: "sweeper" },
    ];
    for (const actor of actors) {
      it(`keeps the actor: ${actor.type}`, () => {
        const decoded = codec.decode(codec.encode(event, { ...metadata, actor, causationId: "m1" }));
        expect(decoded).to.deep.equal({ event, metadata: { ...metadata, actor, causationId: "m1" } });
      });
    }

    it("keeps the salt and the trace, and reads entries without them", () => {
      const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      const salted = { ...metadata, salt: "c2FsdCBvZiAxMjggYml0cw", traceparent: trace };
      const stored = codec.encode(event, salted);
      expect(JSON.parse(stored.metadata)).to.include({ salt: salted.salt, traceparent: trace });
      expect(codec.decode(stored)).to.deep.equal({ event, metadata: salted });
      expect(codec.decode(encoded)).to.deep.equal({ event, metadata });
    });

    const changed = (change: object): DomainEvent => ({ type: event.type, data: { ...event.data, ...change } });
    const unacceptable: readonly (readonly [what: string, event: DomainEvent, metadata?: object])[] = [
      ["an unknown type", { type: "UserEnchanted", data: event.data }],
      ["a type that every object has", { type: "constructor", data: {} }],
      ["a missing field", changed({ at: undefined })],
      ["a field too many", changed({ password: "s3cret" })],
      ["an id that is no UUID in lower case", changed({ userId: event.data.userId.toUpperCase() })],
      ["a time that is not UTC with milliseconds", changed({ at: "2026-01-15T09:30:00Z" })],
      ...["2026-13-15T09:30", "2026-00-15T09:30", "2026-01-32T09:30", "2026-01-00T09:30", "2026-01-15T24:30"].map(
        (time) => ["a time that there is not", changed({ at: `${time}:00.000Z` })] as const),
      ["metadata without an actor", event, { actor: undefined }],
      ["an actor that is incomplete", event, { actor: { type: "user", id: "u" } }],
      ["an actor of another kind", event, { actor: { type: "ghost" } }],
    ];
    for (const [what, bad, change] of unacceptable) {
      it(`refuses to write ${what}, without quoting it`, () => {
        expect(() => codec.encode(bad, { ...metadata, ...change })).to.throw(UnacceptableEntry)
          .with.property("message").that.does.not.include("s3cret");
      });
    }

    const unreadable: readonly (readonly [what: string, change: Partial<typeof encoded>])[] = [
      ["an unknown type", { type: "UserEnchanted" }],
      ["a type that every object has", { type: "__proto__" }],
      ["a newer version", { metadata: JSON.stringify({ ...metadata, schemaVersion: 99 }) }],
      ["version 0", { metadata: JSON.stringify({ ...metadata, schemaVersion: 0 }) }],
      ["no version", { metadata: JSON.stringify(metadata) }],
      ["data that is not JSON", { data: '{"s3cret":' }],
      ["metadata that is not JSON", { metadata: "s3cret" }],
      ["empty texts", { data: "", metadata: "" }],
      ["data that is no object", { data: "null" }],
      ["data that is a list", { data: "[]" }],
      ["data with a field of the wrong type", { data: JSON.stringify({ ...event.data, userId: "s3cret" }) }],
    ];
    for (const [what, change] of unreadable) {
      it(`calls ${what} unreadable, without quoting it`, () => {
        expect(reasonFor(change)).to.match(/\w/).and.not.include("s3cret");
      });
    }

    const versioned = (schemaVersion: unknown) => ({ metadata: JSON.stringify({ ...metadata, schemaVersion }) });
    const newer: readonly (readonly [what: string, change: Partial<typeof encoded>, newer: boolean])[] = [
      ["an unknown type", { type: "UserEnchanted" }, true],
      ["an unknown version", versioned(2), true],
      ["an unknown version whose data has another shape", { data: "[1]", ...versioned(2) }, true],
      ["an unknown type whose data is not JSON", { type: "UserEnchanted", data: "{" }, false],
      ["an unknown type whose metadata is not JSON", { type: "UserEnchanted", metadata: "{" }, false],
      ["an unknown type that does not say its version", { type: "UserEnchanted", ...versioned(undefined) }, false],
      ["an unknown version whose data is not JSON", { data: "{", ...versioned(2) }, false],
      ["a known version that violates its schema", { data: "{}" }, false],
      ["a known type that does not say its version", versioned("2"), false],
    ];
    for (const [what, change, expected] of newer) {
      it(`takes ${what} for ${expected ? "a newer release's" : "damaged"}`, () => {
        expect(reasonFor(change)).to.match(/\w/);
        expect(isNewer(change)).to.equal(expected);
      });
    }

    it("leaves out a field that a later release added to a version, and writes the rest again", () => {
      const data = JSON.stringify({ ...event.data, mood: "fine", more: { deep: [1] } });
      const decoded = codec.decode({ ...encoded, data });
      expect(decoded).to.deep.equal({ event, metadata });
      expect(codec.encode("event" in decoded ? decoded.event : event, metadata)).to.deep.equal(encoded);
    });

    it("does not let an added field hide a missing or wrong one", () => {
      for (const change of [{ userId: undefined }, { userId: 5 }]) {
        expect(reasonFor({ data: JSON.stringify({ ...event.data, ...change, mood: "fine" }) })).to.match(/\w/);
      }
    });

    it("ignores metadata that a later release added", () => {
      const stored = JSON.stringify({ ...JSON.parse(encoded.metadata) as object, region: "eu" });
      expect(codec.decode({ ...encoded, metadata: stored })).to.have.property("event").deep.equal(event);
    });
  });
}
