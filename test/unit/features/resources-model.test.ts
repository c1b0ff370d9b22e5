import { expect } from "chai";
import fc from "fast-check";
import { decide as decideDestination, type DestinationCommand } from "../../../src/features/destinations/decide.ts";
import { evolve as evolveDestination, type DestinationState } from "../../../src/features/destinations/facts.ts";
import * as apiKey from "../../../src/features/keys/api-keys/decide.ts";
import * as invite from "../../../src/features/people/invites/decide.ts";
import { decide as decideSender, type SenderCommand } from "../../../src/features/senders/decide.ts";
import { evolve as evolveSender, type SenderState } from "../../../src/features/senders/facts.ts";
import * as reservation from "../../../src/features/tenants/reservations/facts.ts";
import { roles } from "../../../src/kernel/domain/roles.ts";
import { met, type Expected } from "../../support/decider-model.ts";

const none = undefined;
const plus = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString();
const maybe = <Value>(...values: readonly Value[]) => fc.constantFrom(none, ...values);
const token = fc.constantFrom("t1", "t2", "t3");

describe("destination, against a model", () => {
  it("changes only by different settings, and not at all once it is deleted", () => {
    const auth = { type: "BearerToken", credentials: "sealed" } as const;
    const step = fc.oneof(
      {
        weight: 2,
        arbitrary: fc.record({ type: fc.constant("register" as const), url: fc.constantFrom("a", "b"), token }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constant("change" as const), url: maybe("a", "b"), limit: maybe(1, 2), active: maybe(true, false),
          auth: maybe(null, auth),
        }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("token" as const), token }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const) }) },
    );
    interface Model {
      is: "none" | "there" | "gone";
      url: string;
      limit: number;
      active: boolean;
      auth: unknown;
      token: string;
    }
    const outcomes = met({
      decider: { initial: (): DestinationState => none, evolve: evolveDestination, decide: decideDestination },
      step,
      model: (): Model => ({ is: "none", url: "", limit: 0, active: true, auth: null, token: "" }),
      expected: (model, one): Expected => {
        if (one.type === "register") {
          if (model.is !== "none") return { refused: "conflict" };
          Object.assign(model, { is: "there", url: one.url, limit: 1, auth: null, token: one.token });
          return ["DestinationRegistered"];
        }
        if (model.is !== "there") return { refused: "not-found" };
        if (one.type === "delete") {
          model.is = "gone";
          return ["DestinationDeleted"];
        }
        if (one.type === "token") {
          model.token = one.token;
          return ["IngestTokenRegenerated"];
        }
        const facts: string[] = [];
        if (one.url !== none && one.url !== model.url) facts.push("DestinationUrlChanged");
        if (one.limit !== none && one.limit !== model.limit) facts.push("DestinationRateLimitChanged");
        if (one.auth === null && model.auth !== null) facts.push("DestinationAuthRemoved");
        if (one.auth) facts.push("DestinationAuthConfigured");
        if (one.active !== none && one.active !== model.active) {
          facts.push(one.active ? "DestinationActivated" : "DestinationDeactivated");
        }
        const { url = model.url, limit = model.limit, active = model.active, auth: proof = model.auth } = one;
        Object.assign(model, { url, limit, active, auth: proof });
        return facts;
      },
      command: (one, at): DestinationCommand => {
        switch (one.type) {
          case "register": {
            const ids = { destinationId: "d", tenantId: "t", url: one.url, ingestTokenHash: one.token };
            return { type: "RegisterDestination", destination: { ...ids, serverRateLimit: 1, auth: null }, at };
          }
          case "change":
            return {
              type: "ChangeDestination", at,
              url: one.url, serverRateLimit: one.limit, active: one.active, auth: one.auth,
            };
          case "token":
            return { type: "RegenerateIngestToken", ingestTokenHash: one.token, at };
          case "delete":
            return { type: "DeleteDestination", at };
        }
      },
      ofState: (state) => state && [
        state.deleted ? "gone" : "there", state.url, state.serverRateLimit, state.active, state.auth,
        state.ingestTokenHash,
      ],
      ofModel: ({ is, url, limit, active, auth: proof, token: hash }) =>
        is === "none" ? none : [is, url, limit, active, proof, hash],
    });
    expect(outcomes).to.include.keys(
      "change: nothing", "delete: not-found", "register: conflict", "delete: DestinationDeleted",
    );
  });
});

