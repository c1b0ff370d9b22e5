import createPortalLink from "../../../schemas/requests/create-portal-link.json" with { type: "json" };
import listPortalLinks from "../../../schemas/requests/list-portal-links.json" with { type: "json" };
import openPortalSession from "../../../schemas/requests/open-portal-session.json" with { type: "json" };
import { portalCookies } from "../../kernel/callers/session-cookies.ts";
import { access, mayCall, portalOnly } from "../../kernel/operations/access.ts";
import { challenge, json, nothing, page, problem } from "../../kernel/operations/description.ts";
import { open, originOf, pathId, signedIn, visitorOf, type Operation } from "../../kernel/operations/operation.ts";
import { portalLink, portalSession, token } from "../examples.ts";
import type { Services } from "../services.ts";
import { badCode } from "./decide.ts";

const manage = access("Admin", "portal:write", "Developer");
const tag = "Portal";
const lacksRole = "only Admin or above may manage portal links";
const others = "the portal link belongs to another tenant";
const { ownerId, may, label, returnUrl, expiresAt } = portalLink;
const url = `https://relay.example.com/portal#code=prt_${portalLink.id.replaceAll("-", "")}${token}`;
const setsCookie = {
  "Set-Cookie": { description: "The session's cookie.", required: true, schema: { type: "string" } },
};

/** Links to the portal, and the sessions of its visitors; `operations`: all, for those of the visitor. */
export function portalOperations(
  { commands, queries, portalSessions }: Services, operations: () => readonly Operation[],
): Operation[] {
  return [
    signedIn({
      id: "createPortalLink",
      route: "POST /api/v1/portal-links",
      access: manage,
      tag,
      summary: "Create a portal link",
      description:
        "A customer of the tenant opens the portal with it, without an account. `url` is good once, within 60 " +
        "seconds: create it when the customer asks for the portal, and send the browser there. Its origin is " +
        "`RELAY_PUBLIC_URL`. The customer sees the destinations that the link names and their events, and nothing " +
        "else of the tenant: 404. What the link names but does not allow is 403.",
      body: createPortalLink,
      examples: {
        "for a customer": { ownerId, may, label, returnUrl },
        "for some destinations": { destinationUrlIds: ["0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03"], may: ["read"] },
      },
      answers: {
        201: json("created-portal-link", "The link, shown here only.", { id: portalLink.id, url, expiresAt }),
        400: problem(
          "A field is missing or not valid.", "ownerId: or destinationUrlIds is required",
          "destinationUrlIds: must not be given together with ownerId",
          "returnUrl: must be an HTTPS URL, or one of http: at localhost",
        ),
        403: problem(
          "The caller's role is below Admin, or a destination belongs to another tenant.", lacksRole,
          "the destination belongs to another tenant",
        ),
        404: problem("No such destination.", "destinationUrlIds: destination not found"),
      },
    }, async (call) => ({
      status: 201,
      body: await commands.portalLinks.create(call.caller, call.input, call.origin),
    })),
    signedIn({
      id: "listPortalLinks",
      route: "GET /api/v1/portal-links",
      access: manage,
      tag,
      summary: "List portal links",
      description: "Those whose code or session is still good.",
      list: listPortalLinks,
      answers: {
        200: page("portal-link", "A page of portal links.", portalLink),
        403: problem("The caller's role is below Admin.", lacksRole),
      },
    }, async ({ caller, input }) => ({
      status: 200,
      body: await queries.portalLinks.list(caller, input.page),
    })),
    signedIn({
      id: "deletePortalLink",
      route: "DELETE /api/v1/portal-links/:id",
      access: manage,
      tag,
      summary: "Delete a portal link",
      description: "Its code and its session stop working at once.",
      parameters: { id: "The portal link's id." },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller's role is below Admin, or the link belongs to another tenant.", lacksRole, others,
        ),
      },
    }, async (call) => {
      await commands.portalLinks.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    open({
      id: "openPortalSession",
      route: "POST /api/v1/portal/session",
      tag,
      summary: "Open the portal, in a browser",
      description:
        "Trades the code of a link for a session in the cookie `__Host-relay-portal`, which scripts cannot read. It " +
        "counts only for requests with `Sec-Fetch-Site: same-origin`, which browsers set, and only without " +
        "`Authorization`. Where a browser has the cookie of a person's session, too, that one counts, unless the " +
        "request has the header `X-Relay-Portal`. Embedded, the cookie is `SameSite=None; Secure; Partitioned`, else " +
        "`SameSite=Strict`, and at localhost without TLS `relay-portal-local`.",
      body: openPortalSession,
      examples: { "in a tab": { code: `prt_${portalLink.id.replaceAll("-", "")}${token}`, embedded: false } },
      answers: {
        204: { ...nothing("The session has begun."), headers: setsCookie },
        400: problem(
          "The body is not valid, or the page's origin is `http:` at another host, where browsers drop the cookie.",
          "code: is required",
          "Origin: must be https:, since browsers drop the cookie here; use TLS, or a tunnel to localhost",
        ),
        401: challenge("Bearer", "The code is not valid, used, too old, or of a deleted link.", badCode),
      },
    }, async ({ headers, requestId }, read) => {
      const { code, embedded } = await read();
      const name = portalCookies.nameFor(headers);
      const { token, seconds } = await portalSessions.begin(code, embedded, (id) =>
        originOf({ type: "portalLink", id }, requestId));
      const cookies = embedded
        ? portalCookies.issuedInFrame(token, seconds) : portalCookies.issued(name, token, seconds);
      return { status: 204, headers: { "Set-Cookie": cookies } };
    }),
    signedIn({
      id: "getPortalSession",
      route: "GET /api/v1/portal/session",
      access: portalOnly,
      security: "portal",
      tag,
      summary: "Get the portal's session",
      description: "What the visitor may do and until when, and how the portal looks.",
      answers: { 200: json("portal-session", "The session.", portalSession) },
    }, async (call) => {
      const visitor = visitorOf(call);
      const own = operations().filter(({ access: needed }) => needed !== undefined && mayCall(visitor, needed));
      const session = await queries.portalLinks.session(visitor);
      return { status: 200, body: { ...session, operations: own.map(({ id }) => id) } };
    }),
    signedIn({
      id: "endPortalSession",
      route: "DELETE /api/v1/portal/session",
      access: portalOnly,
      security: "portal",
      tag,
      summary: "Leave the portal",
      description: "Ends the session and removes the browser's cookie. The link cannot be used again.",
      answers: { 204: { ...nothing("The session is over."), headers: setsCookie } },
    }, async (call) => {
      await portalSessions.end(visitorOf(call), call.origin);
      return { status: 204, headers: { "Set-Cookie": [...portalCookies.ended, portalCookies.endedInFrame] } };
    }),
  ];
}
