import listIncidents from "../../../schemas/requests/list-incidents.json" with { type: "json" };
import incidentSchema from "../../../schemas/responses/incident.json" with { type: "json" };
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { access } from "../../kernel/operations/access.ts";
import { json, page, problem } from "../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import type { Services } from "../services.ts";

const read = access("Viewer", "audit:read");
const tag = "Incidents";

/** Incidents of the caller's tenant. */
export function incidentOperations({ queries }: Services): Operation[] {
  return [
    signedIn({
      id: "listIncidents",
      route: "GET /api/v1/incidents",
      access: read,
      tag,
      summary: "List incidents",
      description:
        "An incident begins with the first of three failed attempts in a row to a destination, or of fewer that " +
        "opened its circuit. It ends with the next success, or with the destination's deletion. Attempts that do not " +
        "count for the circuit, and test events, are left out. `From` and `To` are about the begin. A purge changes " +
        "no incident; read models that are built again after it tell the rest of the log.",
      list: listIncidents,
      answers: { 200: page("incident", "A page of incidents.", incidentSchema.example) },
    }, async ({ caller, input: { page, filters } }) => {
      const { State: state, DestinationUrlId, From, To } = filters;
      const filter = {
        state,
        destinationUrlId: DestinationUrlId?.toLowerCase(),
        from: parseOptionalDateTime("From", From),
        to: parseOptionalDateTime("To", To),
      };
      return { status: 200, body: await queries.incidents.list(caller, filter, page) };
    }),
    signedIn({
      id: "getIncident",
      route: "GET /api/v1/incidents/:id",
      access: read,
      tag,
      summary: "Get an incident",
      description:
        "`suspects` are changes in the day before: what changed before, which need not be the cause. An event counts " +
        "in `events` where it stands now. `refused` is counted as well as possible, as `GET /refusals` is.",
      parameters: { id: "The incident's id." },
      answers: {
        200: json("incident", "The incident.", incidentSchema.example),
        403: problem("The incident belongs to another tenant.", "the incident belongs to another tenant"),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.incidents.get(call.caller, pathId(call)),
    })),
  ];
}
