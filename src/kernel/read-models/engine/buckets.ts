/** Buckets are whole numbers that a number holds exactly. */
export const lowestBucket = Number.MIN_SAFE_INTEGER;
/** See {@link lowestBucket}. */
export const highestBucket = Number.MAX_SAFE_INTEGER;
