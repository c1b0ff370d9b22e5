import { useEffect, useRef } from "react";
import type { StreamFrame } from "../../../client/src/index.ts";
import { relay, relayAddress } from "../api/relay.ts";
import { useMay, useMe } from "../app/session.ts";

/** The kinds of frames that a page can ask for. */
type StreamKind = "event" | "circuit" | "audit";

type Listener = (frame: StreamFrame) => void;

interface SharedStream {
  readonly listeners: Set<Listener>;
  readonly close: () => void;
  /** Set while nothing listens: it closes the stream. */
  closing?: ReturnType<typeof setTimeout> | undefined;
}

const kindsOfFrames: Partial<Record<StreamFrame["event"], StreamKind>> = {
  moved: "event", circuit: "circuit", audit: "audit",
};

/** How long a stream without listeners stays open, ms: the next page may listen to it. */
const lingerMs = 1_000;

const streams = new Map<string, SharedStream>();

/**
 * Calls `onFrame` with the frames of these kinds, and with `lagged`, `gone` and `end`, for as long as the calling part
 * is shown. All tabs of a caller share one connection.
 */
export function useStream(kinds: readonly StreamKind[], onFrame: Listener): void {
  const { principal, tenant } = useMe();
  const mayFollow = useMay()("followStream");
  const name = `relay-stream ${relayAddress} ${tenant.id} ${principal.id}`;
  const wanted = kinds.join();
  const current = useRef(onFrame);
  current.current = onFrame;
  useEffect(() => mayFollow ? listen(name, (frame) => {
    const kind = kindsOfFrames[frame.event];
    if (kind === undefined || wanted.split(",").includes(kind)) current.current(frame);
  }) : undefined, [name, wanted, mayFollow]);
}

function listen(name: string, listener: Listener): () => void {
  const stream = streams.get(name) ?? join(name);
  clearTimeout(stream.closing);
  stream.listeners.add(listener);
  return () => {
    stream.listeners.delete(listener);
    if (stream.listeners.size === 0) stream.closing = setTimeout(stream.close, lingerMs);
  };
}

/**
 * Takes part in the stream of all tabs. The tab with the lock has the connection, and tells the others. When it is
 * closed the next one in the queue goes on behind the last frame.
 */
function join(name: string): SharedStream {
  const listeners = new Set<Listener>();
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  const { signal } = ended;
  let last: string | null = null;
  const hear = (frame: StreamFrame) => {
    if (frame.id !== null) last = frame.id;
    for (const listener of listeners) listener(frame);
  };
  const lead = async () => {
    const headers: Record<string, string> = last === null ? {} : { "Last-Event-ID": last };
    for await (const frame of relay.followStream({}, { signal, headers })) {
      channel.postMessage(frame);
      hear(frame);
    }
  };
  const close = () => {
    if (streams.get(name) === stream) streams.delete(name);
    ended.abort();
    channel.close();
  };
  const stream: SharedStream = { listeners, close };
  streams.set(name, stream);
  channel.addEventListener("message", ({ data }) => hear(data as StreamFrame));
  // The stream rejects once the session is over: the next request of a page shows that.
  navigator.locks.request(name, { signal }, lead).catch(close);
  return stream;
}
