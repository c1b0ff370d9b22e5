import createInvite from "../../../../schemas/requests/create-invite.json" with { type: "json" };
import listInvites from "../../../../schemas/requests/list-invites.json" with { type: "json" };
import register from "../../../../schemas/requests/register.json" with { type: "json" };
import { access } from "../../../kernel/operations/access.ts";
import { facts, json, nothing, page, problem } from "../../../kernel/operations/description.ts";
import { open, originOf, pathId, signedIn, type Operation } from "../../../kernel/operations/operation.ts";
import { developer, invite, inviteFact, password, token } from "../../examples.ts";
import { typesOf } from "../../facts.ts";
import { historyLists, historyRequest } from "../../history.ts";
import type { Services } from "../../services.ts";

const read = access("Viewer", "users:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Admin", "users:write");
const id = "The invite's id.";
const tag = "Invites";
const inviteToken = `inv_${token}`;
const othersInvite = "the invite belongs to another tenant";
const emailTaken = "email: a user with this email exists already";

/** Invites to the caller's tenant, and registration by invite. */
export function inviteOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createInvite",
      route: "POST /api/v1/invites",
      access: write,
      tag,
      summary: "Invite someone",
      description:
        "Admin or Owner, and never above the caller's own role. Valid for 7 days, or until a user of the tenant who " +
        "has the email is deleted. It stays valid when the caller loses the right to invite, so look through the " +
        "open ones when somebody leaves.",
      body: createInvite,
      examples: { developer: { email: "new@example.com", role: 0 } },
      answers: {
        201: json("created-invite", "The invite and its token, shown here only.", { ...invite, inviteToken }),
        403: problem(
          "The caller's role does not allow it.",
          "only Admin or above may invite users", "role: Admin may not invite a user with the role Owner",
        ),
        409: problem("The email is a user's already.", emailTaken),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.invites.create(caller, input, origin),
    })),
    signedIn({
      id: "listInvites",
      route: "GET /api/v1/invites",
      access: read,
      tag,
      summary: "List invites",
      description: "Invites of every status are listed.",
      list: listInvites,
      answers: { 200: page("invite", "A page of invites.", invite) },
    }, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.invites.list(caller, page),
    })),
    signedIn({
      id: "listInviteHistory",
      route: "GET /api/v1/invites/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List an invite's history",
      description:
        "Who invited, who revoked it, and when it was used: the user has the invite's id. " +
        `Neither the token nor the email is shown.\n\n${typesOf("invite")}`,
      parameters: { id },
      list: historyLists.invite,
      answers: {
        200: facts(inviteFact),
        403: problem("The invite belongs to another tenant.", othersInvite),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.invites.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "revokeInvite",
      route: "DELETE /api/v1/invites/:id",
      access: write,
      tag,
      summary: "Revoke an invite",
      parameters: { id },
      answers: {
        204: nothing("Revoked."),
        403: problem(
          "The caller is neither Admin nor Owner, or the invite belongs to another tenant.",
          "only Admin or above may revoke invites", othersInvite,
        ),
        409: problem("It was used already; delete the user instead.", "the invite was used already"),
      },
    }, async (call) => {
      await commands.invites.revoke(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    open({
      id: "register",
      route: "POST /api/v1/invites/:token/register",
      tag,
      summary: "Accept an invite",
      description: "Every request counts against the limit of its address, whatever its answer.",
      parameters: {
        token: { description: "The invite's token.", schema: { type: "string", examples: [inviteToken] } },
      },
      body: register,
      examples: { password: { password } },
      answers: {
        201: json("user", "The user, who may now log in.", { ...developer, email: invite.email }),
        404: problem("No invite has this token, or it was revoked.", "invite not found"),
        409: problem(
          "The invite was used already, or its email became another user's meanwhile.",
          "the invite was used already", emailTaken,
        ),
        422: problem("The invite has expired.", "the invite has expired"),
        429: problem(
          "More than 10 requests from this address, or IPv6 /64 network, within the hour " +
          "(`RELAY_LIMIT_INVITE_REGISTRATION`).",
          "too many registrations were tried from this address; try again later",
        ),
      },
    }, async (exchange, read) => {
      // Every request counts, malformed ones too.
      await commands.invites.admitRegistration(exchange.address);
      const { password } = await read();
      const origin = originOf({ type: "anonymous" }, exchange.requestId);
      const token = exchange.params["token"] ?? "";
      return { status: 201, body: await commands.invites.register(token, password, origin, exchange.address) };
    }),
  ];
}
