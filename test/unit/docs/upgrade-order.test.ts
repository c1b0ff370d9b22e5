import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { processRoles } from "../../../src/main/config/config.ts";
import { orderOfRoles } from "../../support/replaced-relay.ts";

describe("the order of roles in an upgrade", () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");

  it("has every role once", () => {
    expect(orderOfRoles.toSorted()).to.deep.equal([...processRoles].toSorted());
  });

  it("is the same in the commands for Kubernetes, and the opposite on the way back", () => {
    const commands = read("deploy/kubernetes/README.md").matchAll(/^upgrade (\w+)/gm);
    expect([...commands].map(([, role]) => role)).to.deep.equal([...orderOfRoles, ...orderOfRoles.toReversed()]);
  });

  it("is as decided", () => {
    const [, decided] = /^- One order, for every release: (.*)\./m.exec(
      read("docs/adr/0042-readers-are-replaced-before-writers.md")) ?? [];
    expect(decided).to.equal(orderOfRoles.map((role) => `\`${role}\``).join(", "));
  });
});
