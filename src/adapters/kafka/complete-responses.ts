import type { Socket } from "node:net";

const lengthBytes = 4;

/**
 * Lets a socket tell of whole answers only. Of one that was cut off, the driver would keep the beginning, take for its
 * end what comes by the next connection, and misread, or die of, everything from there on.
 */
export function tellingOfWholeAnswers<Connection extends Socket>(socket: Connection): Connection {
  const emit = socket.emit.bind(socket) as (name: string | symbol, ...given: readonly unknown[]) => boolean;
  const whole = completeResponses();
  socket.emit = (name: string | symbol, ...given: readonly unknown[]) => {
    if (name !== "data") return emit(name, ...given);
    const answers = whole(given[0] as Buffer);
    return answers !== undefined && emit(name, answers);
  };
  return socket;
}

/** Keeps what comes until one or more answers are whole; each begins with its length. */
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