describe("sender, against a model", () => {
  it("changes only by different settings, and not at all once it is deleted", () => {
    const mapping = (expression: string) => ({ language: "jmespath", expression }) as const;
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ type: fc.constant("create" as const), token }) },
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constant("change" as const), name: maybe("a", "b"), destinationId: maybe("d", "e"),
          active: maybe(true, false), expression: maybe(null, "x", "y"),
        }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("token" as const), token }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const) }) },
    );
    interface Model {
      is: "none" | "there" | "gone";
      name: string;
      to: string;
      active: boolean;
      maps: string | null;
      token: string;
    }
    const outcomes = met({
      decider: { initial: (): SenderState => none, evolve: evolveSender, decide: decideSender },
      step,
      model: (): Model => ({ is: "none", name: "a", to: "d", active: true, maps: null, token: "" }),
      expected: (model, one): Expected => {
        if (one.type === "create") {
          if (model.is !== "none") return { refused: "conflict" };
          Object.assign(model, { is: "there", token: one.token });
          return ["SenderCreated"];
        }
        if (model.is !== "there") return { refused: "not-found" };
        if (one.type === "delete") {
          model.is = "gone";
          return ["SenderDeleted"];
        }
        if (one.type === "token") {
          model.token = one.token;
          return ["SenderIngestTokenRegenerated"];
        }
        const { name = model.name, destinationId: to = model.to } = one;
        const { active = model.active, expression: maps = model.maps } = one;
        const facts = [
          ...(name === model.name ? [] : ["SenderRenamed"]),
          ...(to === model.to ? [] : ["SenderDestinationChanged"]),
          ...(maps === model.maps ? [] : ["SenderMappingChanged"]),
          ...(active === model.active ? [] : [active ? "SenderActivated" : "SenderDeactivated"]),
        ];
        Object.assign(model, { name, to, active, maps });
        return facts;
      },
      command: (one, at): SenderCommand => {
        switch (one.type) {
          case "create": {
            const sender = { senderId: "s", tenantId: "t", name: "a", destinationId: "d", mapping: null };
            return { type: "CreateSender", sender: { ...sender, ingestTokenHash: one.token }, at };
          }
          case "change": {
            const { name, destinationId, active, expression } = one;
            const changed = expression === none ? none : expression === null ? null : mapping(expression);
            return { type: "ChangeSender", name, destinationId, active, mapping: changed, at };
          }
          case "token":
            return { type: "RegenerateIngestToken", ingestTokenHash: one.token, at };
          case "delete":
            return { type: "DeleteSender", at };
        }
      },
      ofState: (state) => state && [
        state.deleted ? "gone" : "there", state.name, state.destinationId, state.active,
        state.mapping?.expression ?? null, state.ingestTokenHash,
      ],
      ofModel: ({ is, name, to, active, maps, token: hash }) =>
        is === "none" ? none : [is, name, to, active, maps, hash],
    });
    expect(outcomes).to.include.keys(
      "change: nothing", "delete: not-found", "create: conflict", "delete: SenderDeleted",
    );
  });
});

