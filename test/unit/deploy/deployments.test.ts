import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { configWarnings, processRoles, readConfig } from "../../../src/main/config/config.ts";
import { readSecrets } from "../../../src/main/config/secrets.ts";
import { operations } from "../../support/document.ts";

const root = new URL("../../../", import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), "utf8");
const masterKey = Buffer.alloc(32, 7).toString("base64");

/** Paths of the relay for operators. */
const probePaths: readonly string[] = ["/healthz", "/readyz", "/metrics"];
/** Every path that a relay serves, with an id for each parameter. */
const servedPaths = [
  ...new Set(operations.map(({ path }) => path.replaceAll(/:\w+/g, "0193a1b2-0000-7000-8000-00000000ffff"))),
  "/", "/app", "/app/", "/app/events", "/app/assets/index.js",
];

type Environment = Readonly<Record<string, string>>;

interface Compose {
  readonly services: Readonly<Record<string, {
    readonly image: string;
    readonly restart?: string;
    readonly environment?: Readonly<Record<string, string | number>>;
    readonly healthcheck?: object;
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
    readonly ports?: readonly string[];
    readonly volumes?: readonly string[];
  }>>;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Environment };
  readonly data?: Environment;
  readonly stringData?: Environment;
  readonly spec?: {
    readonly replicas?: number;
    readonly minAvailable?: number;
    readonly selector?: { readonly matchLabels: Environment };
    readonly podSelector?: { readonly matchLabels: Environment };
    readonly policyTypes?: readonly string[];
    readonly template?: { readonly metadata: { readonly labels: Environment }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly enableServiceLinks?: boolean;
  readonly volumes?: readonly { readonly name: string }[];
  readonly containers: readonly {
    readonly image: string;
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly allowPrivilegeEscalation: boolean };
    readonly readinessProbe: { readonly httpGet: { readonly path: string } };
    readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  }[];
}

const { version, dependencies } = JSON.parse(text("package.json")) as {
  readonly version: string;
  readonly dependencies: Environment;
};
const image = `webhook-relay:${version}`;

/** The configuration of an environment; fails where a setting is wrong or has no effect. */
function accepted(environment: Environment) {
  const config = readConfig(environment);
  readSecrets(environment, config);
  expect(configWarnings(environment, config, Date.now())).to.deep.equal([]);
  return config;
}

/** The environment of the image, built without arguments. */
function imageEnvironment(): Environment {
  const lines = text("Dockerfile");
  const args = [...lines.matchAll(/^ARG (\w+)=(\S+)$/gm)];
  const standIns = new Map(args.map(([, name, value = ""]) => [`$${name}`, value]));
  const given = [...lines.matchAll(/(RELAY_\w+)=(\S+)/g)];
  return Object.fromEntries(given.map(([, name = "", value = ""]) => [name, standIns.get(value) ?? value]));
}

