import { expect } from "chai";
import { catalogue, type Catalogue } from "../../src/adapters/event-codec/catalogue.ts";
import { JsonEventCodec } from "../../src/adapters/event-codec/event-codec.ts";
import type { Metadata } from "../../src/domain/domain-event.ts";
import { eventCodecContract } from "./event-codec.ts";

describe("facts as JSON", () => {
  eventCodecContract(() => new JsonEventCodec());

  describe("old versions", () => {
    const metadata: Metadata = {
      actor: { type: "anonymous" }, correlationId: "c1", causationId: null, at: "2026-01-15T09:30:00.000Z",
    };
    const current = {
      type: "object", additionalProperties: false, required: ["first", "last", "age"],
      properties: { first: { type: "string" }, last: { type: "string" }, age: { type: ["integer", "null"] } },
    };
    const madeUp: Catalogue = {
      versions: { PersonNamed: 3 },
      upcasters: {
        PersonNamed: {
          1: (data) => {
            const [first, last] = String(data.name).split(" ");
            return { first, last };
          },
          2: (data) => ({ ...data, age: null }),
        },
      },
      schema: (name) => (name === "PersonNamed.v3" ? current : catalogue.schema(name)),
    };
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

    it("are unreadable when an upcaster fails or is missing", () => {
      expect(decode(1, null)).to.deep.equal({ unreadable: "could not be brought up to date", newer: false });
      const without = new JsonEventCodec({ ...madeUp, upcasters: {} });
      const encoded = { type: "PersonNamed", data: "{}", metadata: JSON.stringify({ ...metadata, schemaVersion: 2 }) };
      expect(without.decode(encoded)).to.deep.equal({ unreadable: "could not be brought up to date", newer: false });
    });

    it("are never written", () => {
      expect(JSON.parse(codec.encode(ada, metadata).metadata)).to.have.property("schemaVersion", 3);
    });
  });
});
