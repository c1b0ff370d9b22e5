import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { onOwnDisk } from "../../../support/disk/own-disk.ts";

describe("a sync of the read models' file that fails as their write-ahead log is emptied", () => {
  const own = onOwnDisk();

  it("ends the process before the write-ahead log is discarded", async () => {
    const child = own.run(join(import.meta.dirname, "scrubbing.ts"));
    const [told, ended] = [text(child.stderr!), once(child, "close")];
    await once(child.stdout!, "data");
    own.disk.anomaly({ error: "EIO", writes: 0, syncs: 1 });
    expect((await ended)[1]).to.equal("SIGKILL");
    expect(await told).to.match(/read-models\.db could not be synced, so the relay ends /);
  });
});
