import type { Receiver } from "../receiver.ts";
import { RelayProcess, type ProcessOptions } from "../relay-process.ts";
import { Disk } from "./disk.ts";
import type { Loss } from "./platter.ts";

/** The relay on a disk of its own that can lose power, be full and fail. */
export class RelayOnDisk extends RelayProcess {
  readonly disk = new Disk(this.dataDir);

  constructor(receiver: Pick<Receiver, "caPem"> | null, options: ProcessOptions = {}) {
    super(receiver, options);
  }

  override get environment(): Readonly<Record<string, string>> {
    return { ...super.environment, ...this.disk.environment };
  }

  override launch(): void {
    this.disk.begin();
    super.launch();
  }

  /** The process dies, and the power fails with it. */
  async losePower(loss: Loss): Promise<void> {
    await this.kill9();
    this.disk.losePower(loss);
  }

  override async close(): Promise<void> {
    await super.close();
    this.disk.close();
  }
}
