import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { getRounds } from "bcryptjs";
import { expect } from "chai";
import { BcryptPasswords } from "../../src/engines/bcrypt/bcrypt-passwords.ts";
import { passwordsContract } from "./passwords.ts";

const owner = "tenant:one";

describe("bcrypt in a thread of its own", () => {
  passwordsContract(() => new BcryptPasswords(4));

  it("does not block the event loop while it works, at the configured cost", async () => {
    const passwords = new BcryptPasswords(10);
    let turns = 0;
    let working = true;
    const turn = () => { turns += 1; if (working) setImmediate(turn); };
    turn();
    const hash = await passwords.hash("correct horse", owner);
    working = false;
    expect(turns).to.be.greaterThan(20);
    expect(getRounds(hash)).to.equal(10);
    expect(getRounds(passwords.nobody)).to.equal(10);
    await passwords.close();
  });

  for (const [cost, most] of [[4, 64], [12, 64], [13, 32], [15, 8]] as const) {
    it(`limits its queue at cost ${cost} so that the last task is answered in time`, async () => {
      const passwords = new BcryptPasswords(cost);
      const tasks = Array.from({ length: 100 }, () => passwords.matches("x", "garbage", owner));
      const outcomes = await Promise.allSettled(tasks);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(most);
      await passwords.close();
    });
  }

  it("takes as long for a hash of a lower cost as for a hash that no password matches", async () => {
    const [former, passwords] = [new BcryptPasswords(4), new BcryptPasswords(10)];
    const hash = await former.hash("correct horse", owner);
    expect(await passwords.matches("correct horse", hash, owner)).to.equal(true);
    const least = async (compared: string) => {
      const took: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const startedAt = performance.now();
        expect(await passwords.matches("wrong horse", compared, owner)).to.equal(false);
        took.push(performance.now() - startedAt);
      }
      return Math.min(...took);
    };
    // Without the added work, it would take a sixty-fourth of the time.
    expect(await least(hash) / await least(passwords.nobody)).to.be.within(0.5, 2);
    await Promise.all([former.close(), passwords.close()]);
  });

  it("goes on after an invalid hash", async () => {
    const passwords = new BcryptPasswords(4);
    const none = `$2b$99$${".".repeat(53)}`;
    const broken = await passwords.matches("correct horse", none, owner).catch((error: Error) => error);
    expect(broken).to.be.instanceOf(Error);
    expect(await passwords.matches("correct horse", "garbage", owner)).to.equal(false);
    const hash = await passwords.hash("correct horse", owner);
    expect(await passwords.matches("correct horse", hash, owner)).to.equal(true);
    await passwords.close();
  });

  it("fails waiting tasks when its thread is lost, and goes on in another", async () => {
    const passwords = new BcryptPasswords(4);
    const hash = () => passwords.hash("correct horse", owner).catch((error: Error) => error.message);
    const begun = once(process, "worker");
    const waiting = [hash(), hash()];
    const [lost] = (await begun) as [Worker];
    lost.emit("error", new Error("out of memory"));
    expect(await Promise.all(waiting)).to.deep.equal(["out of memory", "out of memory"]);
    const next = hash();
    // The thread's exit comes after its error, and does not end the new thread.
    await lost.terminate();
    expect(await next).to.match(/^\$2b\$04\$/);
    await passwords.close();
  });

  it("finishes waiting tasks when it is closed, then takes no more", async () => {
    const passwords = new BcryptPasswords(4);
    const waiting = Promise.all([
      passwords.hash("correct horse", owner),
      passwords.matches("correct horse", passwords.nobody, owner),
    ]);
    await passwords.close();
    expect((await waiting)[1]).to.equal(false);
    const late = await passwords.hash("correct horse", owner).catch((error: Error) => error);
    expect(late).to.be.instanceOf(Error);
    await new BcryptPasswords(4).close();
  });

  it("refuses to hash an invalid password", async () => {
    const passwords = new BcryptPasswords(4);
    for (const text of ["seven77", "x".repeat(73), "pass\0word", "password\udc00"]) {
      const outcome = await passwords.hash(text, owner).catch((error: Error) => error);
      expect(outcome, JSON.stringify(text)).to.be.instanceOf(RangeError);
    }
    await passwords.close();
  });
});
