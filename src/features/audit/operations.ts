import listAudit from "../../../schemas/requests/list-audit.json" with { type: "json" };
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { access } from "../../kernel/operations/access.ts";
import { page } from "../../kernel/operations/description.ts";
import { extended } from "../../kernel/operations/extended.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { auditFact } from "../examples.ts";
import { auditTypes } from "../facts.ts";
import type { Services } from "../services.ts";

const read = access("Viewer", "audit:read");
const auditList = extended(listAudit, { properties: { Type: { enum: auditTypes } } });

/** The changes of the caller's tenant, with their authors. */
export function auditOperations({ queries }: Services): Operation[] {
  return [
    signedIn({
      id: "listAudit",
      route: "GET /api/v1/audit",
      access: read,
      isLarge: true,
      tag: "Audit",
      summary: "List the audit",
      description:
        "What people and the operator did to the tenant's settings, users, invites, API keys, destinations " +
        "and senders, deleted ones too, and who purged or replayed many events, or closed a circuit; newest first. " +
        "Filters can be combined: what happened to one thing (`SubjectId`), what one person did (`ActorId`), what " +
        "one request did (`CorrelationId`), what was deleted (`Type=DestinationDeleted`), and when (`From`, `To`). " +
        "What happened to single events, and what the service did by itself, is in their histories.",
      list: auditList,
      answers: { 200: page("audit", "A page of facts.", auditFact) },
    }, async ({ caller, input: { page, filters } }) => {
      const { Type: type, SubjectId, ActorId, CorrelationId: correlationId, From, To } = filters;
      const filter = {
        type,
        subjectId: SubjectId?.toLowerCase(),
        actorId: ActorId?.toLowerCase(),
        correlationId,
        from: parseOptionalDateTime("From", From),
        to: parseOptionalDateTime("To", To),
      };
      return { status: 200, body: await queries.audit.list(caller, filter, page) };
    }),
  ];
}
