import { expect } from "chai";
import fc from "fast-check";
import { traceparentOf } from "../../../../src/http/ingest/event-headers.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";
const valid = `00-${trace}-${parent}-01`;

describe("a traceparent", () => {
  it("is kept unchanged if it is valid by W3C Trace Context", () => {
    for (const traceparent of [
      valid, `00-${trace}-${parent}-00`, `00-${trace}-${parent}-ff`, `01-${trace}-${parent}-01`,
      `fe-${trace}-${parent}-01`, `01-${trace}-${parent}-01-`, `01-${trace}-${parent}-01-what.the=future(brings)`,
      `01-${trace}-${parent}-01-${"x".repeat(200)}`, `00-${"0".repeat(31)}1-${"0".repeat(15)}1-00`,
    ]) {
      expect(traceparentOf({ traceparent }), traceparent).to.equal(traceparent);
    }
  });

  it("is left out if it is missing or not valid", () => {
    for (const traceparent of [
      "", "00", valid.slice(0, -1), `${valid}0`, `${valid}-`, `${valid}-00`, ` ${valid}`, `${valid} `, `${valid}\n`,
      valid.toUpperCase(), `0-${trace}-${parent}-01`, `ff-${trace}-${parent}-01`, `00-${"0".repeat(32)}-${parent}-01`,
      `00-${trace}-${"0".repeat(16)}-01`, `00-${trace.replace("4", "g")}-${parent}-01`, `00_${trace}_${parent}_01`,
      `00-${trace}-${parent}-1`, `00-${parent}-${trace}-01`, `01-${trace}-${parent}-01x`, `01-${trace}-${parent}`,
      `${valid}, ${valid}`, `01-${trace}-${parent}-01-x, ${valid}`, `01-${trace}-${parent}-01-${"x".repeat(201)}`,
    ]) {
      expect(traceparentOf({ traceparent }), traceparent).to.equal(undefined);
    }
    expect(traceparentOf({})).to.equal(undefined);
    fc.assert(fc.property(fc.string(), (traceparent) => traceparentOf({ traceparent }) === undefined));
  });
});
