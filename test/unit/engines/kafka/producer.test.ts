import { expect } from "chai";
import type { Line } from "../../../../src/engines/kafka/client.ts";
import { WorkProducer } from "../../../../src/engines/kafka/producer.ts";
import { QueueUnavailable } from "../../../../src/kernel/ports/work-queue.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";
import { firstAttempt } from "../../../support/work-recorder.ts";

describe("a publication that takes several sends", () => {
  const payload = "x".repeat(500_000);
  const items = ["a", "b"].map((id) => firstAttempt(id, { payload }));
  /** The number of messages in each send. */
  let sends: number[];
  const publish = (answer: (send: number) => Promise<void>) => {
    sends = [];
    const driver = {
      connect: async () => undefined,
      send: ({ messages }: { readonly messages: readonly unknown[] }) => answer(sends.push(messages.length)),
    };
    const line = { kafka: { producer: () => driver }, cut: () => undefined } as unknown as Line;
    const producer = new WorkProducer({
      connect: () => line, topic: "relay.work", clock: new ManualClock(), logger: quiet, ready: async () => undefined,
    });
    return producer.publish(items);
  };

  it("fails when only the first send was acknowledged", async () => {
    const publishing = publish(async (send) => {
      if (send > 1) throw new Error("no leader");
    });
    expect(await failureOf(publishing)).to.be.instanceOf(QueueUnavailable);
    expect(sends).to.deep.equal([1, 1]);
  });

  it("fails in the end where the brokers refuse a send of any size", async () => {
    const refusal = Object.assign(new Error("refused"), { type: "MESSAGE_TOO_LARGE" });
    expect(await failureOf(publish(() => Promise.reject(refusal)))).to.be.instanceOf(QueueUnavailable);
    // From 900,000 bytes down to 1,000, by halves.
    expect(sends).to.have.length(11);
  });
});
