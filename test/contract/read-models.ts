import { batchesContract } from "./read-models-batches.ts";
import { questionsContract } from "./read-models-questions.ts";
import {
  entriesOf,
  notes,
  tallies,
  position,
  things,
  type ReadModelsTraits,
  type ReadModelsUnderTest,
  type Tested,
} from "./read-models-things.ts";

/** The contract of every adapter of ReadModels and ReadModelWriter. */
export function readModelsContract(
  name: string,
  open: () => Promise<ReadModelsUnderTest>,
  traits: ReadModelsTraits,
): void {
  describe(`${name} as read models`, () => {
    const tested = {
      prepare: () => tested.models.writer.reset([things, notes, tallies], "first"),
      apply: (changes, first = 1) =>
        tested.models.writer.apply(entriesOf(changes, first), position(first + changes.length - 1)),
      all: (query) =>
        tested.models.reader.find({
          collection: "things",
          order: { field: "id", descending: false },
          limit: 1000,
          ...query,
        }),
    } as Tested;

    beforeEach(async () => {
      tested.models = await open();
    });

    afterEach(() => tested.models.close());

    questionsContract(tested, traits);
    batchesContract(tested, traits);
  });
}
