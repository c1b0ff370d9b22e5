import { expect } from "chai";
import type { Admin } from "kafkajs";
import { KafkaAdmin } from "../../../../src/adapters/kafka/admin.ts";
import type { Line } from "../../../../src/adapters/kafka/client.ts";
import { QueueUnavailable } from "../../../../src/ports/work-queue.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("questions to the brokers", () => {
  let clock: ManualClock;
  /** Each connection that was begun: `made` ends the making. */
  let lines: { made: PromiseWithResolvers<void>; isCut: boolean }[];
  let admin: KafkaAdmin;
  beforeEach(() => {
    clock = new ManualClock();
    lines = [];
    admin = new KafkaAdmin(() => {
      const line = { made: Promise.withResolvers<void>(), isCut: false };
      lines.push(line);
      const kafka = { admin: () => ({ connect: () => line.made.promise }) as Admin };
      return { kafka, cut: () => { line.isCut = true; } } as unknown as Line;
    }, clock);
  });

  const ping = () => admin.ask("ping", 1_000, async () => "pong");

  it("that would not wait for a connection leave it to the next", async () => {
    const hasty = failureOf(ping());
    clock.advance(1_000);
    expect(await hasty).to.be.instanceOf(QueueUnavailable);
    lines[0]!.made.resolve();
    expect(await ping()).to.equal("pong");
    expect(lines.map(({ isCut }) => isCut)).to.deep.equal([false]);
  });

  it("go over another connection where one could not be made, or one gave no answer", async () => {
    const first = failureOf(ping());
    lines[0]!.made.reject(new Error("refused"));
    await first;
    const second = failureOf(admin.ask("ping", 1_000, () => new Promise(() => undefined)));
    lines[1]!.made.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    await second;
    const third = ping();
    lines[2]!.made.resolve();
    expect(await third).to.equal("pong");
    expect(lines.map(({ isCut }) => isCut)).to.deep.equal([true, true, false]);
  });
});
