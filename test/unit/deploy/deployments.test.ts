import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { configWarnings, processRoles, readConfig } from "../../../src/config/config.ts";
import { readSecrets } from "../../../src/config/secrets.ts";

const root = new URL("../../../", import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), "utf8");
const masterKey = Buffer.alloc(32, 7).toString("base64");

type Environment = Readonly<Record<string, string>>;

interface Compose {
  readonly services: Readonly<Record<string, {
    readonly environment?: Readonly<Record<string, string | number>>;
    readonly healthcheck?: object;
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
    readonly ports?: readonly string[];
  }>>;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Environment;
  readonly stringData?: Environment;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec: PodSpec };
  };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly enableServiceLinks?: boolean;
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly allowPrivilegeEscalation: boolean };
    readonly readinessProbe: { readonly httpGet: { readonly path: string } };
    readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  }[];
}

/** The configuration an environment gives; fails where it is wrong, or where part of it has no effect. */
function accepted(environment: Environment) {
  const config = readConfig(environment);
  readSecrets(environment, config);
  expect(configWarnings(environment, config)).to.deep.equal([]);
  return config;
}

describe("what deploys the relay", () => {
  it("as docker compose: the relay on every real engine, each waited for until it is healthy", () => {
    const { services } = parse(text("docker-compose.yml")) as Compose;
    const { relay, ...engines } = services;
    expect(Object.keys(engines).sort()).to.deep.equal(["eventstoredb", "kafka", "mongodb"]);
    for (const [name, { healthcheck, ports = [] }] of Object.entries(engines)) {
      expect(healthcheck, name).to.be.an("object");
      expect(relay?.depends_on?.[name]).to.deep.equal({ condition: "service_healthy" });
      for (const port of ports) expect(port, name).to.match(/^127\.0\.0\.1:/);
    }
    const given = Object.entries(relay?.environment ?? {}).map(([name, value]) => [name, String(value)]);
    const environment = { ...Object.fromEntries(given) as Environment, RELAY_MASTER_KEY: masterKey };
    const { eventStore, queue, readModels } = accepted(environment);
    expect([eventStore.engine, queue.engine, readModels.engine]).to.deep.equal(["eventstoredb", "kafka", "mongodb"]);
  });

  it("as an image: its environment is understood, it runs as nobody special and says how it is", () => {
    const lines = text("Dockerfile");
    const given = [...lines.matchAll(/(RELAY_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value] as const);
    expect(accepted(Object.fromEntries(given)).host).to.equal("0.0.0.0");
    const { dependencies } = JSON.parse(text("package.json")) as { readonly dependencies: Environment };
    const images = [...lines.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).to.deep.equal(new Set([`node:${dependencies["node"]}-alpine`]));
    expect(lines).to.match(/^USER node$/m);
    expect(lines).to.contain("/readyz");
    for (const [, folder] of lines.matchAll(/^COPY ([a-z]+) \1$/gm)) {
      expect(text(".dockerignore")).to.contain(`!${folder}\n`);
    }
  });

  describe("as Kubernetes manifests", () => {
    const manifests = ["relay.yaml", "secret.example.yaml"].flatMap((file) =>
      parseAllDocuments(text(`deploy/kubernetes/${file}`)).map((document) => document.toJS() as Manifest));
    const deployments = manifests.filter(({ kind }) => kind === "Deployment");
    const common = manifests.find(({ kind }) => kind === "ConfigMap")?.data ?? {};
    const secret = { ...manifests.find(({ kind }) => kind === "Secret")?.stringData, RELAY_MASTER_KEY: masterKey };

    it("run every role, at least twice", () => {
      const roles = deployments.map((deployment) => environmentOf(deployment)["RELAY_ROLES"]);
      expect(roles.toSorted()).to.deep.equal(processRoles.toSorted());
      for (const { spec, metadata } of deployments) expect(spec?.replicas, metadata.name).to.be.at.least(2);
    });

    for (const deployment of deployments) {
      it(`configure ${deployment.metadata.name} so that it starts, confined, probed and given time to drain`, () => {
        const { shutdownTimeoutMs } = accepted({ ...common, ...secret, ...environmentOf(deployment) });
        const spec = deployment.spec?.template?.spec;
        const [container] = spec?.containers ?? [];
        expect(spec?.securityContext.runAsNonRoot).to.equal(true);
        const confined = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false };
        expect(container?.securityContext).to.include(confined);
        expect(container?.readinessProbe.httpGet.path).to.equal("/readyz");
        expect(container?.livenessProbe.httpGet.path).to.equal("/healthz");
        expect((spec?.terminationGracePeriodSeconds ?? 0) * 1000).to.be.above(shutdownTimeoutMs + 5_000);
      });
    }

    it("take no settings from what Kubernetes says of a Service that is called relay", () => {
      const links = { RELAY_PORT: "tcp://10.0.0.1:80", RELAY_SERVICE_HOST: "10.0.0.1" };
      expect(() => readConfig(links)).to.throw("RELAY_PORT");
      for (const { spec, metadata } of deployments) {
        expect(spec?.template?.spec.enableServiceLinks, metadata.name).to.equal(false);
      }
    });

    function environmentOf({ spec }: Manifest): Environment {
      const [container] = spec?.template?.spec.containers ?? [];
      return Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
    }
  });
});
