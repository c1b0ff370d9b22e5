import { expect } from "chai";
import type { Document as Stored } from "mongodb";
import { auditSelected } from "../../../projections/audit/audit.ts";
import { destinationsSelected, destinationSortFields } from "../../../projections/destinations/destinations.ts";
import { eventsOrdered, eventsSelected } from "../../../projections/events/events.ts";
import { eventsLabelled } from "../../../projections/events/labels.ts";
import { collections } from "../../../projections/index.ts";
import { userSortFields, usersSelected } from "../../../projections/users/users.ts";
import { eventStatuses } from "../../../src/features/events/facts.ts";
import type { Query } from "../../../src/kernel/ports/read-models.ts";
import { id, time } from "../../contract/read-models-things.ts";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { openProcess } from "./support.ts";

const tenantId = id(1);
const destinationId = id(2);
const page = { limit: 20, offset: 40 };
const by = (field: string, descending = false) => ({ order: { field, descending } });
const sorted = (collection: string, fields: readonly string[]) =>
  fields.flatMap((field) => [true, false].map((descending): Query => ({
    collection, where: { tenantId }, ...by(field, descending), ...page,
  })));

/** The kinds of query that the relay sends to growing collections. */
const questions: readonly Query[] = [
  ...[true, false].flatMap((descending) =>
    [undefined, eventStatuses[0]].flatMap((status) =>
      [undefined, destinationId].flatMap((destinationUrlId) =>
        [{}, { from: time(1), to: time(9) }].map((times): Query => ({
          ...eventsSelected({ tenantId, statuses: status && [status], destinationUrlId, ...times }),
          order: eventsOrdered(descending),
          ...page,
        }))))),
  ...[true, false].flatMap((descending): Query[] => [
    { ...eventsLabelled(tenantId, "order:7", {}, descending), ...page },
    { ...eventsLabelled(tenantId, "order:7", { from: id(3), to: id(9) }, descending), ...page },
    { ...eventsSelected({ tenantId, statuses: ["Pending", "Cancelled"] }), order: eventsOrdered(descending), ...page },
  ]),
  ...[undefined, "Active" as const].flatMap((status) =>
    [undefined, "Viewer" as const].flatMap((role) =>
      userSortFields.map((field) => ({ ...usersSelected({ tenantId, status, role }), ...by(field), ...page })))),
  ...[undefined, "Active" as const, "Inactive" as const, "Suspended" as const].flatMap((status) =>
    destinationSortFields.flatMap((field) => [true, false].map((descending): Query => ({
      ...destinationsSelected({ tenantId, status }), ...by(field, descending), ...page,
    })))),
  ...[{}, { type: "TenantRenamed" }, { type: "TenantRenamed", actorId: "a", subjectId: id(4), correlationId: "c" }]
    .flatMap((filter) => [{}, { from: time(1) }, { from: time(1), to: time(9) }].map((times): Query => ({
      ...auditSelected({ tenantId, ...filter, ...times }), ...by("time", true), ...page,
    }))),
  ...sorted("apiKeys", ["id", "name", "createdAt", "expiresAt", "lastUsedAt"]),
  ...sorted("senders", ["id", "name", "createdAt", "updatedAt"]),
  ...sorted("invites", ["id", "email", "role", "createdAt", "expiresAt"]),
  ...["dueAt", "eventId"].map((field): Query => ({
    collection: "waiting", where: { destinationId }, range: { field: "dueAt", to: time(5) }, ...by(field), ...page,
  })),
  { collection: "leases", where: { destinationId }, range: { field: "key", from: "a" }, ...by("key"), ...page },
  {
    collection: "destinations", where: { active: true }, range: { field: "wakeAt", from: time(0), to: time(5) },
    ...by("wakeAt"), ...page,
  },
  { collection: "purging", where: { purgeId: id(3) }, ...by("eventId"), ...page },
  { collection: "wrappedKeys", where: { masterKeyId: "a" }, ...by("name"), ...page },
];

/** The stages of a plan, outermost first. */
function stagesOf(plan: Stored | undefined): Stored[] {
  if (!plan) return [];
  const inner = (plan["inputStages"] as Stored[] | undefined) ?? [plan["inputStage"] as Stored | undefined];
  return [plan, ...inner.flatMap(stagesOf)];
}

/** The fields of an index that a query leaves free, in their order. */
function freeOf(index: Stored, { where = {}, anyOf }: Query): string[] {
  return Object.keys(index).filter((field) => !(field in where) && field !== anyOf?.field);
}

describe("Queries to MongoDB", function () {
  this.timeout(60_000);
  let process: ReturnType<typeof openProcess>;
  let end = async () => {};
  let commands: Stored[];
  let server: Awaited<ReturnType<typeof mongoDbOrSkip>>;

  before(async function () {
    server = await mongoDbOrSkip(this);
    const url = new URL(newDatabase(server));
    url.searchParams.set("monitorCommands", "true");
    process = openProcess(url.href);
    end = async () => {
      await process.connection.db.dropDatabase();
      await process.close();
    };
    await process.writer.reset(collections, "any");
    process.connection.db.client.on("commandStarted", ({ command }) => {
      const { lsid: _session, $db: _database, ...asked } = command;
      commands.push(asked);
    });
  });
  after(() => end());

  it("are each answered from an index, in its order", async () => {
    for (const question of questions) {
      commands = [];
      await process.reader.find(question);
      const command = commands.find(({ find }) => String(find).endsWith(`.${question.collection}`));
      const explained = await process.connection.db.command({ explain: command, verbosity: "queryPlanner" });
      const stages = stagesOf((explained["queryPlanner"] as Stored)["winningPlan"] as Stored);
      const names = stages.map(({ stage }) => stage as string);
      const isSecantus = server.description.includes("Secantus");
      // SecantusDB does not explain how it finds keys.
      if (!isSecantus || question.collection !== "labels") {
        expect(names, JSON.stringify(question)).to.include("IXSCAN");
        expect(names, JSON.stringify(question)).to.not.include("COLLSCAN");
      }
      // SecantusDB always sorts; MongoDB needs only the hinted index, or that of the keys.
      if (!isSecantus) expect(names, JSON.stringify(question)).to.not.include("SORT");
      if (question.range && question.range.field !== question.order.field) continue;
      const index = (command?.["hint"] ?? { _id: 1 }) as Stored;
      const conditions = [...Object.keys(question.where ?? {}), ...(question.anyOf ? [question.anyOf.field] : [])];
      expect(Object.keys(index), JSON.stringify(question)).to.include.members(conditions);
      const [first, second] = freeOf(index, question);
      const key = collections.find(({ name }) => name === question.collection)?.key;
      const ordered = question.order.field === key ? "_id" : question.order.field;
      expect(first, JSON.stringify(question)).to.equal(ordered in (question.where ?? {}) ? "_id" : ordered);
      // Equal values are ordered by key.
      if (first !== "_id") expect(second, JSON.stringify(question)).to.equal("_id");
    }
  });
});
