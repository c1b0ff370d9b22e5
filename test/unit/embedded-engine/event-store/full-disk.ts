import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect } from "chai";
import { LogUnavailable, noStream, type Appended } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf, note } from "../../../contract/event-store/harness.ts";
import { openPlainStore } from "../../../support/embedded-store.ts";

/**
 * To be run with a limit of a few megabytes on the size of files. Appends until the log cannot be written, checks that
 * nothing of the failed appends remains, lifts the limit and goes on. Prints "survived" at the end.
 */
const store = await openPlainStore(process.argv[2]!);
const answered: { readonly stream: string; readonly outcome: Appended }[] = [];
const failed: string[] = [];
const seen: string[] = [];
const subscription = store.subscribe({ after: "" }, (entries) => {
  for (const { stream, revision } of entries) seen.push(`${stream}/${revision}`);
});
await store.append("event-long", noStream, [note("first")]);
for (let round = 0; failed.length === 0; round++) {
  const streams = Array.from({ length: 20 }, (_, at) => `event-${round}-${at}`);
  const outcomes = await Promise.allSettled(
    streams.map((stream) => store.append(stream, noStream, [note("x".repeat(2000)), note("y".repeat(2000))])),
  );
  for (const [at, outcome] of outcomes.entries()) {
    const stream = streams[at]!;
    if (outcome.status === "fulfilled") {
      answered.push({ stream, outcome: outcome.value });
    } else {
      expect(outcome.reason).to.be.instanceOf(LogUnavailable);
      failed.push(stream);
    }
  }
}
const large = [note("z".repeat(900_000))];
expect(await failureOf(store.append("event-long", 0, large))).to.be.instanceOf(LogUnavailable);
// The log stays unavailable even if a smaller append still fits.
await store.append("event-small", noStream, [note("small"), note("small")]).then(
  (outcome) => answered.push({ stream: "event-small", outcome }), () => failed.push("event-small"));
expect(await failureOf(store.ping())).to.be.instanceOf(LogUnavailable);
expect(readdirSync(process.argv[2]!).filter((file) => file.endsWith("-probe"))).to.deep.equal([]);
const head = await store.head();
expect(await failureOf(store.append("event-long", 0, large))).to.be.instanceOf(LogUnavailable);
expect(await store.head()).to.equal(head);

const check = async () => {
  for (const { stream, outcome } of answered) {
    expect((await store.readStream(stream)).at(-1)).to.include({ ...outcome });
  }
};
await check();
for (const stream of failed) expect(await store.readStream(stream)).to.deep.equal([]);

execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited:unlimited"]);
await store.ping();
const next = await store.append("event-long", 0, large);
expect(next.revision).to.equal(1);
expect(Number(next.position)).to.equal(Number(head) + 1);
for (const stream of failed) {
  expect((await store.append(stream, noStream, [note("again")])).revision).to.equal(0);
}
await subscription.stop();
expect(new Set(seen).size).to.equal(seen.length);
expect(seen).to.have.length(2 + 2 * answered.length + failed.length);
await check();
await store.close();

const reopened = await openPlainStore(process.argv[2]!);
expect(Number(await reopened.head())).to.equal(2 + 2 * answered.length + failed.length);
await reopened.close();
process.stdout.write("survived");
