import type { Inputs } from "../../../schemas/api.ts";
import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import authentication from "../../../schemas/requests/authentication.json" with { type: "json" };
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import listDestinations from "../../../schemas/requests/list-destinations.json" with { type: "json" };
import testDestination from "../../../schemas/requests/test-destination.json" with { type: "json" };
import updateDestination from "../../../schemas/requests/update-destination.json" with { type: "json" };
import { mostNamed } from "../../kernel/callers/caller.ts";
import { access, withPortal } from "../../kernel/operations/access.ts";
import { payloadReader } from "../../kernel/operations/body-reader.ts";
import { asOfWords, facts, json, nothing, page, problem } from "../../kernel/operations/description.ts";
import { changeOf, extended } from "../../kernel/operations/extended.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { circuitFact, destination, destinationFact, testEvent, token } from "../examples.ts";
import { typesOf } from "../facts.ts";
import { historyLists, historyRequest } from "../history.ts";
import type { Services } from "../services.ts";
import { healthOf, noLoad } from "./health.ts";

const read = withPortal(access("Viewer", "destinations:read"), "read");
const readHistory = withPortal(access("Viewer", "audit:read"), "read");
const write = access("Developer", "destinations:write");
const configure = withPortal(write, "configure");
const test = withPortal(access("Developer", "events:write"), "test");
const id = "The destination's id.";
const newDestination = extended(createDestination, authentication);
const changedDestination = extended(changeOf(createDestination, updateDestination), authentication);
const tag = "Destinations";
const othersDestination = "the destination belongs to another tenant";
const { url } = destination;
const ingestToken = `dst_${token}`;
const unauthenticated = Object.fromEntries(Object.entries(destination).filter(([name]) => name !== "authType"));