describe("API key, against a model", () => {
  it("is usable from its issue to its end, and remembers its latest use", () => {
    const step = fc.oneof(
      {
        weight: 2,
        arbitrary: fc.record({ type: fc.constant("issue" as const), lastsMs: fc.constantFrom(null, 0, 1, 90_000) }),
      },
      { weight: 4, arbitrary: fc.record({ type: fc.constant("use" as const), agoMs: fc.constantFrom(0, 1, 60_000) }) },
      {
        weight: 2,
        arbitrary: fc.record({ type: fc.constant("rotate" as const), overlapSeconds: fc.constantFrom(0, 60, 604_800) }),
      },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("revoke" as const) }) },
    );
    type Model = { is: "none" | "good" | "revoked"; until: string | null; used: string | null; now: string };
    const outcomes = met({
      decider: { initial: (): apiKey.ApiKeyState => none, evolve: apiKey.evolve, decide: apiKey.decide },
      step,
      model: (): Model => ({ is: "none", until: null, used: null, now: "" }),
      expected: (model, one, at): Expected => {
        model.now = at;
        if (one.type === "issue") {
          if (model.is !== "none") return { refused: "conflict" };
          if (one.lastsMs === 0) return { refused: "invalid" };
          Object.assign(model, { is: "good", until: one.lastsMs === null ? null : plus(at, one.lastsMs) });
          return ["ApiKeyIssued"];
        }
        if (one.type === "revoke") {
          if (model.is !== "good") return { refused: "not-found" };
          model.is = "revoked";
          return ["ApiKeyRevoked"];
        }
        if (one.type === "rotate") {
          if (model.is !== "good") return [];
          const end = plus(at, one.overlapSeconds * 1000);
          if (model.until === null || end < model.until) model.until = end;
          return ["ApiKeyRotated"];
        }
        const used = plus(at, -one.agoMs);
        if (model.is !== "good" || used <= (model.used ?? "")) return [];
        model.used = used;
        return ["ApiKeyUsed"];
      },
      command: (one, at): apiKey.ApiKeyCommand => {
        switch (one.type) {
          case "issue": {
            const expiresAt = one.lastsMs === null ? null : plus(at, one.lastsMs);
            const key = { keyId: "k", tenantId: "t", name: "key", keyHash: "h", prefix: "rk_", last4: "abcd" };
            return { type: "IssueApiKey", key: { ...key, expiresAt }, at };
          }
          case "use":
            return { type: "RecordUse", usedAt: plus(at, -one.agoMs), at };
          case "rotate":
            return { type: "RotateApiKey", successorId: "s", overlapSeconds: one.overlapSeconds, at };
          case "revoke":
            return { type: "RevokeApiKey", at };
        }
      },
      ofState: (state) => state && [
        state.revoked, state.expiresAt, state.usedAt,
        state.expiresAt !== null && apiKey.isUsable(state, state.expiresAt),
      ],
      ofModel: ({ is, until, used }) => (is === "none" ? none : [is === "revoked", until, used, false]),
    });
    expect(outcomes).to.include.keys("use: nothing", "use: ApiKeyUsed", "rotate: ApiKeyRotated", "issue: invalid",
      "revoke: not-found");
  });
});

