import { expect } from "chai";
import type { WebhookEvent } from "../../../src/features/events/facts.ts";
import { projected } from "../../support/projected.ts";
import { fail, id, lived, start, submission, succeed, t, unknown } from "../../support/webhook-history.ts";

const { eventId, tenantId, destinationId } = submission;
const resend = { type: "Resend", at: t(50) } as const;
const read = async (facts: readonly WebhookEvent[]) => {
  const models = await projected(facts);
  const counted = (status: string) => Promise.all(
    ["*", destinationId].map((whose) => models.sum(`events/${tenantId}/${whose}/${status}`)));
  return {
    event: await models.get("events", eventId),
    waiting: await models.get("waiting", eventId),
    succeeded: await counted("Succeeded"), pending: await counted("Pending"), backlog: await models.sum("due/backlog"),
  };
};

describe("read models of events that people act on", () => {
  it("count a resent event as Pending, and keep its last success", async () => {
    const { event, ...others } = await read(lived(start(0), succeed(1, 1), resend));
    expect(event).to.include({ status: "Pending", currentRetryCount: 0, nextAttemptAt: t(50), deliveredAt: t(1) });
    expect(others).to.deep.equal({ waiting: null, succeeded: [0, 0], pending: [1, 1], backlog: 1 });
  });

  it("leave a resent event as it is when an attempt of before succeeds late", async () => {
    const resent = lived(start(0), fail(1, 20, unknown), start(20), succeed(2, 21), resend);
    const late = lived(start(0), fail(1, 20, unknown), start(20), succeed(2, 21), resend, succeed(1, 60));
    expect(late).to.have.length(resent.length + 1);
    expect(await read(late)).to.deep.equal(await read(resent));
  });

  it("have a retry that is brought forward as due then, its count kept", async () => {
    const { event, waiting, backlog } = await read(
      lived(start(0), fail(1, 1), { type: "BringForward", at: t(2) }));
    expect(event).to.include({ status: "WaitingRetry", currentRetryCount: 1, nextAttemptAt: t(2) });
    expect(waiting).to.deep.equal({ eventId, destinationId: id(3), dueAt: t(2) });
    expect(backlog).to.equal(1);
  });
});
