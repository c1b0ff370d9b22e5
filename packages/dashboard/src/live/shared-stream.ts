import type { FollowOptions, StreamConnection, StreamFrame } from "@webhook-relay/client";

/** The state of the connection, as the header shows it; `since` is in ms since 1970. */
export type Connection =
  | { readonly state: "connecting" | "live" }
  | { readonly state: "reconnecting" | "offline"; readonly since: number };

/** The means of the stream of all tabs, and its listeners. */
interface Parts {
  readonly follow: (options: FollowOptions) => AsyncIterable<StreamFrame>;
  /** Is called when the relay refuses the session. */
  readonly onRefused: () => void;
  readonly onFrame: (frame: StreamFrame) => void;
  readonly onConnection: (connection: Connection) => void;
  /** The time, ms since 1970. */
  readonly now: () => number;
  /** Waits so many ms. */
  readonly pause: (ms: number) => Promise<void>;
}

/** A message from one tab to the others. */
type Message =
  | { readonly frame: StreamFrame }
  | { readonly connection: Connection }
  | { readonly isNew: true };

/** How long the session may stay refused before it is tried again, ms. */
const refusedPauseMs = 5_000;

/**
 * Takes part in the stream of all tabs. The tab with the lock has the connection, and tells the others. When it is
 * closed the next one in the queue goes on behind the last frame. Returns how to leave.
 */
export function joinStream(
  name: string, { follow, onRefused, onFrame, onConnection, now, pause }: Parts,
): () => void {
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  const { signal } = ended;
  const hasLeft = () => signal.aborted;
  let last: string | null = null;
  let connection: Connection = { state: "connecting" };
  let isLeading = false;
  const hear = (message: Message) => {
    if ("frame" in message) {
      if (message.frame.id !== null) last = message.frame.id;
      onFrame(message.frame);
    } else if ("connection" in message) {
      connection = message.connection;
      onConnection(connection);
    } else if (isLeading) channel.postMessage({ connection } satisfies Message);
  };
  const tell = (message: Message) => {
    channel.postMessage(message);
    hear(message);
  };
  const tellConnection = (changed: StreamConnection) => {
    if (hasLeft()) return;
    const since = "since" in connection ? connection.since : now();
    tell({ connection: changed.isLive ? { state: "live" }
      : { state: changed.failures > 0 ? "offline" : "reconnecting", since } });
  };
  const lead = async () => {
    isLeading = true;
    while (!hasLeft()) {
      try {
        const headers: Record<string, string> = last === null ? {} : { "Last-Event-ID": last };
        for await (const frame of follow({ signal, headers, onConnection: tellConnection })) {
          if (hasLeft()) return;
          tell({ frame });
        }
      } catch {
        if (hasLeft()) return;
        tellConnection({ isLive: false, failures: 0 });
        onRefused();
        await pause(refusedPauseMs);
      }
    }
  };
  channel.addEventListener("message", (event) => hear((event as Event & { readonly data: Message }).data));
  channel.postMessage({ isNew: true } satisfies Message);
  // It rejects when this tab leaves while it is in the queue.
  navigator.locks.request(name, { signal }, lead).catch(() => undefined);
  return () => {
    ended.abort();
    channel.close();
  };
}
