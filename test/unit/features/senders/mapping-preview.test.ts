import { expect } from "chai";
import { MappingPreview } from "../../../../src/features/senders/mapping-preview.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const senderId = "0193a1b2-c3d4-7000-8000-000000000006";
const caller = { tenantId, userId: "u", role: "Viewer" } as Parameters<MappingPreview["preview"]>[0];
const idOf = (n: number) => `0193a1b2-c3d4-8000-8000-${String(n).padStart(12, "0")}`;
const mapping = { language: "jmespath" as const, expression: "@" };

/** A preview over many events, with mappings that take this long each on the clock. */
function staged(mappingMs: number) {
  const clock = new ManualClock();
  let running = 0;
  let mostRunning = 0;
  const mappings = {
    problemOf: async () => null,
    apply: async (_tenantId: string, _expression: string, text: string) => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await Promise.resolve();
      clock.advance(mappingMs);
      running -= 1;
      return { text };
    },
  };
  const documents = Array.from({ length: 200 }, (_, n) => ({ id: idOf(n), acceptedIn: "0" }));
  const idsOf = new Map(documents.map(({ id }) => [streams.event(id), id]));
  const store = {
    readStream: async (stream: string) =>
      [{ type: "EventAccepted", data: { eventId: idsOf.get(stream), payload: "{}", original: null } }],
  };
  const aggregates = { current: async () => ({ state: { id: senderId, tenantId, deleted: false }, revision: 0 }) };
  const shown = {
    ask: (_tenantId: string, question: () => Promise<unknown>) => question(),
    page: async (_filter: object, { limit }: { readonly limit: number }) => documents.slice(0, limit),
  };
  const parts = { clock, mappings, store, aggregates, shown };
  const preview = new MappingPreview(parts as unknown as ConstructorParameters<typeof MappingPreview>[0]);
  return {
    preview: (last: number) => preview.preview(caller, { senderId, mapping, last }),
    mostRunning: () => mostRunning,
  };
}

describe("the preview of a mapping", () => {
  it("tries one event after another, so that a call takes one mapping process at most", async () => {
    const { preview, mostRunning } = staged(1);
    expect(await preview(200)).to.deep.equal({ tried: 200, same: 200, differ: [], failed: [] });
    expect(mostRunning()).to.equal(1);
  });

  it("ends after five seconds, and says how many events it tried", async () => {
    const { tried, same } = await staged(400).preview(200);
    expect([tried, same]).to.deep.equal([12, 12]);
  });
});
