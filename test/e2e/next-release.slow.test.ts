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
const perPart = sized(50, 1_000);
/** With ten processes beside three engines the machine is busy anyway. */
const perPartOutside = sized(25, 1_000);
/** The longest wait of a producer, on outside engines. */
const acceptedMs = 5_000;

/** The schema with a new version in the next release, if any, and whether that release rebuilds the read models. */
type Release = readonly [Raised, "the same read models" | "other read models"];

const onEmbedded: readonly Release[] = [
  ["nothing", "other read models"],
  ["circuit", "the same read models"],
  ["acceptance", "the same read models"],
  ["destination", "the same read models"],
  ["circuit", "other read models"],
  ["acceptance", "other read models"],
  ["destination", "other read models"],
];
const onOutside: readonly Release[] = [
  ["circuit", "the same read models"],
  ["acceptance", "other read models"],
  ["destination", "the same read models"],
];

describe("an upgrade under load to a release that writes more, back, and forward again", function () {
  this.timeout(sized(300_000, 1_800_000));
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

  for (const [raised, readModels] of onEmbedded.slice(0, sized(3, onEmbedded.length))) {
    it(`loses nothing on embedded engines, with ${raised} raised and ${readModels}`, async () => {
      next = makeNextRelease(raised, { newProjections: readModels === "other read models" });
      const process = await RelayProcess.start(receiver, { env });
      relay = onEmbeddedEngines(process);
      const { accounts: [account] } = await upgradeAndReturn({
        relay, receiver, raised, next: next.root, perPart, pauseMs: 20, random: randomOfRun(),
      });
      await stopCovered(process, account.owner);
      const rebuilt = async () => {
        expect((await process.command("rebuild")).code).to.equal(0);
        return documentHashes(process.dataDir);
      };
      // Late entries of a stream that waited for its release change no incident until a rebuild (projector/incidents).
      const ofIncidents =
        raised === "acceptance" ? { c_affectedEvents: "", c_incidents: "", countersOfIncidents: "" } : {};
      const before = documentHashes(process.dataDir);
      const after = await rebuilt();
      expect({ ...after, ...ofIncidents }, "documents after a rebuild").to.deep.equal({ ...before, ...ofIncidents });
      expect(await rebuilt(), "documents after another rebuild").to.deep.equal(after);
    });
  }

  for (const [raised, readModels] of onOutside.slice(0, sized(1, onOutside.length))) {
    it(`loses nothing on outside engines, with ${raised} raised and ${readModels}`, async function () {
      next = makeNextRelease(raised, { newProjections: readModels === "other read models" });
      relay = await startApart(this, receiver, env);
      const { slowestMs } = await upgradeAndReturn({
        relay, receiver, raised, next: next.root, perPart: perPartOutside, pauseMs: sized(600, 100),
        random: randomOfRun(),
      });
      expect(slowestMs, "ms until an event is accepted").to.be.at.most(acceptedMs);
    });
  }
});
