import { expect } from "chai";
import type { KeyRotation } from "../../../../src/features/key-rotation/key-rotation.ts";
import { KeyRotator } from "../../../../src/features/key-rotation/worker.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

type Finish = KeyRotation["finish"];

describe("key rotator", () => {
  let clock: ManualClock;
  /** Logged lines and counted anomalies. */
  let told: string[];
  let finish: Finish;

  beforeEach(() => {
    clock = new ManualClock();
    told = [];
  });

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const tell = (level: string) => (_fields: object, message: string) => void told.push(`${level}: ${message}`);
  const started = async (how: Finish) => {
    finish = how;
    const rotation = { finish: (stopped: () => boolean) => finish(stopped) } as KeyRotation;
    const logger = { ...quiet, info: tell("info"), warn: tell("warn"), error: tell("error") };
    const metrics = { anomaly: (of: string) => void told.push(of) };
    const rotator = new KeyRotator({ rotation, clock, logger, metrics });
    rotator.start();
    await settled();
    return rotator;
  };

  const through = "info: every key is under the newest master key: nothing needs the old ones any more";
  const left = "error: some keys cannot be re-wrapped: keep the old master keys";
  const failed = "warn: re-wrapping keys failed and is tried again";

  for (const [what, result, said] of [
    ["logs once when it has re-wrapped all keys", { rewrapped: 2, left: 0, through: true }, [through]],
    ["logs nothing when there was nothing to do", { rewrapped: 0, left: 0, through: true }, []],
    ["logs nothing when another process has a newer master key", { rewrapped: 2, left: 0, through: false }, []],
    ["reports keys that stay under old master keys", { rewrapped: 2, left: 1, through: false }, ["key rotation", left]],
  ] as const) {
    it(what, async () => {
      await started(async () => result);
      expect(told).to.deep.equal(said);
      expect(clock.pending).to.deep.equal([]);
    });
  }

  it("tries again after a failure until all keys are re-wrapped", async () => {
    await started(() => Promise.reject(new Error("the log is away")));
    expect(told.splice(0)).to.deep.equal(["key rotation", failed]);
    finish = async () => ({ rewrapped: 1, left: 0, through: true });
    clock.advance(5_000);
    await settled();
    expect([told, clock.pending]).to.deep.equal([[through], []]);
  });

  it("logs nothing when it is stopped halfway, even by an error", async () => {
    const fail = () => { throw new Error("the log is closed"); };
    for (const end of [() => ({ rewrapped: 1, left: 0, through: false }), fail]) {
      const going = Promise.withResolvers<void>();
      const rotator = await started(async (stopped) => {
        await going.promise;
        expect(stopped()).to.equal(true);
        return end();
      });
      const stop = rotator.stop();
      going.resolve();
      await stop;
    }
    expect([told, clock.pending]).to.deep.equal([[], []]);
  });
});
