import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { EmbeddedEventStore, openEmbeddedEventStore, type Tuning } from "../../packages/embedded-engine/src/index.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { EventCodec } from "../../src/kernel/ports/event-codec.ts";
import { note, type EventStoreUnderTest } from "../contract/event-store/harness.ts";
import { plainCodec, unreadableType } from "./plain-codec.ts";

const clock = new SystemClock();

/** A folder for one test. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "relay-test-"));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** A store with the plain codec. */
export function openPlainStore(
  dataDir: string, tuning: Partial<Tuning> = {}, onHousekeepingProblem: (error: Error) => void = () => undefined,
): Promise<EmbeddedEventStore> {
  return openEmbeddedEventStore({ dataDir, codec: plainCodec, clock, tuning, onHousekeepingProblem });
}

/** A client of a store by a port of it. */
export function attachHere(port: MessagePort, codec: EventCodec = plainCodec): Promise<EmbeddedEventStore> {
  return EmbeddedEventStore.attach(port, { codec, clock });
}

/** Another client of a store. */
export function attachTo(owner: EmbeddedEventStore, codec?: EventCodec): Promise<EmbeddedEventStore> {
  return attachHere(owner.connect(), codec);
}

const futureCodec: EventCodec = {
  ...plainCodec,
  encode: (event, metadata) => ({ ...plainCodec.encode(event, metadata), type: unreadableType }),
};

/** The embedded event store for the contract suite. */
export async function embeddedUnderTest(tuning: Partial<Tuning> = {}): Promise<EventStoreUnderTest> {
  const folder = temporaryFolder();
  let owner = await openPlainStore(folder.path, tuning);
  let clients: EmbeddedEventStore[] = [];
  let first = true;
  const attach = async (codec?: EventCodec) => {
    const client = await attachTo(owner, codec);
    clients.push(client);
    return client;
  };
  const close = async () => {
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
    await owner.close();
  };
  return {
    async store() {
      if (!first) return attach();
      first = false;
      return owner;
    },
    async plantUnreadable(stream, expected) {
      await (await attach(futureCodec)).append(stream, expected, [note("")]);
    },
    async reopen() {
      await close();
      owner = await openPlainStore(folder.path, tuning);
      return owner;
    },
    async dispose() {
      await close();
      folder.remove();
    },
  };
}
