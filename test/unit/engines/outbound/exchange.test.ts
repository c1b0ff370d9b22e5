import { expect } from "chai";
import type { Dispatcher } from "undici";
import { Exchange, type OutboundResult } from "../../../../src/engines/outbound/exchange.ts";

describe("exchange", () => {
  it("sends nothing when its connection is ready after the deadline, but before the timer fires", async () => {
    const { promise, resolve } = Promise.withResolvers<OutboundResult>();
    const exchange = new Exchange(10, 0, 15_000, resolve);
    let aborted = false;
    // The connection is ready; the timer has not fired yet.
    exchange.onRequestStart({ abort: () => (aborted = true) } as unknown as Dispatcher.DispatchController);
    expect(aborted).to.equal(true);
    expect(await promise).to.deep.equal({
      answered: false, reason: "timeout", error: "no answer within 15000 ms", connected: false,
    });
  });

  it("reports a body that broke off, or met the deadline, as truncated", async () => {
    const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;
    for (const cut of [
      (exchange: Exchange) => exchange.onResponseError(controller, new Error("reset")),
      (exchange: Exchange) => exchange.expire(),
    ]) {
      const { promise, resolve } = Promise.withResolvers<OutboundResult>();
      const exchange = new Exchange(10, 15_000, 15_000, resolve);
      exchange.onRequestStart(controller);
      exchange.onResponseStart(controller, 200, {});
      exchange.onResponseData(controller, Buffer.from("half"));
      cut(exchange);
      expect(await promise).to.deep.equal(
        { answered: true, statusCode: 200, headers: {}, body: Buffer.from("half"), truncated: true });
    }
  });

  it("has the complete answer where the status allows no body but one follows, and drops the connection", async () => {
    const { promise, resolve } = Promise.withResolvers<OutboundResult>();
    const exchange = new Exchange(10, 15_000, 15_000, resolve);
    const controller = {
      abort: (error: Error) => exchange.onResponseError(controller, error),
    } as unknown as Dispatcher.DispatchController;
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 204, { "transfer-encoding": "chunked" });
    expect(await promise).to.deep.include({ answered: true, statusCode: 204, truncated: false });
  });
});
