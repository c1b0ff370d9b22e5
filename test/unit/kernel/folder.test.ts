import { execFileSync } from "node:child_process";
import fs, { mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import { makeFolder } from "../../../src/kernel/files.ts";
import { temporaryFolder } from "../../support/embedded-store.ts";

const source = new URL("../../../src/kernel/files.ts", import.meta.url).href;

describe("making a folder", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => { folder = temporaryFolder(); });
  afterEach(() => folder.remove());

  it("makes missing parent folders too, for this user only, and leaves existing ones as they are", () => {
    const open = join(folder.path, "open");
    mkdirSync(open, { mode: 0o755 });
    const made = join(open, "a", "b");
    makeFolder(made);
    makeFolder(`${made}/`);
    const modes = [open, join(open, "a"), made].map((path) => statSync(path).mode & 0o777);
    expect(modes).to.deep.equal([0o755, 0o700, 0o700]);
  });

  it("syncs the parent folder after it made each folder", function () {
    if (process.platform !== "linux") this.skip();
    const synced: (readonly [folder: string, names: readonly string[]])[] = [];
    const { fsyncSync } = fs;
    fs.fsyncSync = (descriptor) => {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      synced.push([path, readdirSync(path)]);
    };
    syncBuiltinESMExports();
    try {
      makeFolder(join(folder.path, "a", "b"));
    } finally {
      fs.fsyncSync = fsyncSync;
      syncBuiltinESMExports();
    }
    expect(synced).to.deep.equal([[folder.path, ["a"]], [join(folder.path, "a"), ["b"]]]);
  });

  it("accepts a link to a folder", () => {
    symlinkSync(folder.path, join(folder.path, "link"));
    makeFolder(join(folder.path, "link"));
    makeFolder(join(folder.path, "link", "a"));
    expect(statSync(join(folder.path, "a")).isDirectory()).to.be.true;
  });

  it("fails where a file is in its way", () => {
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    expect(() => makeFolder(file)).to.throw("EEXIST");
    expect(() => makeFolder(join(file, "a", "b"))).to.throw(/ENOTDIR|EEXIST/);
  });

  it("fails where the parent folder takes no folders", function () {
    if (process.platform !== "linux") this.skip();
    // In another process: a test cannot interrupt an endless loop in its own.
    const code = `import(process.argv[1]).then(({ makeFolder }) => makeFolder("/proc/x/y"))
      .catch(({ message }) => console.log(message))`;
    const said = execFileSync(process.execPath, ["-e", code, source], {
      encoding: "utf8", timeout: 30_000, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "ignore"],
    });
    expect(said).to.match(/^ENOENT: .*'\/proc\/x'\n$/);
  });
});
