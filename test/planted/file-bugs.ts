import type { Bug } from "./bug.ts";

const file = "packages/embedded-engine/src/sqlite/conversion.ts";
const tests = ["test/unit/embedded-engine/sqlite/conversion.test.ts"];

/** Promises of the conversion of a file. */
export const converted: readonly Bug[] = [
  {
    name: "new-file-without-its-name",
    breaks: "a converted file keeps its place when the power is lost",
    changes: [{
      file, from: "  renameSync(draft, path);\n  sync(dirname(path));", to: "  renameSync(draft, path);",
    }],
    tests,
    only: "loses nothing in a power failure",
  },
  {
    name: "draft-of-another-state",
    breaks: "an entry that was deleted while a conversion stood still does not come back",
    changes: [{ file, from: "[version, ino, size, mtimeNs].join", to: "[version].join" }],
    tests,
    only: "begins again where the file was changed",
  },
  {
    name: "write-ahead-log-of-the-old-file",
    breaks: "a converted file does not take the write-ahead log of the old one for its own",
    changes: [{ file, from: "  endWriteAheadLog(path);\n", to: "" }],
    tests,
    only: "fails, and says why, while another program",
  },
];
