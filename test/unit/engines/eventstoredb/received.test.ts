import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { expect } from "chai";
import { receivedOf } from "../../../../src/engines/eventstoredb/received.ts";
import { eventMessage } from "../../../support/eventstoredb-server/messages.ts";

const id = "019bbef3-c436-84a4-8751-63f9a3a1a409";

describe("a message of EventStoreDB's reads", () => {
  const event = (data: string) => eventMessage({
    stream: "event-Grüße", revision: 2n ** 53n - 1n, position: 2n ** 63n - 1n, created: 17, id, type: "Noted",
    contentType: "application/json", data: Buffer.from(data), metadata: Buffer.from("{}"),
  });

  it("is read as the client's generated classes read it", () => {
    for (const data of ["", "x", "ü".repeat(200), "y".repeat(100_000)]) {
      const { record } = receivedOf(event(data).serializeBinary());
      const position = "09223372036854775807/09223372036854775807";
      expect(record).to.deep.include({
        stream: "event-Grüße", revision: 2 ** 53 - 1, position, id, type: "Noted",
      });
      expect(Buffer.from(record!.data).toString()).to.equal(data);
      expect(Buffer.from(record!.metadata).toString()).to.equal("{}");
    }
  });

  it("has no data where an event has none", () => {
    const bare = new streams.ReadResp.ReadEvent.RecordedEvent()
      .setId(new shared.UUID().setString(id))
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from("event-1")));
    const message = new streams.ReadResp().setEvent(new streams.ReadResp.ReadEvent().setEvent(bare));
    const { record } = receivedOf(message.serializeBinary());
    expect(record).to.include({ stream: "event-1", revision: 0, type: "" });
    expect([record!.data.length, record!.metadata.length]).to.deep.equal([0, 0]);
  });

  it("may be a checkpoint, or nothing that the relay needs", () => {
    const checkpoint = new streams.ReadResp.Checkpoint()
      .setCommitPosition("18446744073709551615").setPreparePosition("7");
    expect(receivedOf(new streams.ReadResp().setCheckpoint(checkpoint).serializeBinary())).to.deep.equal({
      checkpoint: "18446744073709551615/00000000000000000007",
    });
    for (const other of [
      new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId("one")),
      new streams.ReadResp().setLastStreamPosition("9"),
      new streams.ReadResp(),
    ]) expect(receivedOf(other.serializeBinary())).to.deep.equal({});
  });
});
