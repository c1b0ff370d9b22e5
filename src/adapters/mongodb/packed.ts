import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Effect, Folded } from "../read-models/folded-changes.ts";

/** A folded batch as bytes. */
export function pack({ documents, counters }: Folded): Buffer {
  const plain = {
    documents: [...documents].map(([name, effects]) => [name, [...effects]]),
    counters: [...counters].map(([scope, { rollUps, byBucket }]) => [
      scope,
      // JSON knows no infinity.
      Object.entries(rollUps).map(([name, size]) => [name, size === Infinity ? null : size]),
      [...byBucket],
    ]),
  };
  return zstdCompressSync(JSON.stringify(plain));
}

interface Plain {
  readonly documents: readonly (readonly [string, readonly (readonly [string, Effect])[]])[];
  readonly counters: readonly (readonly [
    scope: string,
    rollUps: readonly (readonly [string, number | null])[],
    byBucket: readonly (readonly [number, number])[],
  ])[];
}

/** Reverses {@link pack}. Throws where the bytes are not its own. */
export function unpack(bytes: Uint8Array): Folded {
  const plain = JSON.parse(zstdDecompressSync(bytes).toString()) as Plain;
  return {
    documents: new Map(plain.documents.map(([name, effects]) => [name, new Map(effects)])),
    counters: new Map(
      plain.counters.map(([scope, rollUps, byBucket]) => [
        scope,
        {
          rollUps: Object.fromEntries(rollUps.map(([name, size]) => [name, size ?? Infinity])),
          byBucket: new Map(byBucket),
        },
      ]),
    ),
  };
}
