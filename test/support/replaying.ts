import type { Schemas } from "../../packages/client/src/index.ts";
import { Replayer } from "../../src/features/replays/worker.ts";
import type { Client } from "./accounts.ts";
import type { TestApi } from "./api.ts";
import { never } from "./manual-relay.ts";
import { quiet, uncounted } from "./telemetry.ts";

/** The worker that carries out replays, beside an API process; the test makes its steps. */
export class ManualReplayer {
  readonly #api: TestApi;
  #worker: Replayer;

  constructor(api: TestApi) {
    this.#api = api;
    this.#worker = this.#begun();
  }

  /** As after a crash: the worker's memory is lost. */
  restart(): void {
    this.#worker = this.#begun();
  }

  /** Makes a step of every replay; resolves with whether any could do something. */
  step(): Promise<boolean> {
    return this.#worker.step(never);
  }

  /** Makes steps until the replay is over and counted. */
  async finish({ api }: Client, id: string): Promise<Schemas["Replay"]> {
    for (;;) {
      const replay = await api.getReplay({ id });
      if (replay.state !== "Running" && replay.done + replay.skipped === replay.matched) return replay;
      await this.step();
    }
  }

  #begun(): Replayer {
    const { services: { replaying }, world: { clock } } = this.#api;
    return new Replayer({ replaying, clock, logger: quiet, metrics: uncounted });
  }
}
