import { type KafkaUnderTest, kafkaOrSkip } from "../support/engines/kafka.ts";
import { proxyFor } from "../support/engines/kafka/proxy.ts";
import { KafkaQueues } from "../support/kafka-queues.ts";
import { workQueueContract } from "./work-queue.ts";

describe("Kafka", () => {
  let kafka: KafkaUnderTest;

  before(async function () { kafka = await kafkaOrSkip(this); });

  workQueueContract(
    "Kafka",
    async () => {
      const queues = new KafkaQueues();
      const proxy = kafka.detour && (await proxyFor(kafka.detour));
      const brokers = proxy ? [proxy.address] : kafka.brokers;
      return {
        queue: queues.open(brokers).queue,
        another: async () => queues.open(brokers).queue,
        breakDown: async () => { await proxy?.refuse(); },
        heal: async () => { await proxy?.heal(); },
        close: async () => {
          await queues.close();
          await proxy?.close();
        },
      };
    },
    { shared: true, outages: process.env["RELAY_TEST_KAFKA_BROKERS"] === undefined },
  );
});
