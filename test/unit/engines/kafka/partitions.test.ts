import { expect } from "chai";
import { partitionOf } from "../../../../src/engines/kafka/messages.ts";

describe("the partition of a destination", () => {
  // From the tests of Kafka's own Java client.
  const hashes: Readonly<Record<string, number>> = {
    21: -973_932_308, foobar: -790_332_482, "a-little-bit-long-string": -985_981_536,
    "a-little-bit-longer-string": -1_486_304_829, lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8: -58_897_971,
  };

  it("is the same as in every client of Kafka", () => {
    for (const [key, hash] of Object.entries(hashes)) {
      for (const count of [1, 2, 12, 1_000]) expect(partitionOf(key, count), key).to.equal((hash & 0x7fffffff) % count);
    }
  });
});
