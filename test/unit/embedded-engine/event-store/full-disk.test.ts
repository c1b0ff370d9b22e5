import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";

/** The largest size of a file, in kilobytes: enough for a start and some hundred appends. */
const fileLimit = 2048;

describe("the embedded event store on a full disk", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(() => folder.remove());

  /** The output of a script that runs on the folder with that limit on the size of files. */
  const outputOf = (script: string) => execFileSync(
    "sh", ["-c", `ulimit -S -f ${fileLimit * 2} && exec "$0" "$@"`, process.execPath,
      "--disable-warning=ExperimentalWarning", new URL(script, import.meta.url).pathname, folder.path],
    { encoding: "utf8", timeout: 50_000 },
  );

  it("fails appends as unavailable, keeps no part of them, and goes on when there is room again", () => {
    expect(outputOf("./full-disk.ts")).to.equal("survived");
  });

  it("closes normally, and loses nothing", async () => {
    expect(outputOf("./full-disk-close.ts")).to.equal("closed");
    const reopened = await openPlainStore(folder.path);
    expect(Number(await reopened.head())).to.equal(20);
    await reopened.close();
  });
});