/** Destinations of the caller's tenant. */
export function destinationOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createDestination",
      route: "POST /api/v1/destinations",
      access: configure,
      tag,
      summary: "Register a destination",
      description:
        "The URL is HTTPS, at most 2,048 characters, without user or password; one that names a " +
        "private or otherwise special address is refused. Credentials are sealed at once and never shown again.",
      body: newDestination,
      examples: {
        "without authentication": { url },
        "with a name": { url, name: "Billing", ownerId: "customer-42", metadata: { team: "billing" } },
        "with an API key": {
          url, authType: "ApiKey", credentials: { headerName: "X-Their-Key", value: "their key" },
        },
        "with a bearer token": { url, authType: "BearerToken", credentials: { token: "their token" } },
        "with OAuth 2.0 client credentials": {
          url, authType: "JwtBearer",
          credentials: {
            tokenEndpoint: "https://login.example.com/token", clientId: "relay", clientSecret: "their secret",
            scope: "hooks",
          },
        },
        "with user and password": {
          url, serverRateLimit: 20, authType: "BasicAuth",
          credentials: { username: "relay", password: "their password" },
        },
      },
      answers: {
        201: json("created-destination", "The destination and its ingest token, shown here only.", {
          ...unauthenticated, health: healthOf(undefined, noLoad), ingestToken,
        }),
        403: problem(
          "The caller is a Viewer, or a visitor of the portal whose link names no owner, or another one.",
          "only Developer or above may register destinations", "ownerId: is set by the portal link",
          "the portal link names destinations, not an owner: nothing can be added",
        ),
        404: problem("The caller's tenant is gone.", "tenant not found"),
        422: problem(
          "The portal has the most destinations.",
          `the portal has ${mostNamed} destinations, which is the most; delete one`,
        ),
      },
    }, async (call) => ({
      status: 201,
      body: await commands.destinations.register(call.caller, call.input, call.origin),
    })),
    signedIn({
      id: "listDestinations",
      route: "GET /api/v1/destinations",
      access: read,
      tag,
      summary: "List destinations",
      list: listDestinations,
      answers: { 200: page("destination", "A page of destinations.", destination) },
    }, async ({ caller, input: { page, filters } }) => ({
      status: 200,
      body: await queries.destinations.list(caller, { status: filters.Status }, page),
    })),
    signedIn({
      id: "getDestination",
      route: "GET /api/v1/destinations/:id",
      access: read,
      tag,
      summary: "Get a destination",
      description: `${asOfWords} Of \`health\` that answer knows the circuit alone.`,
      parameters: { id },
      query: asOf,
      answers: {
        200: json("destination", "The destination.", destination),
        403: problem("The destination belongs to another tenant.", othersDestination),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.destinations.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn({
      id: "listDestinationHistory",
      route: "GET /api/v1/destinations/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List a destination's history",
      description:
        "Each change of a setting: what it became, by whom and when. The `destinationRevision` of an attempt " +
        "is the `revision` of the newest fact it was made under. Of authentication only the kind is shown, of the " +
        "ingest token only that it was replaced. Stays readable when the destination is deleted.\n\n" +
        typesOf("destination"),
      parameters: { id },
      list: historyLists.destination,
      answers: {
        200: facts(destinationFact),
        403: problem("The destination belongs to another tenant.", othersDestination),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.destinations.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "listCircuitHistory",
      route: "GET /api/v1/destinations/:id/circuit/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List a circuit's history",
      description:
        "Why deliveries were held and resumed: the consecutive failures were counted, or a 429 asked for a " +
        "pause (CircuitCounted), the circuit opened (CircuitOpened) or waits half-open for its next event " +
        "(CircuitHalfOpened), one event's attempt probes the receiver (CircuitProbeClaimed) or ended without " +
        "counting (CircuitProbeReleased), the circuit closed (CircuitClosed), or the outbound proxy failed " +
        "(OutboundProxyFailed) or works again (OutboundProxyRecovered). Each fact has the circuit as it was " +
        "from then on: `position` (Closed, Open or HalfOpen), `failures`, `openUntil`, and the `probe` in flight " +
        "with its `eventId` and `leaseUntil`; in an outage, the event of the last finished probe (`lastProbe`); " +
        "after a 429, when the pause ends (`pausedUntil`); while the outbound proxy fails, why (`proxyProblem`); " +
        "and the event whose attempt caused the fact (`eventId`), " +
        "null if a person or the timer caused it, and in facts of older versions. " +
        "Empty if no attempt ever failed. Stays readable when the destination is deleted.",
      parameters: { id },
      list: historyLists.circuit,
      answers: {
        200: facts(circuitFact),
        403: problem("The destination belongs to another tenant.", othersDestination),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.destinations.circuitHistory(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "updateDestination",
      route: "PATCH /api/v1/destinations/:id",
      access: configure,
      tag,
      summary: "Change a destination",
      description:
        "Absent fields stay unchanged. While a destination is Inactive its events are held; " +
        "setting `active` resumes them, closes the circuit of a Suspended one, and ends a pause that a 429 asked for.",
      parameters: { id },
      body: changedDestination,
      examples: {
        "hold its events": { status: "inactive" },
        "replace the credentials": { authType: "BearerToken", credentials: { token: "their new token" } },
        "remove the authentication": { removeAuth: true },
        "rename it": { name: "Invoices", description: null },
        "deliver the events of a customer in order": { ordering: { by: "/customer/id" } },
      },
      answers: {
        200: json("destination", "The destination as it is now.", { ...destination, status: "Inactive" }),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may change destinations", othersDestination, "ownerId: is set by the portal link",
        ),
        422: problem(
          "The ordering is another one, and events of the destination wait.",
          "ordering: cannot change while events of the destination wait",
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.destinations.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteDestination",
      route: "DELETE /api/v1/destinations/:id",
      access: configure,
      tag,
      summary: "Delete a destination",
      description:
        "Waiting events become Cancelled shortly after; an attempt in flight finishes. The " +
        "history stays readable, the ingest token then gives 404.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may delete destinations", othersDestination,
        ),
      },
    }, async (call) => {
      await commands.destinations.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "testDestination",
      route: "POST /api/v1/destinations/:id/test",
      access: test,
      tag,
      summary: "Send a test event",
      description:
        "An event with `test: true` is sent to this destination, also to an Inactive or Suspended " +
        "one: in one attempt, signed and authenticated like any other, with the header `X-Relay-Test: true`. It " +
        "obeys the limit of concurrent requests, and waits for the end of a pause that the receiver asked for by " +
        "429. Its outcome does not count for the circuit. An attempt that fails or is lost makes it a " +
        "CriticalFailure; it is neither retried nor can it be replayed or resent. Without a `payload` it is " +
        '`{"type": <eventType or "test">, "timestamp": <now>, "data": {"message": "This is a test event."}}`.',
      parameters: { id },
      body: payloadReader<Inputs["testDestination"]>(testDestination),
      examples: {
        usual: {},
        "of a type, with a payload": { eventType: "order.paid", payload: { type: "order.paid", amount: 19.9 } },
      },
      answers: {
        202: json("event", "The event is accepted. Its attempt follows.", testEvent),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may send test events", othersDestination,
        ),
        429: problem(
          "10 test events were sent to this destination within a minute.",
          "this destination was sent 10 test events within a minute; try again later",
        ),
      },
    }, async (call) => ({
      status: 202,
      body: await commands.testEvents.send(call.caller, pathId(call), call.input, call.origin, call.holdAnswer),
    })),
    signedIn({
      id: "regenerateDestinationToken",
      route: "POST /api/v1/destinations/:id/ingest-token",
      access: withPortal(write, "none"),
      tag,
      summary: "Replace the ingest token",
      description: "The old token stops working at once.",
      parameters: { id },
      answers: {
        200: json("ingest-token", "The new token, shown here only.", { ingestToken }),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may regenerate ingest tokens", othersDestination,
        ),
      },
    }, async (call) => {
      const id = pathId(call);
      const ingestToken = await commands.destinations.regenerateToken(call.caller, id, call.origin);
      return { status: 200, body: { ingestToken } };
    }),
  ];
}
