import { at, internalFact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { sealed, uuid } from "../../../kernel/domain/schema.ts";

/** The key of a person's email. Deleting the stream makes the email unreadable for good. */
export const personFacts = {
  PersonKeyCreated: internalFact({
    data: { userId: uuid(), tenantId: uuid(), key: sealed("Sealed under the tenant's data key."), at },
    meaning: "The key that seals a person's email; deleting its stream erases the address.",
  }),
};
export type PersonEvent = EventsOf<typeof personFacts>;
