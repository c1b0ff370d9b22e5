import type { Bug } from "./bug.ts";

/** Promises of the deletion of a stream for good. */
export const closing: readonly Bug[] = [
  {
    name: "unbegun-stream-not-closed",
    breaks: "a stream that is deleted for good before it began never begins",
    changes: [{
      file: "packages/embedded-engine/src/event-store/commit-engine.ts",
      from: "if (forGood && ",
      to: "if (forGood && newest && ",
    }],
    tests: ["test/contract/embedded-event-store.test.ts"],
  },
  {
    name: "tombstone-at-any-revision",
    breaks: "a deletion for good destroys no append that was acknowledged before",
    changes: [{
      file: "src/engines/eventstoredb/requests.ts",
      from: "if (revision === noStream) options.setNoStream(",
      to: "if (revision === noStream) options.setAny(",
    }],
    tests: ["test/contract/eventstoredb.test.ts"],
  },
];
