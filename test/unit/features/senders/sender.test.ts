import { expect } from "chai";
import { decide, type SenderCommand } from "../../../../src/features/senders/decide.ts";
import { evolve, type SenderEvent, type SenderState } from "../../../../src/features/senders/facts.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const sender = { initial: (): SenderState => undefined, evolve, decide };
const given = specificationsOf(sender);

const [at, later] = ["2026-01-15T09:30:00.000Z", "2026-01-15T10:00:00.000Z"];
const senderId = "0193a1b2-c3d4-7000-8000-000000000006";
const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const [destinationId, elsewhere] = ["0193a1b2-c3d4-7000-8000-000000000003", "0193a1b2-c3d4-7000-8000-000000000004"];
const mapping = { language: "jmespath" as const, expression: "{id: id}" };
const searchFields = [{ name: "order", path: "/order/id" }];
const settings = { senderId, tenantId, name: "Shop", destinationId, mapping: null, ingestTokenHash: "t1" };
const ids = { senderId, tenantId, at: later };
const created: SenderEvent = { type: "SenderCreated", data: { ...settings, at } };
const mapped: SenderEvent = { type: "SenderMappingChanged", data: { ...ids, mapping } };
const deactivated: SenderEvent = { type: "SenderDeactivated", data: ids };
const deleted: SenderEvent = { type: "SenderDeleted", data: { ...ids, ingestTokenHash: "t1" } };
const change = (what: object): SenderCommand => ({ type: "ChangeSender", ...what, at: later });

describe("sender", () => {
  it("is created once, active", () => {
    const create: SenderCommand = { type: "CreateSender", sender: settings, at };
    given([]).when(create).gives(created);
    given([created]).when(create).refused("conflict", "sender");
    given([created, deleted]).when(create).refused("conflict", "sender");
    const { senderId: id, ...rest } = settings;
    const expected = { ...rest, id, searchFields: [], active: true, deleted: false, createdAt: at, updatedAt: at };
    expect(folded(sender, [created])).to.deep.include(expected);
  });

  it("changes each setting by a fact of its own", () => {
    const changes: readonly (readonly [object, SenderEvent, object])[] = [
      [{ name: "Till" }, { type: "SenderRenamed", data: { ...ids, name: "Till" } }, { name: "Till" }],
      [
        { destinationId: elsewhere },
        { type: "SenderDestinationChanged", data: { ...ids, destinationId: elsewhere } },
        { destinationId: elsewhere },
      ],
      [{ mapping }, mapped, { mapping }],
      [{ searchFields }, { type: "SenderSearchFieldsChanged", data: { ...ids, searchFields } }, { searchFields }],
      [{ active: false }, deactivated, { active: false }],
    ];
    for (const [what, fact, result] of changes) {
      given([created]).when(change(what)).gives(fact);
      expect(folded(sender, [created, fact])).to.deep.include({ ...result, updatedAt: later, createdAt: at });
    }
    const all = changes.reduce((sum, [what]) => ({ ...sum, ...what }), {});
    given([created]).when(change(all)).gives(...changes.map(([, fact]) => fact));
  });

  it("loses its mapping, and becomes active again", () => {
    const spec = given([created, mapped, deactivated]).when(change({ mapping: null, active: true }));
    spec.gives(
      { type: "SenderMappingChanged", data: { ...ids, mapping: null } },
      { type: "SenderActivated", data: ids },
    );
    expect(spec.state()).to.include({ mapping: null, active: true });
  });

  it("changes its search fields where a name, a path or their order differs", () => {
    const [one, other] = [{ name: "a", path: "/a" }, { name: "b", path: "/b" }];
    const begun: SenderEvent = { type: "SenderCreated", data: { ...settings, searchFields: [one, other], at } };
    given([begun]).when(change({ searchFields: [{ ...one }, { ...other }] })).changesNothing();
    for (const changed of [[], [one], [other, one], [one, { ...other, name: "c" }], [one, { ...other, path: "/c" }]]) {
      const fact: SenderEvent = { type: "SenderSearchFieldsChanged", data: { ...ids, searchFields: changed } };
      const spec = given([begun]).when(change({ searchFields: changed }));
      spec.gives(fact);
      expect(spec.state()).to.deep.include({ searchFields: changed });
    }
  });

  it("changes its mapping where the expression differs", () => {
    const other = { ...mapping, expression: "{id: order}" };
    const fact: SenderEvent = { type: "SenderMappingChanged", data: { ...ids, mapping: other } };
    given([created, mapped]).when(change({ mapping: other })).gives(fact);
  });

  it("stays as it is when nothing differs", () => {
    const same = { name: "Shop", destinationId, active: true };
    given([created]).when(change({ ...same, mapping: null })).changesNothing();
    given([created, mapped]).when(change({ ...same, mapping: { ...mapping } })).changesNothing();
    given([created, mapped]).when(change({})).changesNothing();
  });

  it("regenerates its ingest token, and names the previous one", () => {
    const spec = given([created]).when({ type: "RegenerateIngestToken", ingestTokenHash: "t2", at: later });
    const data = { ...ids, ingestTokenHash: "t2", previousTokenHash: "t1" };
    spec.gives({ type: "SenderIngestTokenRegenerated", data });
    expect(spec.state()).to.include({ ingestTokenHash: "t2", updatedAt: later });
  });

  it("is deleted once, for good", () => {
    const spec = given([created]).when({ type: "DeleteSender", at: later });
    spec.gives(deleted);
    expect(spec.state()).to.include({ deleted: true });
    const commands: SenderCommand[] = [
      change({ active: true }),
      { type: "RegenerateIngestToken", ingestTokenHash: "t2", at },
      { type: "DeleteSender", at },
    ];
    for (const command of commands) {
      given([created, deleted]).when(command).refused("not-found", "sender");
      given([]).when(command).refused("not-found", "sender");
    }
  });
});
