import { once } from "node:events";
import { createServer, connect } from "node:net";
import { expect } from "chai";
import { QueueUnavailable } from "../../../src/kernel/ports/work-queue.ts";
import { until } from "../../contract/event-store/harness.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "../../support/engines/kafka.ts";
import type { Secure } from "../../support/engines/kafka/broker.ts";
import { KafkaQueues } from "../../support/kafka-queues.ts";
import { makeAuthority } from "../../support/tls.ts";
import { firstAttempt, WorkRecorder } from "../../support/work-recorder.ts";

describe("Kafka's connections", function () {
  this.timeout(60_000);
  let kafka: KafkaUnderTest;
  let queues: KafkaQueues;
  let recorder: WorkRecorder;

  before(async function () { kafka = await kafkaOrSkip(this); });

  beforeEach(() => {
    queues = new KafkaQueues();
    recorder = new WorkRecorder();
  });

  afterEach(() => queues.close());

  describe("with TLS and SASL", () => {
    let ca: { readonly pem: string };
    let secure: Secure;

    before(function () {
      if (!kafka.secure) this.skip();
      secure = kafka.secure;
      ca = { pem: secure.caPem };
    });

    const refused = async (settings: Parameters<KafkaQueues["open"]>[1]) => {
      const { queue, log } = queues.open(secure.brokers, settings);
      const error: unknown = await queue.publish([firstAttempt("a")]).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(QueueUnavailable);
      await queue.consume(recorder);
      await until("it says that it cannot join", () => log.some(({ level }) => level === "warn"));
      return log;
    };

    for (const mechanism of ["plain", "scram-sha-256", "scram-sha-512"] as const) {
      it(`publishes and consumes (${mechanism})`, async () => {
        const { username, password } = secure;
        const { queue } = queues.open(secure.brokers, { tls: { ca }, sasl: { mechanism, username }, password });
        await queue.consume(recorder);
        await queue.publish([firstAttempt("a")]);
        await until("it is taken", () => recorder.eventIds.includes("a"));
        await queue.ping();
      });

      it(`refuses a wrong password, and shows it nowhere (${mechanism})`, async () => {
        const { username } = secure;
        const password = "not-the-right-one";
        const log = await refused({ tls: { ca }, sasl: { mechanism, username }, password });
        expect(log.map(({ fields, message }) => `${message}${told(fields)}`).join()).to.not.include(password);
      });
    }

    it("trusts only the configured authority", async () => {
      const other = { pem: makeAuthority().caPem };
      const { username, password } = secure;
      await refused({ tls: { ca: other }, sasl: { mechanism: "plain", username }, password });
      await refused({ tls: { ca: null }, sasl: { mechanism: "plain", username }, password });
    });
  });

  it("may begin at an IPv6 address", async function () {
    const [, port = ""] = kafka.brokers[0]?.split(":") ?? [];
    const way = createServer((client) => {
      const broker = connect(Number(port), "127.0.0.1");
      client.on("error", () => broker.destroy()).pipe(broker).on("error", () => client.destroy()).pipe(client);
    });
    way.listen(0, "::1");
    try {
      await once(way, "listening");
    } catch {
      this.skip();
    }
    const { port: at } = way.address() as { port: number };
    try {
      const { queue } = queues.open([`[::1]:${at}`]);
      await until("an item is published", () => queue.publish([firstAttempt("a")]).then(() => true, () => false));
    } finally {
      way.close();
    }
  });
});

/** All texts of a line's fields and of the error among them, its causes included. */
function told(fields: object): string {
  const texts: string[] = [JSON.stringify(fields)];
  for (let error = (fields as { err?: unknown }).err; error instanceof Error; error = error.cause) {
    texts.push(error.message, error.stack ?? "", JSON.stringify(error));
  }
  return texts.join();
}