describe("the relay is deployed", () => {
  const compose = (file: string) => (parse(text(file)) as Compose).services;
  const settingsOf = ({ environment = {} }: Compose["services"][string]): Environment =>
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));

  for (const file of ["docker-compose.yml", "docker-compose.embedded.yml"]) {
    it(`as ${file}: images have versions, services restart, and ports are this machine's only`, () => {
      for (const [name, { image: named, restart, ports = [] }] of Object.entries(compose(file))) {
        expect(named, name).to.match(/^[a-z/-]+:\d+\.\d+/);
        if (name === "relay") expect(named).to.equal(image);
        expect(restart, name).to.equal("unless-stopped");
        for (const port of ports) expect(port, name).to.match(/^127\.0\.0\.1:/);
      }
      expect(compose(file)["relay"]?.volumes).to.include("./certificates:/certificates:ro");
    });
  }

  it("as docker compose: the relay on every real engine, started once each is healthy", () => {
    const { relay, ...engines } = compose("docker-compose.yml");
    expect(Object.keys(engines).sort()).to.deep.equal(["eventstoredb", "kafka", "mongodb"]);
    for (const [name, { healthcheck }] of Object.entries(engines)) {
      expect(healthcheck, name).to.be.an("object");
      expect(relay?.depends_on?.[name]).to.deep.equal({ condition: "service_healthy" });
    }
    // A standalone server has no transactions.
    expect(engines["mongodb"]).to.have.property("command").that.includes.members(["--replSet", "rs0"]);
    const given = { ...imageEnvironment(), ...settingsOf(relay!), RELAY_MASTER_KEY: masterKey };
    const { eventStore, queue, readModels } = accepted(given);
    expect([eventStore.engine, queue.engine, readModels.engine]).to.deep.equal(["eventstoredb", "kafka", "mongodb"]);
  });

  it("as docker compose: the relay alone on its embedded engines, its data in a volume", () => {
    const { relay, ...others } = compose("docker-compose.embedded.yml");
    expect(others).to.deep.equal({});
    const { dataDir, eventStore } = accepted({ ...imageEnvironment(), ...settingsOf(relay!) });
    expect(eventStore.engine).to.equal("embedded");
    expect(relay?.volumes).to.include(`data:${dataDir}`);
  });

  it("as an image: with a valid environment, as an ordinary user, with a health check", () => {
    const lines = text("Dockerfile");
    expect(accepted(imageEnvironment())).to.include({ host: "0.0.0.0", revision: "unknown" });
    const images = [...lines.matchAll(/^FROM (\S+)/gm)].map(([, named]) => named);
    expect(new Set(images)).to.deep.equal(new Set([`node:${dependencies["node"]}-alpine`]));
    expect(lines).to.match(/^USER node$/m);
    expect(lines).to.contain("/readyz");
    for (const [, folder] of lines.matchAll(/^COPY ([a-z]+) \1$/gm)) {
      expect(text(".dockerignore")).to.contain(`!${folder}\n`);
    }
  });

  it("as an image: with the packages of the lock file, without the folders of the other workspaces", () => {
    const [install = expect.fail("no npm ci")] = /npm ci( --[a-z=-]+)+/.exec(text("Dockerfile")) ?? [];
    const folder = mkdtempSync(join(tmpdir(), "relay-image-"));
    try {
      for (const file of ["package.json", "package-lock.json"]) copyFileSync(new URL(file, root), join(folder, file));
      execFileSync("sh", ["-c", `${install} --dry-run --offline`], { cwd: folder, stdio: "pipe" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("with the same flags by npm, make, the image and the benchmarks", () => {
    const flags = ["--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning",
      "--max-semi-space-size=16"];
    const starts = {
      "package.json": /"start": "(.*)"/, Makefile: /^run:.*\n((?:\t.*\n)+)/m, Dockerfile: /^ENTRYPOINT ((?:.*\\\n)*.*)/m,
      "bench/support/relay.ts": /const nodeFlags = (\[[^\]]*\])/,
    };
    for (const [file, command] of Object.entries(starts)) {
      const given = command.exec(text(file))?.[1]?.match(/--[a-z-]+=\w+/g);
      expect(given, file).to.deep.equal(flags);
    }
  });

  it("with the same setting of glibc by npm, make, systemd and the benchmarks; the image has another C library", () => {
    for (const file of ["package.json", "Makefile", "docs/operating/deploying.md", "bench/support/relay.ts"]) {
      expect(text(file), file).to.match(/\bMALLOC_TRIM_THRESHOLD_(=|: ")1048576\b/);
    }
    expect(text("Dockerfile")).to.match(/^FROM node:\S+-alpine$/m);
  });

  describe("as Kubernetes manifests", () => {
    const read = (file: string) =>
      parseAllDocuments(text(`deploy/kubernetes/${file}`)).map((document) => document.toJS() as Manifest);
    const apart = read("roles-apart.yaml");
    const deployments = apart.filter(({ kind }) => kind === "Deployment");
    const [embedded] = read("embedded.yaml").filter(({ kind }) => kind === "StatefulSet") as [Manifest];
    const common = apart.find(({ kind }) => kind === "ConfigMap")?.data ?? {};
    const secret = { ...read("secret.example.yaml")[0]?.stringData, RELAY_MASTER_KEY: masterKey };

    it("that run every role at least twice, and let one pod of each be disrupted at a time", () => {
      const roles = deployments.map((deployment) => environmentOf(deployment)["RELAY_ROLES"]);
      expect(roles.toSorted()).to.deep.equal(processRoles.toSorted());
      const budgets = apart.filter(({ kind }) => kind === "PodDisruptionBudget");
      for (const { spec, metadata } of deployments) {
        expect(spec?.replicas, metadata.name).to.be.at.least(2);
        const budget = budgets.find(({ metadata: { name } }) => name === metadata.name);
        expect(budget?.spec).to.deep.equal({ minAvailable: 1, selector: spec?.selector });
        // Upgrades select the objects of one role by this label.
        const labels = spec?.template?.metadata.labels;
        expect([metadata.labels, budget?.metadata.labels]).to.deep.equal([labels, labels]);
      }
      expect(budgets).to.have.length(deployments.length);
    });

    it("that run the embedded default once, with its data folder and temporary files on volumes", () => {
      const spec = embedded.spec?.template?.spec;
      expect(embedded.spec?.replicas).to.equal(1);
      const mounts = new Map(spec?.containers[0]?.volumeMounts.map(({ name, mountPath }) => [mountPath, name]));
      const { dataDir } = accepted({ ...imageEnvironment(), ...environmentOf(embedded) });
      const claims = embedded.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata.name);
      expect(claims).to.deep.equal([mounts.get(dataDir)]);
      expect(spec?.volumes?.map(({ name }) => name)).to.include(mounts.get("/tmp"));
    });

    it("that name the image with its version everywhere", () => {
      for (const file of readdirSync(new URL("deploy/kubernetes", root))) {
        for (const [named] of text(`deploy/kubernetes/${file}`).matchAll(/\bwebhook-relay:[\w.]+/g)) {
          expect(named, file).to.equal(image);
        }
      }
    });

    it("that the network policy covers, both ways", () => {
      const [policy] = read("network-policy.yaml");
      expect(policy?.spec?.policyTypes).to.deep.equal(["Ingress", "Egress"]);
      for (const { spec } of [...deployments, embedded]) {
        expect(spec?.template?.metadata.labels).to.include(policy?.spec?.podSelector?.matchLabels);
      }
    });

    it("that route every path of the relay from outside, but those of its probes", () => {
      interface Rule { readonly path: string; readonly pathType: string; readonly backend: object }
      const { spec } = parse(text("deploy/kubernetes/ingress.example.yaml")) as
        { readonly spec: { readonly rules: readonly { readonly http: { readonly paths: readonly Rule[] } }[] } };
      const rules = spec.rules.flatMap(({ http }) => http.paths);
      // A prefix is one of whole segments.
      const routes = ({ path, pathType }: Rule, asked: string) =>
        path === asked || (pathType === "Prefix" && asked.startsWith(`${path}/`));
      for (const path of servedPaths) {
        expect(rules.some((rule) => routes(rule, path)), path).to.equal(!probePaths.includes(path));
      }
      const backend = { service: { name: "webhook-relay", port: { name: "http" } } };
      for (const rule of rules) expect(rule.backend, rule.path).to.deep.equal(backend);
    });

    for (const workload of [...deployments, embedded]) {
      const { kind, metadata: { name } } = workload;
      it(`that configure ${kind} ${name} to start confined, with probes and time to drain`, () => {
        const shared = workload === embedded ? imageEnvironment() : { ...common, ...secret };
        const { shutdownTimeoutMs } = accepted({ ...shared, ...environmentOf(workload) });
        const spec = workload.spec?.template?.spec;
        const [container] = spec?.containers ?? [];
        expect(container?.image).to.equal(image);
        expect(spec?.securityContext.runAsNonRoot).to.equal(true);
        const confined = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false };
        expect(container?.securityContext).to.include(confined);
        expect(container?.readinessProbe.httpGet.path).to.equal("/readyz");
        expect(container?.livenessProbe.httpGet.path).to.equal("/healthz");
        expect((spec?.terminationGracePeriodSeconds ?? 0) * 1000).to.be.above(shutdownTimeoutMs + 5_000);
        const mounted = container?.volumeMounts.map(({ mountPath }) => mountPath);
        expect(mounted).to.include("/certificates");
      });
    }

    it("that take no settings from Kubernetes' variables for a Service called relay", () => {
      const links = { RELAY_PORT: "tcp://10.0.0.1:80", RELAY_SERVICE_HOST: "10.0.0.1" };
      expect(() => readConfig(links)).to.throw("RELAY_PORT");
      for (const { spec, metadata } of [...deployments, embedded]) {
        expect(spec?.template?.spec.enableServiceLinks, metadata.name).to.equal(false);
      }
    });

    /** The environment of a workload, with a stand-in for values from secrets. */
    function environmentOf({ spec }: Manifest): Environment {
      const [container] = spec?.template?.spec.containers ?? [];
      return Object.fromEntries((container?.env ?? []).map(({ name, value = masterKey }) => [name, value]));
    }
  });

  describe("proxies in front, as the guide configures them", () => {
    const guide = text("docs/operating/proxy.md");
    const closed = {
      nginx: [...guide.matchAll(/location = (\S+) \{ return/g)].map(([, path]) => path),
      HAProxy: [...guide.matchAll(/if \{ path ([^}]+) \}/g)].flatMap(([, paths = ""]) => paths.split(" ")),
    };
    for (const [proxy, paths] of Object.entries(closed)) {
      it(`pass every path through ${proxy} but those for operators and of registration`, () => {
        expect(new Set(paths)).to.deep.equal(new Set(["/metrics", "/readyz", "/api/v1/tenants"]));
        expect(servedPaths).to.include.members(paths);
      });
    }

    it("pass on all others", () => {
      expect(guide).to.match(/location \/ \{\s+proxy_pass/).and.to.include("default_backend relay");
    });
  });
});
