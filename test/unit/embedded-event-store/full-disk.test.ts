import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { temporaryFolder } from "../../support/embedded-store.ts";

/** Kilobytes a file may have: enough for a start and some hundred appends. */
const fileLimit = 2048;

describe("the embedded event store on a full disk", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(() => folder.remove());

  it("fails appends as unavailable, keeps no part of them, and goes on when there is room again", () => {
    const script = new URL("./full-disk.ts", import.meta.url).pathname;
    const limited = `ulimit -S -f ${fileLimit * 2} && exec "$0" "$@"`;
    const output = execFileSync(
      "sh", ["-c", limited, process.execPath, "--disable-warning=ExperimentalWarning", script, folder.path],
      { encoding: "utf8", timeout: 50_000 },
    );
    expect(output).to.equal("survived");
  });
});
