import { sized } from "../support/size.ts";
import { diesAtFirstStart, onFailingDisk } from "./disk.ts";

describe("the real process on a disk that loses unsynced writes, is full or fails, at every step", function () {
  this.timeout(sized(400_000, 3_600_000));
  onFailingDisk({
    losses: 6,
    deaths: {
      underLoad: [
        ["written", "/log.db-wal", 20], ["syncBegun", "/log.db-wal", 20], ["syncEnded", "/log.db-wal", 20],
        ["written", "/read-models.db-wal", 20], ["written", "/state.db-wal", 3], ["syncBegun", "/log.db", 1],
      ],
      asItEnds: [
        ["written", "/log.db"], ["syncEnded", "/log.db"], ["truncated", "/log.db-wal"], ["written", "/read-models.db"],
        ["unlinked", "/read-models.db-wal"],
      ],
      asItStartsAgain: [["written", "/log.db"], ["syncBegun", "/log.db"], ["truncated", "/log.db-wal"]],
    },
    rounds: sized(1, 10),
    anomalies: 3,
  });
});

describe("the real process killed, and without power, at every step of its first start", function () {
  this.timeout(sized(60_000, 600_000));
  diesAtFirstStart([
    ["folderMade", ""], ["linked", "/master.key"], ["created", "/log.db"], ["created", "/log.db-wal"],
    ["syncEnded", "/log.db-wal"], ["folderMade", "/index"], ["created", "/read-models.db"], ["created", "/state.db"],
  ], sized(1, 10));
});
