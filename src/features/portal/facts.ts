import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { portalRights, type PortalRight } from "../../kernel/domain/roles.ts";
import { boolean, integer, list, nullable, oneOf, text, time, uuid } from "../../kernel/domain/schema.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";

const ids = { portalLinkId: uuid("The portal link."), tenantId: uuid(), at };
const told = ["portalLinkId", "tenantId", "at"] as const;

const settings = {
  ownerId: nullable(text("The customer whose destinations the link names; null if it names them by their ids.")),
  destinationIds: nullable(list(uuid(), "The destinations that it names; null if it names those of an owner.", 1)),
  may: list(oneOf(portalRights), "What its visitor may do.", 1),
  label: nullable(text("What people call it.")),
  sessionSeconds: integer(1, "How long its session lasts."),
  returnUrl: nullable(text("Where its visitor came from.")),
};

/** Facts of a `portalLink-<id>` stream. Of the code and of the session's cookie only the SHA-256 is stored. */
export const portalLinkFacts = {
  PortalLinkCreated: fact({
    data: {
      ...ids, ...settings, codeHash: text("SHA-256 of the code."), expiresAt: time("From when the code is too old."),
    },
    meaning: "The portal link was created.",
    words: ["created the portal link “{label}”", "created a portal link"],
    shown: [...told, "ownerId", "destinationIds", "may", "label", "sessionSeconds", "returnUrl", "expiresAt"],
    audit: "portalLink",
    creates: true,
  }),
  PortalSessionBegun: fact({
    data: {
      ...ids, sessionHash: text("SHA-256 of the session's token."),
      embedded: boolean("Whether the portal is in a frame of another site."), expiresAt: time("When the session ends."),
    },
    meaning: "A browser used the code of the portal link: its session began.",
    words: "opened the portal, until {expiresAt}",
    shown: [...told, "embedded", "expiresAt"],
    audit: "portalLink",
  }),
  PortalSessionEnded: fact({
    data: ids,
    meaning: "The visitor signed out of the portal.",
    words: "signed out of the portal",
    shown: told,
    audit: "portalLink",
  }),
  PortalLinkDeleted: fact({
    data: ids,
    meaning: "The portal link was deleted, and its session ended.",
    words: "deleted the portal link",
    shown: told,
    audit: "portalLink",
  }),
};
export type PortalLinkEvent = EventsOf<typeof portalLinkFacts>;

/** The settings of a portal link, which never change. */
export interface PortalLinkSettings {
  readonly ownerId: string | null;
  readonly destinationIds: readonly string[] | null;
  readonly may: readonly PortalRight[];
  readonly label: string | null;
  readonly sessionSeconds: number;
  readonly returnUrl: string | null;
}

/** A portal link as folded from its own stream. */
export interface PortalLink extends PortalLinkSettings {
  readonly id: string;
  readonly tenantId: string;
  readonly codeHash: string;
  readonly createdAt: Timestamp;
  /** The code is not valid from this time on. */
  readonly expiresAt: Timestamp;
  /** Null until the code is used. */
  readonly session: PortalSession | null;
  readonly deleted: boolean;
}

/** The one session of a portal link. */
export interface PortalSession {
  readonly hash: string;
  readonly embedded: boolean;
  readonly begunAt: Timestamp;
  /** Earlier than planned after a sign-out. */
  readonly endsAt: Timestamp;
}

/** Undefined before it was created; a deleted one stays, marked. */
export type PortalLinkState = PortalLink | undefined;

/** Folds one fact in. */
export function evolve(state: PortalLinkState, { type, data }: PortalLinkEvent): PortalLinkState {
  if (type === "PortalLinkCreated") {
    const { portalLinkId: id, at: createdAt, ...created } = data;
    return { ...created, id, createdAt, session: null, deleted: false };
  }
  if (!state) return state;
  switch (type) {
    case "PortalSessionBegun": {
      const { sessionHash: hash, embedded, at: begunAt, expiresAt: endsAt } = data;
      return { ...state, session: { hash, embedded, begunAt, endsAt } };
    }
    case "PortalSessionEnded":
      return { ...state, session: state.session && { ...state.session, endsAt: data.at } };
    case "PortalLinkDeleted":
      return { ...state, deleted: true };
  }
}

/** Whether the token of this hash opens the link's session at `now`. */
export function isOpenTo(link: PortalLink, sessionHash: string, now: Timestamp): boolean {
  return !link.deleted && link.session?.hash === sessionHash && now < link.session.endsAt;
}

/** Portal links by id, deleted ones too. */
export const portalLinks: AggregateType<PortalLink, PortalLinkEvent> = {
  category: "portalLink", stream: streams.portalLink, evolve,
};
