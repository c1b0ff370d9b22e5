import { expect } from "chai";
import { filterText, tagsText } from "../../../packages/dashboard/src/pages/operations/filter-text.ts";
import { orderOf } from "../../../packages/dashboard/src/pages/operations/order.ts";

describe("the form of an operation on many events", () => {
  const fields = {
    destinationUrlId: "d", senderId: " ", eventType: "paid", ownerId: "acme", messageId: "m", correlationId: "r",
    tags: "order:4711, url:b:c", status: "", finishedFrom: "2026-11-25 10:05", finishedTo: "", from: "2026-11-24 10:05",
    before: "2026-11-26 10:05", perSecond: "2.5", toDestinationUrlId: "",
  };
  const given = {
    destinationUrlId: "d", eventType: "paid", ownerId: "acme", messageId: "m", correlationId: "r",
    tags: { order: "4711", url: "b:c" }, finishedFrom: "2026-11-25T10:05:00.000Z",
  };

  it("gives each kind the filters of the list, and its own fields only", () => {
    const from = "2026-11-24T10:05:00.000Z";
    expect(orderOf("replay", fields, "UTC").body).to.deep.equal({ ...given, from, perSecond: 2.5 });
    expect(orderOf("cancel", fields, "UTC").body).to.deep.equal({ ...given, from });
    expect(orderOf("purge", fields, "UTC").body).to.deep.equal({ ...given, before: "2026-11-26T10:05:00.000Z" });
  });

  it("is told in words before it is done", () => {
    const words = filterText(orderOf("cancel", fields, "UTC").filter, (id) => `<${id}>`, (at) => at.slice(0, 10));
    expect(words).to.equal(
      "Events in Queued or Retrying for <d> of the type paid of the owner acme of the message m of the request r "
      + "with order:4711, url:b:c accepted from 2026-11-24 finished from 2026-11-25");
  });

  it("keeps a tag without a value for the relay to refuse, and writes tags as they are typed", () => {
    expect(orderOf("replay", { tags: "wrong" }, "UTC").body).to.deep.equal({ tags: { wrong: "" } });
    expect(tagsText({ order: "4711", url: "b:c" })).to.equal("order:4711, url:b:c");
  });
});
