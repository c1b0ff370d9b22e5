import { at, internalFact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { text, time, uuid } from "../../../kernel/domain/schema.ts";

export const sessionFacts = {
  SessionRevoked: internalFact({
    data: {
      tokenId: text("The id of the token, or of the browser's session."), userId: uuid(), tenantId: uuid(),
      expiresAt: time(), at,
    },
    meaning: "A token ended before it expired, or the session of a browser with all its tokens.",
  }),
};
export type SessionEvent = EventsOf<typeof sessionFacts>;
