import { expect } from "chai";
import { summaryOf } from "../../../packages/dashboard/src/pages/sender/preview-summary.ts";
import { leavesOf } from "../../../packages/dashboard/src/parts/json-leaves.ts";

const differ = (count: number) => Array.from({ length: count }, () => ({ eventId: "e", before: "{}", after: "{}" }));
const failed = (count: number) => Array.from({ length: count }, () => ({ eventId: "e", error: "the mapping fails" }));

describe("the preview of a mapping, on its page", () => {
  it("is summed up in words, also beyond the listed events", () => {
    const table = [
      [{ tried: 100, same: 97, differ: differ(2), failed: failed(1) }, "97 same, 2 differ, 1 fails"],
      [{ tried: 3, same: 0, differ: differ(1), failed: failed(2) }, "0 same, 1 differs, 2 fail"],
      [{ tried: 2, same: 2, differ: [], failed: [] }, "2 same"],
      [{ tried: 100, same: 1, differ: differ(20), failed: failed(3) }, "1 same, 96 differ, 3 fail"],
      [{ tried: 100, same: 1, differ: differ(4), failed: failed(20) }, "1 same, 4 differ, 95 fail"],
      [{ tried: 100, same: 1, differ: differ(20), failed: failed(20) }, "1 same, 99 differ or fail"],
      [{ tried: 0, same: 0, differ: [], failed: [] }, "No event came through this sender yet."],
    ] as const;
    for (const [preview, words] of table) {
      expect(summaryOf({ ...preview, differ: [...preview.differ], failed: [...preview.failed] })).to.equal(words);
    }
  });

  it("compares values by their paths, with every digit", () => {
    expect(leavesOf('{"a/b":{"~":[1.0,12345678901234567890]},"n":null,"e":{},"s":"1"}')).to.deep.equal({
      "/a~1b/~0/0": "1.0", "/a~1b/~0/1": "12345678901234567890", "/n": "null", "/e": "{}", "/s": '"1"',
    });
  });
});
