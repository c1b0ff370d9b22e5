import type { Socket } from "node:net";

const lengthBytes = 4;

/**
 * Lets a socket emit complete responses only. The driver would keep the beginning of a response that was cut off, take
 * the next connection's data for its end, and misread, or crash on, all data from there on.
 */
export function tellingOfCompleteResponses<Connection extends Socket>(socket: Connection): Connection {
  const emit = socket.emit.bind(socket) as (name: string | symbol, ...given: readonly unknown[]) => boolean;
  const whole = completeResponses();
  socket.emit = (name: string | symbol, ...given: readonly unknown[]) => {
    if (name !== "data") return emit(name, ...given);
    const answers = whole(given[0] as Buffer);
    return answers !== undefined && emit(name, answers);
  };
  return socket;
}

/** Buffers data until one or more responses are complete; each begins with its length. */
function completeResponses(): (chunk: Buffer) => Buffer | undefined {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = lengthBytes;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) return undefined;
    const bytes = chunks.length > 1 ? Buffer.concat(chunks) : chunk;
    let end = 0;
    for (needed = lengthBytes; end + needed <= held; needed = lengthBytes) {
      needed += bytes.readUInt32BE(end);
      if (end + needed > held) break;
      end += needed;
    }
    chunks = end < held ? [bytes.subarray(end)] : [];
    held -= end;
    return end > 0 ? bytes.subarray(0, end) : undefined;
  };
}
