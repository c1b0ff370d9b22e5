import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";

const mebibyte = 2 ** 20;

describe("the young generation of an idle thread", () => {
  let thread: Worker;
  afterEach(() => thread.terminate());

  it("shrinks automatically", async () => {
    thread = new Worker(new URL("./resting-thread.ts", import.meta.url));
    const told = async () => ((await once(thread, "message")) as [number])[0];
    expect(await told()).to.be.above(8 * mebibyte);
    while (await told() > 2 * mebibyte);
  });
});
