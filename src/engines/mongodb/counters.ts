import { highestBucket, lowestBucket } from "../../kernel/read-models/engine/buckets.ts";

const digits = 17;

/** The id of a counter: those of one scope are adjacent, in the order of their buckets. */
export function counterId(scope: string, bucket: number): string {
  const within = Math.min(Math.max(bucket, lowestBucket), highestBucket);
  const place = (BigInt(within) - BigInt(lowestBucket)).toString().padStart(digits, "0");
  return `${scope}\n${place}`;
}

/** The bucket of a counter with this id. */
export function bucketOf(id: string): number {
  return Number(BigInt(id.slice(-digits)) + BigInt(lowestBucket));
}
