import { sized } from "../support/size.ts";
import { diesAtFirstStart, onFailingDisk } from "./disk.ts";

describe("the real process on a disk that loses unsynced writes, is full or fails", function () {
  this.timeout(sized(200_000, 3_600_000));
  onFailingDisk({
    losses: sized(2, 100),
    deaths: {
      underLoad: [["syncBegun", "/log.db-wal", 20], ["written", "/read-models.db-wal", 20]],
      asItEnds: [["truncated", "/log.db-wal"]],
      asItStartsAgain: [["written", "/log.db"]],
    },
    rounds: sized(1, 10),
    anomalies: sized(2, 40),
  });
});

describe("the real process killed, and without power, at a certain step of its first start", function () {
  this.timeout(sized(60_000, 600_000));
  diesAtFirstStart([["linked", "/master.key"], ["syncEnded", "/log.db-wal"], ["created", "/read-models.db"]],
    sized(1, 10));
});
