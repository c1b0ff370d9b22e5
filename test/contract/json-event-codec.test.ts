import { expect } from "chai";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import type { Metadata } from "../../src/kernel/domain/domain-event.ts";
import { internalFact } from "../../src/kernel/domain/fact.ts";
import { anyText, integer, nullable } from "../../src/kernel/domain/schema.ts";
import { eventCodecContract } from "./event-codec.ts";

describe("facts as JSON", () => {
  eventCodecContract(() => new JsonEventCodec());

  describe("old versions", () => {
    const metadata: Metadata = {
      actor: { type: "anonymous" }, correlationId: "c1", causationId: null, at: "2026-01-15T09:30:00.000Z",
    };
    const madeUp = new Map([["PersonNamed", internalFact({
      data: { first: anyText(), last: anyText(), age: nullable(integer(0)) },
      meaning: "A person is named.",
      upcasters: [
        (data) => {
          const [first, last] = String(data["name"]).split(" ");
          return { first, last };
        },
        (data) => ({ ...data, age: null }),
      ],
    })]]);
    const codec = new JsonEventCodec(madeUp);
    const decode = (schemaVersion: number, data: unknown) =>
      codec.decode({
        type: "PersonNamed", data: JSON.stringify(data), metadata: JSON.stringify({ ...metadata, schemaVersion }),
      });
    const ada = { type: "PersonNamed", data: { first: "Ada", last: "Lovelace", age: null } };

    it("are brought up to date, step by step", () => {
      expect(decode(1, { name: "Ada Lovelace" })).to.deep.equal({ event: ada, metadata });
      expect(decode(2, { first: "Ada", last: "Lovelace" })).to.deep.equal({ event: ada, metadata });
      expect(decode(3, ada.data)).to.deep.equal({ event: ada, metadata });
    });

    it("are checked after upcasting", () => {
      expect(decode(1, { name: "Ada" })).to.have.property("unreadable").that.includes("required");
      expect(decode(2, { name: "Ada Lovelace" })).to.have.property("unreadable");
    });

    it("are unreadable when an upcaster fails", () => {
      expect(decode(1, null)).to.deep.equal({ unreadable: "could not be brought up to date", newer: false });
    });

    it("are never written", () => {
      expect(JSON.parse(codec.encode(ada, metadata).metadata)).to.have.property("schemaVersion", 3);
    });
  });
});
