import { expect } from "chai";
import { createResolver, type Resolve } from "../../../src/engines/outbound/resolver.ts";
import { turn } from "./setup.ts";

const never: Resolve = () => new Promise(() => {});
const noAddress: Resolve = async () => Promise.reject(new Error("no address"));

describe("resolver", () => {
  it("resolves as the system does for many callers at once, and rejects a name without address", async () => {
    const resolve = createResolver();
    const answers = await Promise.all(Array.from({ length: 20 }, () => resolve("localhost")));
    for (const answer of answers) expect(["127.0.0.1", "::1"]).to.include.members([...answer]);
    expect(await resolve("no-such-host.invalid").then(() => null, (reason: unknown) => reason)).to.be.an("error");
  });

  it("uses the system's answer when that comes soon", async () => {
    const asked: string[] = [];
    const system: Resolve = async (host) => {
      asked.push(host);
      return [`system:${host}`];
    };
    const resolve = createResolver({ system, dns: never });
    const hosts = ["a", "b", "c", "d", "e", "a", "a"];
    expect((await Promise.all(hosts.map(resolve))).flat()).to.deep.equal(hosts.map((host) => `system:${host}`));
    expect(asked).to.deep.equal(["a", "b", "c", "d", "e"]);
    expect(await resolve("a")).to.deep.equal(["system:a"]);
    expect(asked).to.have.lengthOf(6);
  });

  it("asks DNS when the system is stuck, and never holds more than two threads, nor any without a caller", async () => {
    let held = 0;
    const { promise: stuck, resolve: release } = Promise.withResolvers<readonly string[]>();
    const system: Resolve = () => {
      held += 1;
      return stuck;
    };
    const resolve = createResolver({ system, dns: async (host) => [`dns:${host}`] });
    for (let round = 0; round < 2; round += 1) {
      const hosts = ["a", "b", "c", "d"];
      expect((await Promise.all(hosts.map(resolve))).flat()).to.deep.equal(hosts.map((host) => `dns:${host}`));
    }
    expect(held).to.equal(2);
    release(["late"]);
    await turn();
    expect(held).to.equal(2);
  });

  it("still takes a late answer of the system for a name that DNS does not know", async () => {
    let answer = (_addresses: readonly string[]) => {};
    const system: Resolve = () => new Promise((resolve) => (answer = resolve));
    const dns: Resolve = async (host) => {
      setImmediate(() => answer([`system:${host}`]));
      return noAddress(host);
    };
    expect(await createResolver({ system, dns })("a")).to.deep.equal(["system:a"]);
  });

  it("asks again after a failure", async () => {
    let count = 0;
    const system: Resolve = async (host) => ((count += 1) === 1 ? noAddress(host) : ["1"]);
    const resolve = createResolver({ system, dns: noAddress });
    expect(await resolve("a").then(() => null, (reason: unknown) => reason)).to.be.an("error");
    expect(await resolve("a")).to.deep.equal(["1"]);
  });
});
