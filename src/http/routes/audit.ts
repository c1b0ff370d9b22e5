import { parseOptionalDateTime } from "../../application/input-rules.ts";
import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { lists } from "../requests/list-queries.ts";
import { signedInQuery, type Route } from "../route.ts";

const read = access("Viewer", "audit:read");

/** The changes of the caller's tenant, with their authors. */
export function auditRoutes({ queries }: Services): Route[] {
  return [
    signedInQuery(read, "/api/v1/audit", lists.audit, async ({ caller, input: { page, filters } }) => {
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
