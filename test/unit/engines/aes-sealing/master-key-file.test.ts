import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { loadOrCreateMasterKey } from "../../../../src/engines/aes-sealing/master-key-file.ts";

const source = new URL("../../../../src/engines/aes-sealing/master-key-file.ts", import.meta.url);

describe("the first-start master key", () => {
  let folder: string;
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), "relay-key-")); });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is made once, readable by its owner only, and read again later", () => {
    const dataDir = join(folder, "data", "deep");
    const made = loadOrCreateMasterKey(dataDir);
    expect(made).to.include({ created: true, path: join(dataDir, "master.key") });
    expect(made.key).to.have.length(32);
    expect(statSync(made.path).mode & 0o777).to.equal(0o600);
    expect(readFileSync(made.path, "utf8")).to.equal(`${Buffer.from(made.key).toString("base64")}\n`);
    expect(loadOrCreateMasterKey(dataDir)).to.deep.equal({ ...made, created: false });
    expect(readdirSync(dataDir)).to.deep.equal(["master.key"]);
  });

  it("differs from one data folder to the next", () => {
    const keys = ["a", "b"].map((name) => loadOrCreateMasterKey(join(folder, name)).key);
    expect(keys[0]).to.not.deep.equal(keys[1]);
  });

  it("is the same for several threads that start at once", async () => {
    const code = `import(process.argv[2]).then(({ loadOrCreateMasterKey }) => {
      const { parentPort, workerData } = require("node:worker_threads");
      const { gate, count, folder } = workerData;
      Atomics.add(gate, 0, 1);
      while (Atomics.load(gate, 0) < count);
      const { key, created } = loadOrCreateMasterKey(folder);
      parentPort.postMessage({ key: Buffer.from(key).toString("hex"), created });
    })`;
    const count = 4;
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const answers = await Promise.all(Array.from({ length: count }, () =>
      new Promise<{ key: string; created: boolean }>((resolve, reject) => {
        const worker = new Worker(code, { eval: true, argv: [source.href], workerData: { gate, count, folder } });
        worker.once("message", resolve).once("error", reject);
      })));
    expect(new Set(answers.map(({ key }) => key))).to.have.length(1);
    expect(answers.filter(({ created }) => created)).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal(["master.key"]);
  });

  for (const [what, content] of [["cut off", "QUJD"], ["empty", ""], ["not base64", "!".repeat(44)]] as const) {
    it(`is refused and left as it is when it is ${what}`, () => {
      const path = join(folder, "master.key");
      writeFileSync(path, content);
      expect(() => loadOrCreateMasterKey(folder)).to.throw(path);
      expect(readFileSync(path, "utf8")).to.equal(content);
    });
  }
});
