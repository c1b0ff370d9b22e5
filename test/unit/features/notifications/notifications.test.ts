import { decide, mostSubscriptions } from "../../../../src/features/notifications/decide.ts";
import { evolve, type Notifications, type NotificationsEvent } from "../../../../src/features/notifications/facts.ts";
import { specificationsOf } from "../../../support/given.ts";

const given = specificationsOf({ initial: (): Notifications => [], evolve, decide });

const at = "2026-01-15T09:30:00.000Z";
const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const destinationId = "0193a1b2-c3d4-7000-8000-000000000003";
const idOf = (number: number) => `0193a1b2-c3d4-7000-8000-0000000001${String(number).padStart(2, "0")}`;
const types = ["destination.suspended"] as const;
const subscribed = (number: number): NotificationsEvent =>
  ({ type: "NotificationsSubscribed", data: { subscriptionId: idOf(number), tenantId, destinationId, types, at } });
const unsubscribed = (number: number): NotificationsEvent =>
  ({ type: "NotificationsUnsubscribed", data: { subscriptionId: idOf(number), tenantId, destinationId, at } });
const subscribe = (number: number) =>
  ({ type: "Subscribe", subscription: { id: idOf(number), tenantId, destinationId, types }, at }) as const;

describe("notification subscriptions", () => {
  it("are made up to the limit, and again once one is deleted", () => {
    const most = Array.from({ length: mostSubscriptions }, (_, number) => subscribed(number));
    given([]).when(subscribe(1)).gives(subscribed(1));
    given(most).when(subscribe(99)).refused("rejected", "20 notification subscriptions");
    given([...most, unsubscribed(3)]).when(subscribe(99)).gives(subscribed(99));
  });

  it("are deleted once", () => {
    given([subscribed(1)]).when({ type: "Unsubscribe", id: idOf(1), at }).gives(unsubscribed(1));
    given([subscribed(1), unsubscribed(1)]).when({ type: "Unsubscribe", id: idOf(1), at })
      .refused("not-found", "notification subscription");
  });
});
