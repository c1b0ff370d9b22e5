import type { PlantedBug } from "./planted-bug.ts";
import { manyLost } from "./weathers.ts";

const routing = "src/features/subscriptions/routing.ts";

/** Mistakes with messages, and with their deliveries. */
export const messages: readonly PlantedBug[] = [
  {
    name: "each subscription of a destination gets a message",
    breaks: "a message reaches a destination once",
    file: routing,
    from: "matched.set(destinationId, subscription);",
    to: "matched.set(subscriptionId, subscription);",
  },
  {
    name: "an inactive subscription gets messages",
    breaks: "a message reaches only what subscribed to it",
    file: routing,
    from: "  if (!active) return \"inactive\";\n",
    to: "",
  },
  {
    name: "subscriptions without an owner get no messages of an owner",
    breaks: "a message reaches all that subscribed to it",
    file: routing,
    from: "of [...owners, ...ownerless]) {",
    to: "of owners.length > 0 ? owners : ownerless) {",
  },
  {
    name: "the mapping of a subscription is forgotten",
    breaks: "a delivery carries what its mapping made",
    file: "src/features/ingest/message-intake.ts",
    from: "payload: mapped.text === data ? null : mapped.text, problem: null",
    to: "payload: null, problem: null",
  },
  {
    name: "a purged delivery begins again by a late outcome",
    breaks: "a delivery begins once, as it was routed",
    file: "src/features/messages/messages.ts",
    from: "{ forGood: true }",
    to: "{ forGood: false }",
    weather: { ...manyLost, operations: 3_000 },
  },
  {
    name: "a delivery goes under an id of its own",
    breaks: "a delivery goes under the id of its message",
    file: "src/delivery/requests/request.ts",
    from: "sign(signer, messageId ?? eventId, at,",
    to: "sign(signer, eventId, at,",
  },
  {
    name: "the answer to a message lacks a delivery",
    breaks: "an answer shows the recorded routing",
    file: "src/features/ingest/message-intake.ts",
    from: "deliveries: deliveries.map(({ eventId, destinationId: destinationUrlId })",
    to: "deliveries: deliveries.slice(1).map(({ eventId, destinationId: destinationUrlId })",
  },
  {
    name: "a given-up delivery is left out of its message's status",
    breaks: "a message sums its deliveries up",
    file: "src/features/messages/messages.ts",
    from: "  if (statuses.includes(\"CriticalFailure\")) return \"CriticalFailure\";\n",
    to: "",
  },
  {
    name: "a message is deleted before the read models have seen its last delivery go",
    breaks: "read models are a fold of the log",
    file: "src/features/messages/messages.ts",
    from: "(await readModels.caughtUp(last.position, patienceMs)) && (await readModels.settle(fingerprint))",
    to: "true",
  },
  {
    name: "a delivery that is not mapped stays in the backlog",
    breaks: "read models are a fold of the log",
    file: "projections/due/due.ts",
    from: "DeliveryExhausted: (exhausted) => [...leave(exhausted), ...leaveOrder(exhausted)],",
    to: "DeliveryExhausted: leaveOrder,",
  },
];
