import { expect } from "chai";
import { documentHashes, stopCovered } from "../support/ledger-snapshot.ts";
import { makeNextRelease, type Program, type Raised } from "../support/next-release.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { randomOfRun } from "../support/relay-process-load.ts";
import { onEmbeddedEngines, startApart, type ReplacedRelay } from "../support/replaced-relay.ts";
import { sized } from "../support/size.ts";
import { upgradeAndReturn } from "../support/upgrade.ts";

const env = { RELAY_DELIVERY_TIMEOUT: "3s", RELAY_RETRY_SCHEDULE: "200ms,1s", RELAY_ACCESS_TOKEN_TTL: "1d" };
/** What producers wait for at most, on outside engines. */
const acceptedMs = 5_000;

describe("an upgrade under load to a release that writes more, back, and forward again", function () {
  this.timeout(sized(240_000, 1_800_000));
  let receiver: Receiver;
  let relay: ReplacedRelay | undefined;
  let next: Program | undefined;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(relay?.tail());
    await relay?.close();
    await receiver.close();
    next?.remove();
    [relay, next] = [undefined, undefined];
  });

  for (const raised of ["nothing", "circuit", "acceptance", "destination"] as const satisfies Raised[]) {
    it(`loses nothing on embedded engines, with ${raised} raised to another version`, async () => {
      next = makeNextRelease(raised);
      const process = await RelayProcess.start(receiver, { env });
      relay = onEmbeddedEngines(process);
      const { accounts: [account] } = await upgradeAndReturn({
        relay, receiver, raised, next: next.root, perPart: sized(50, 1_000), pauseMs: 20,
        random: randomOfRun(),
      });
      await stopCovered(process, account!.owner);
      const hashes = documentHashes(process.dataDir);
      expect((await process.command("rebuild")).code).to.equal(0);
      expect(documentHashes(process.dataDir), "documents after a rebuild").to.deep.equal(hashes);
    });
  }

  it("loses nothing on outside engines, processes replaced one by one, and producers hardly notice", async function () {
    next = makeNextRelease("circuit");
    relay = await startApart(this, receiver, env);
    const { slowestMs } = await upgradeAndReturn({
      relay, receiver, raised: "circuit", next: next.root, perPart: sized(50, 1_000), pauseMs: 100,
      random: randomOfRun(),
    });
    expect(slowestMs, "ms until an event is accepted").to.be.at.most(acceptedMs);
  });
});
