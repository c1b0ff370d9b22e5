import { expect } from "chai";
import type { Dispatcher } from "undici";
import { Exchange, type Outcome } from "../../../../src/adapters/outbound/exchange.ts";

describe("exchange", () => {
  it("sends nothing any more when its connection is heard of before the deadline that came first", async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const exchange = new Exchange(10, 0, 15_000, resolve);
    let aborted = false;
    // Of a connection, when the timer has not fired yet.
    exchange.onRequestStart({ abort: () => (aborted = true) } as unknown as Dispatcher.DispatchController);
    expect(aborted).to.equal(true);
    expect(await promise).to.deep.equal({ answered: false, reason: "timeout", error: "no answer within 15000 ms" });
  });
});
