import type { StreamFrame } from "@webhook-relay/client";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { relayClock } from "../api/clock.ts";
import { caller, relay, relayAddress } from "../api/relay.ts";
import { useMay, useMe } from "../app/session.ts";
import { joinStream, type Connection } from "./shared-stream.ts";

/** The kinds of frames that a page can ask for. */
type StreamKind = "event" | "circuit" | "audit";

interface Listener {
  readonly onFrame?: (frame: StreamFrame) => void;
  readonly onConnection?: () => void;
}

interface OpenStream {
  readonly listeners: Set<Listener>;
  readonly close: () => void;
  connection: Connection;
  /** Set while nothing listens: it closes the stream. */
  closing?: ReturnType<typeof setTimeout> | undefined;
}

const kindsOfFrames: Partial<Record<StreamFrame["event"], StreamKind>> = {
  moved: "event", circuit: "circuit", audit: "audit",
};

/** How long a stream without listeners stays open, ms: the next page may listen to it. */
const lingerMs = 1_000;

const connecting: Connection = { state: "connecting" };

const streams = new Map<string, OpenStream>();

/**
 * Calls `onFrame` with the frames of these kinds, and with `lagged`, `gone` and `end`, for as long as the calling part
 * is shown. All tabs of a caller share one connection.
 */
export function useStream(kinds: readonly StreamKind[], onFrame: (frame: StreamFrame) => void): void {
  const name = useStreamName();
  const wanted = kinds.join();
  const current = useRef(onFrame);
  current.current = onFrame;
  useEffect(() => name === undefined ? undefined : listen(name, {
    onFrame: (frame) => {
      const kind = kindsOfFrames[frame.event];
      if (kind === undefined || wanted.split(",").includes(kind)) current.current(frame);
    },
  }), [name, wanted]);
}

/** The connection of the stream, which stays open meanwhile; undefined where the caller may not follow it. */
export function useConnection(): Connection | undefined {
  const name = useStreamName();
  const connection = useSyncExternalStore(
    useCallback((onConnection) =>
      name === undefined ? () => undefined : listen(name, { onConnection }), [name]),
    () => streams.get(name ?? "")?.connection ?? connecting,
  );
  return name === undefined ? undefined : connection;
}

/** The name of the caller's stream; undefined where they may not follow it. */
function useStreamName(): string | undefined {
  const { principal, tenant } = useMe();
  return useMay()("followStream") ? `relay-stream ${relayAddress} ${tenant.id} ${principal.id}` : undefined;
}

function listen(name: string, listener: Listener): () => void {
  const stream = streams.get(name) ?? open(name);
  clearTimeout(stream.closing);
  stream.listeners.add(listener);
  return () => {
    stream.listeners.delete(listener);
    if (stream.listeners.size === 0) stream.closing = setTimeout(stream.close, lingerMs);
  };
}

function open(name: string): OpenStream {
  const listeners = new Set<Listener>();
  const leave = joinStream(name, {
    follow: (options) => relay.followStream({}, options),
    onRefused: () => caller.check(),
    onFrame: (frame) => {
      for (const { onFrame } of listeners) onFrame?.(frame);
    },
    onConnection: (connection) => {
      stream.connection = connection;
      for (const { onConnection } of listeners) onConnection?.();
    },
    now: () => relayClock.now(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  const close = () => {
    streams.delete(name);
    leave();
  };
  const stream: OpenStream = { listeners, close, connection: connecting };
  streams.set(name, stream);
  return stream;
}
