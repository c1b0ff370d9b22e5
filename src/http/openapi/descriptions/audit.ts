import { page, type Descriptions } from "../description.ts";
import { auditFact } from "../examples.ts";

/** The changes of the caller's tenant, with their authors. */
export const auditDescriptions: Descriptions = {
  "GET /api/v1/audit": {
    id: "listAudit",
    tag: "Audit",
    summary: "List the audit",
    description:
      "What people and the operator did to the tenant's settings, users, invites, API keys, destinations " +
      "and senders, deleted ones too, and who purged or replayed many events, or closed a circuit; newest first. " +
      "Filters can be combined: what happened to one thing (`SubjectId`), what one person did (`ActorId`), what one " +
      "request did (`CorrelationId`), what was deleted (`Type=DestinationDeleted`), and when (`From`, `To`). What " +
      "happened to single events, and what the service did by itself, is in their histories.",
    answers: { 200: page("audit", "A page of facts.", auditFact) },
  },
};
