import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { PrometheusMetrics, type Readings } from "../../../src/engines/prometheus/prometheus-metrics.ts";
import { failureReasons } from "../../../src/kernel/domain/failure-reason.ts";
import { anomalies } from "../../../src/kernel/ports/telemetry.ts";
import { singleRoles } from "../../../src/main/roles.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

/** Every metric with its labels; a histogram is listed by its name without a suffix. */
async function registered(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const metrics = new PrometheusMetrics({ version: "1.2.3", revision: "abc" }, new ManualClock());
  const each = () => ({ some: 1 });
  const readings: Readings = {
    backlog: () => 1, oldestDueSeconds: () => 1, projectionLagSeconds: () => 1, keysUnderOldMasterKeys: () => 1,
    circuits: each, engines: each, leading: each, queueLag: each,
  };
  metrics.watch(readings);
  metrics.attempt("succeeded", "none", 1);
  const found = new Map<string, Set<string>>();
  let labels = new Set<string>();
  for (const line of (await metrics.text()).split("\n")) {
    const [, name] = /^# TYPE (\S+)/.exec(line) ?? [];
    if (name) found.set(name, (labels = new Set()));
    else if (!line.startsWith("#")) {
      for (const [, label = ""] of line.matchAll(/[{,](\w+)="/g)) if (label !== "le") labels.add(label);
    }
  }
  return found;
}

/** The first cells of the tables in a section. */
function firstCells(section: string): readonly string[] {
  const [, text = ""] = read("docs/operating/monitoring.md").split(`\n## ${section}\n`);
  const rows = (text.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split("|")[1]?.trim() ?? "");
}

/** The code spans in these cells. */
function codeIn(cells: readonly string[]): readonly string[] {
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code));
}

describe("the documentation of metrics and alerts", () => {
  it("has every metric with its labels, every reason and every kind of anomaly, and no other", async () => {
    const own = [...await registered()].filter(([name]) => name.startsWith("relay_"));
    const names = own.map(([name, labels]) => (labels.size > 0 ? `${name}{${[...labels].join()}}` : name));
    const documented = codeIn(firstCells("Metrics"));
    expect(documented.toSorted()).to.deep.equal([...names, ...failureReasons, ...anomalies].toSorted());
  });

  const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as Alerts;
  const rules = groups.flatMap((group) => group.rules);

  it("has every deployed alert with its severity, and no other", () => {
    const deployed = rules.map(({ alert, labels }) => `\`${alert}\`${labels ? ` (${labels["severity"]})` : ""}`);
    expect(firstCells("Alerts")).to.deep.equal(deployed);
  });

  it("has an alert for each single role that no process reports, except delivery", () => {
    const { expr = "" } = rules.find(({ alert }) => alert === "RelayRoleNotActive") ?? {};
    const noticed = [...expr.matchAll(/absent\(relay_role_active\{role="(\w+)"\}\)/g)].map(([, role]) => role);
    expect([...noticed, "delivery"]).to.have.members(singleRoles);
  });

  for (const { alert, expr } of rules) {
    it(`deploys ${alert} on existing metrics and labels`, async () => {
      const metrics = await registered();
      const used = [...expr.matchAll(/\b((?:relay|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)];
      expect(used).to.not.deep.equal([]);
      const known = new Set(["le", "instance"]);
      for (const [, series = "", matchers = ""] of used) {
        const labels = metrics.get(series) ?? metrics.get(series.replace(/_(bucket|sum|count)$/, ""));
        expect(labels, series).to.not.equal(undefined);
        for (const [, label = ""] of matchers.matchAll(/(\w+)\s*=/g)) expect([...labels ?? []], series).to.include(label);
        for (const label of labels ?? []) known.add(label);
      }
      for (const [, grouped = ""] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of grouped.split(",")) expect([...known], expr).to.include(label.trim());
      }
    });
  }
});
