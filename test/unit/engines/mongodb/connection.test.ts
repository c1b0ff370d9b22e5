import { expect } from "chai";
import { connectMongoDb } from "../../../../src/engines/mongodb/connection.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("a connection to MongoDB", () => {
  const connected = (url: string) => {
    const { databaseName, client: { options } } = connectMongoDb(url, { clock: new ManualClock(), logger: quiet }).db;
    const { serverSelectionTimeoutMS, waitQueueTimeoutMS, writeConcern, readPreference } = options;
    const { w, journal } = writeConcern;
    const { mode } = readPreference;
    return { databaseName, serverSelectionTimeoutMS, waitQueueTimeoutMS, w, journal, mode };
  };
  const usual = {
    databaseName: "relay", serverSelectionTimeoutMS: 1_500, waitQueueTimeoutMS: 1_500,
    w: "majority", journal: true, mode: "primary",
  };

  it("gives up soon, and writes durably", () => {
    for (const url of ["mongodb://one,two:27018", "mongodb://one/?tls=true"]) {
      expect(connected(url), url).to.deep.equal(usual);
    }
  });

  it("uses the timeouts and write concern of its URL, but always reads from the primary", () => {
    const asked = "serverselectiontimeoutms=9000&w=2&readPreference=secondary";
    expect(connected(`mongodb://one/web%20hooks?${asked}`)).to.deep.equal(
      { ...usual, databaseName: "web hooks", serverSelectionTimeoutMS: 9_000, w: 2, journal: undefined });
  });
});
