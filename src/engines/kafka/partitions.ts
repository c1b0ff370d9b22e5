import { Partitioners } from "kafkajs";

/** Which of `count` partitions holds a destination's items, as the producer and any Kafka client compute it. */
export const createPartitioner = Partitioners.DefaultPartitioner;

const partitioner = createPartitioner();

/** The partition that {@link createPartitioner} gives to a key. */
export function partitionOf(key: string, count: number): number {
  // The driver's partitioner asks for the length only when there is a key.
  const partitionMetadata = { length: count, filter: () => [] } as unknown as Parameters<
    typeof partitioner
  >[0]["partitionMetadata"];
  return partitioner({ topic: "", partitionMetadata, message: { key, value: null } });
}
