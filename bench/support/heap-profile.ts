import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isOurs, placeOf, Shares, type CallFrame, type ThreadShares } from "./call-frames.ts";

/** A node of a `.heapprofile` as V8 writes it. */
interface HeapNode {
  readonly callFrame: CallFrame;
  /** Bytes allocated by the function itself. */
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

/** Bytes that each thread of a process allocated, by function, as `heap-sampler.ts` left them. */
export function readHeapProfiles(folder: string): readonly ThreadShares[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".heapprofile"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly head: HeapNode })
    .map(({ head }) => summarise(head))
    .sort((a, b) => b.total - a.total);
}

function summarise(head: HeapNode): ThreadShares {
  const shares = new Shares();
  const frames: CallFrame[] = [];
  const visit = ({ callFrame, selfSize, children }: HeapNode, caller: string | undefined): void => {
    const place = placeOf(callFrame);
    const owner = isOurs(callFrame) ? place : caller;
    frames.push(callFrame);
    if (selfSize > 0) shares.add(place, owner, selfSize);
    for (const child of children) visit(child, owner);
  };
  visit(head, undefined);
  return shares.of(frames);
}