describe("invite, against a model", () => {
  it("is accepted by one user, in time, while it is pending", () => {
    const role = fc.constantFrom(...roles);
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ type: fc.constant("create" as const), by: role, role }) },
      { weight: 3, arbitrary: fc.record({ type: fc.constant("accept" as const), abandoned: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("revoke" as const), by: role, abandoned: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("forget" as const) }) },
    );
    type Model = { is: "none" | "Pending" | "Accepted" | "Revoked"; until: string };
    const outcomes = met({
      decider: { initial: (): invite.InviteState => none, evolve: invite.evolve, decide: invite.decide },
      step,
      model: (): Model => ({ is: "none", until: "" }),
      expected: (model, one, at): Expected => {
        if (one.type === "create") {
          if (model.is !== "none") return { refused: "conflict" };
          const mayInvite = one.by === "Owner" || (one.by === "Admin" && one.role !== "Owner");
          if (!mayInvite) return { refused: "forbidden" };
          Object.assign(model, { is: "Pending", until: plus(at, invite.inviteValidMs) });
          return ["InviteCreated"];
        }
        if (model.is === "none") return { refused: "not-found" };
        if (one.type === "revoke") {
          if (one.by !== "Owner" && one.by !== "Admin") return { refused: "forbidden" };
          if (model.is === "Accepted" && !one.abandoned) return { refused: "conflict" };
          if (model.is === "Revoked") return [];
          model.is = "Revoked";
          return ["InviteRevoked"];
        }
        if (one.type === "forget") {
          if (model.is === "Accepted") return [];
          model.is = "Revoked";
          return ["InviteForgotten"];
        }
        if (model.is === "Revoked") return { refused: "not-found" };
        if (model.is === "Accepted" && !one.abandoned) return { refused: "conflict" };
        if (at >= model.until) return { refused: "rejected" };
        model.is = "Accepted";
        return ["InviteAccepted"];
      },
      command: (one, at): invite.InviteCommand => {
        switch (one.type) {
          case "create": {
            const ids = { inviteId: "i", tenantId: "t", email: "sealed", tokenHash: "h" };
            const invited = { ...ids, role: one.role, expiresAt: plus(at, invite.inviteValidMs) };
            return { type: "CreateInvite", by: { role: one.by }, invite: invited, at };
          }
          case "accept":
            return { type: "AcceptInvite", abandoned: one.abandoned, at };
          case "revoke":
            return { type: "RevokeInvite", by: { role: one.by }, abandoned: one.abandoned, at };
          case "forget":
            return { type: "ForgetInvite", at };
        }
      },
      ofState: (state) => state && [state.status, state.expiresAt],
      ofModel: ({ is, until }) => (is === "none" ? none : [is, until]),
    });
    expect(outcomes).to.include.keys(
      "create: forbidden", "create: conflict", "accept: conflict", "accept: rejected", "accept: not-found",
      "accept: InviteAccepted", "revoke: conflict", "revoke: forbidden", "revoke: nothing", "forget: nothing",
    );
  });
});

describe("reservation, against a model", () => {
  it("belongs to one holder until it is released, and becomes doubtful only by age", () => {
    type Try = { readonly type: "reserve" | "release"; readonly tenantId: string; readonly patient: boolean };
    const step: fc.Arbitrary<Try> = fc.record({
      type: fc.constantFrom("reserve" as const, "reserve" as const, "release" as const),
      tenantId: fc.constantFrom("a", "b"),
      patient: fc.boolean(),
    });
    type Model = { holder: string | null; since: number };
    const outcomes = met({
      decider: {
        initial: (): reservation.ReservationState => none,
        evolve: reservation.evolve,
        decide: (state, { type, tenantId, patient, at }: Try & { readonly at: string }) => {
          const holder = { tenantId, userId: null };
          if (type === "release") {
            const isHolder = state?.holder?.tenantId === tenantId;
            return isHolder ? [{ type: "NameReleased" as const, data: { holder, at } }] : [];
          }
          const found = reservation.availability(state, at);
          const mayTake = found === "free" || (found === "doubtful" && patient);
          return mayTake ? [{ type: "NameReserved" as const, data: { holder, at } }] : [];
        },
      },
      step,
      model: (): Model => ({ holder: null, since: 0 }),
      expected: (model, { type, tenantId, patient }, at): Expected => {
        const now = Date.parse(at);
        if (type === "release") {
          if (model.holder !== tenantId) return [];
          model.holder = null;
          return ["NameReleased"];
        }
        if (model.holder !== null && !(patient && now - model.since > 30_000)) return [];
        Object.assign(model, { holder: tenantId, since: now });
        return ["NameReserved"];
      },
      command: (one, at) => ({ ...one, at }),
      ofState: (state) => state?.holder?.tenantId ?? null,
      ofModel: ({ holder }) => holder,
    });
    expect(outcomes).to.include.keys(
      "reserve: NameReserved", "reserve: nothing", "release: NameReleased", "release: nothing",
    );
  });
});
