import { expect } from "chai";
import fc from "fast-check";
import { collections, fingerprint, project } from "../../../../projections/index.ts";
import type { Change, PositionedChanges } from "../../../../src/kernel/ports/read-models.ts";
import { fold } from "../../../../src/kernel/read-models/engine/folded-changes.ts";
import { histories } from "../../../support/histories.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";
import { position } from "../../../support/position.ts";
import { recorded } from "../../../support/recorded.ts";

/** The changes, frozen. */
function frozen(changes: readonly Change[]): readonly Change[] {
  for (const change of changes) {
    if (change.op === "put") Object.freeze(change.document);
    else if (change.op === "set" || change.op === "raise") Object.freeze(change.fields);
    Object.freeze(change);
  }
  return changes;
}

describe("a folded batch", () => {
  it("leaves the changes as they were, and gives the same result again", async () => {
    await fc.assert(
      fc.asyncProperty(histories(120), async ({ told }) => {
        const batch = told.map(({ fact }, at): PositionedChanges =>
          ({ position: position(at + 1), changes: frozen(project(recorded(fact, at + 1))) }));
        const folded = fold(batch);
        expect(fold(batch)).to.deep.equal(folded);
        const models = new InMemoryReadModels();
        await models.reset(collections, fingerprint);
        await models.apply(batch, position(told.length));
        for (const [name, documents] of Object.entries(models.contents().documents)) {
          const effects = [...(folded.documents.get(name) ?? [])];
          const put = effects.flatMap(([key, effect]) => (effect.op === "put" ? [[key, effect.document]] : []));
          const kept = await Promise.all(Object.keys(documents).map(async (key) => [key, await models.get(name, key)]));
          expect(Object.fromEntries(put), name).to.deep.equal(Object.fromEntries(kept));
        }
      }),
      { numRuns: 60 },
    );
  });
});
