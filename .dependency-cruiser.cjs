/** Which of our folders each folder may import, itself included unless stated otherwise. */
const layers = {
  // It reads the moments of the log, the quarantine and the fingerprint of all projections.
  "src/kernel": ["projections", "schemas"],
  "src/features": ["src/kernel", "projections", "schemas"],
  projections: ["src/kernel", "src/features"],
  schemas: [],
  "src/delivery": ["src/kernel", "src/features", "projections"],
  "src/projector": ["src/kernel", "src/features", "projections"],
  "src/http": ["src/kernel", "src/features", "schemas"],
  "src/engines": ["src/kernel", "src/features", "schemas"],
  "src/main/config": ["src/kernel/domain"],
};

/** The only home of each package within the program; a package that is not listed has none. */
const homes = {
  "@eventstore/db-client": ["src/engines/eventstoredb"],
  "@jmespath-community/jmespath": ["src/engines/jmespath"],
  "@koa/router": ["src/http"],
  ajv: ["src/engines/event-codec", "src/kernel/operations", "src/http"],
  bcryptjs: ["src/engines/bcrypt"],
  "disposable-email-domains-js": ["src/engines/disposable-domains"],
  entities: ["src/delivery/requests"],
  "@bufbuild/protobuf": ["src/engines/eventstoredb"],
  "google-protobuf": ["src/engines/eventstoredb"],
  jose: ["src/engines/jose"],
  kafkajs: ["src/engines/kafka"],
  koa: ["src/http"],
  "koa-body": ["src/http"],
  "lru-cache": [
    "src/kernel", "src/features", "src/delivery", "src/engines", "src/projector", "packages/embedded-engine",
  ],
  mongodb: ["src/engines/mongodb"],
  opossum: ["src/delivery"],
  "p-limit": ["src/kernel", "src/features", "src/delivery", "src/engines", "src/projector", "packages/embedded-engine"],
  pino: ["src/engines/pino"],
  "prom-client": ["src/engines/prometheus"],
  undici: ["src/engines/outbound"],
};

const program = "^(src|projections|schemas|packages/embedded-engine)/";
/** Modules that are started, not imported: the program itself and its threads. */
const entries = "^src/main\\.ts$|/(worker|[a-z-]+-thread)\\.ts$";
const typesName = (name) => name.replace(/^@(.+)\//, "$1__");
const installed = (names) => `(^|/)node_modules/(${names.join("|")}|@types/(${names.map(typesName).join("|")}))/`;
const under = (folders) => `^(${folders.join("|")})(/|$)`;

const layerRules = Object.entries(layers).map(([folder, others]) => ({
  name: `${folder} imports only ${others.join(", ") || "itself"}`,
  severity: "error",
  from: { path: under([folder]) },
  to: { path: `${program}|^(test|bench|demo|packages)/`, pathNot: under([folder, ...others]) },
}));

const homeRules = Object.entries(homes).map(([name, folders]) => ({
  name: `${name} lives in ${folders.join(", ")}`,
  severity: "error",
  from: { path: program, pathNot: under(folders) },
  to: { path: installed([name]) },
}));

module.exports = {
  forbidden: [
    { name: "no circles", severity: "error", from: {}, to: { circular: true } },
    { name: "nothing unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    ...layerRules,
    {
      name: "a feature knows the facts and deciders of others; their services come by its constructor, as types",
      severity: "error",
      from: { path: "^src/features/([^/]+)/" },
      to: {
        path: "^src/features/[^/]+/",
        pathNot: [
          "^src/features/$1/", "/(facts|decide)\\.ts$", "^src/features/story/",
          "^src/features/events/(webhooks|selection)\\.ts$", "^src/features/messages/messages\\.ts$",
          "^src/features/subscriptions/routing\\.ts$",
        ],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "the engine in packages/embedded-engine knows the ports and the tools that engines share",
      severity: "error",
      from: { path: "^packages/embedded-engine/" },
      to: {
        path: `${program}|^(test|bench|demo|packages)/`,
        pathNot: "^packages/embedded-engine/|^src/kernel/(files\\.ts$|(ports|domain|threads|read-models/engine)/)",
      },
    },
    {
      name: "the internals of packages/embedded-engine are imported by its own tests only",
      severity: "error",
      from: { path: "^(src|bench|demo|test)/", pathNot: "^test/(unit/embedded-engine/|e2e/damaged-index)" },
      to: { path: "^packages/embedded-engine/", pathNot: "^packages/embedded-engine/src/index\\.ts$" },
    },
    {
      name: "embedded engines do not know each other",
      severity: "error",
      from: { path: "^packages/embedded-engine/src/([^/]+)/" },
      to: { path: "^packages/embedded-engine/src/", pathNot: "^packages/embedded-engine/src/($1|sqlite)/" },
    },
    {
      name: "engines do not know each other",
      severity: "error",
      from: { path: "^src/engines/([^/]+)/" },
      to: { path: "^src/engines/", pathNot: "^src/engines/$1/" },
    },
    {
      name: "packages know nothing of the program",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/(embedded-engine/|client/src/(index|types)\\.ts$)" },
      to: { path: "^(src|projections|schemas|test|bench|demo|scripts)/" },
    },
    {
      name: "of the program, the client takes what is generated from its schemas",
      severity: "error",
      from: { path: "^packages/client/src/(index|types)\\.ts$" },
      to: { path: "^(src|projections|schemas|test|bench|demo|scripts)/", pathNot: "^schemas/api\\.ts$" },
    },
    {
      name: "packages import each other by name",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: "^packages/", pathNot: "^packages/$1/", dependencyTypes: ["local"] },
    },
    {
      name: "a package declares what it imports",
      severity: "error",
      from: { path: "^packages/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "packages import no package but the client",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: "^packages/", pathNot: "^packages/($1|client)/" },
    },
    {
      name: "the client needs nothing but the platform that browsers have, too",
      severity: "error",
      from: { path: "^packages/client/src/" },
      to: { dependencyTypes: ["core", "npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "the program does not know its tests, its tools and the packages",
      severity: "error",
      from: { path: program },
      to: { path: "^(test|bench|demo|scripts|packages)/", pathNot: "^packages/embedded-engine/" },
    },
    {
      name: "nothing is left over",
      severity: "error",
      from: { path: entries },
      to: { path: "^(src|projections|packages/embedded-engine)/.+\\.ts$", pathNot: entries, reachable: false },
    },
    {
      name: "the core knows no platform",
      severity: "error",
      from: {
        path: under([
          "src/kernel/domain", "src/kernel/ports", "src/features/.+/(facts|decide).ts",
          "src/features/story/(?!queries)", "projections", "schemas",
        ]),
      },
      to: { dependencyTypes: ["core", "npm", "npm-dev", "npm-optional", "npm-peer"] },
    },
    {
      name: "node:sqlite lives in the embedded engines",
      severity: "error",
      from: { path: program, pathNot: "^packages/embedded-engine/" },
      to: { path: "^(node:)?sqlite$" },
    },
    ...homeRules,
    {
      name: "every package has a home",
      severity: "error",
      from: { path: program },
      to: { path: "(^|/)node_modules/", pathNot: installed(Object.keys(homes)) },
    },
    {
      name: "the program needs no development package",
      severity: "error",
      from: { path: program },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], pathNot: "/node_modules/@types/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules|^packages/[^/]+/dist/" },
    exclude: { path: "^build/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"], conditionNames: ["@webhook-relay/source", "import", "types", "node", "default"],
    },
  },
};
