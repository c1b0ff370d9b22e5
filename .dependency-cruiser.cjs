/** Which of our folders each folder may import, itself included where nothing else is said. */
const layers = {
  "src/domain": [],
  "src/ports": ["src/domain"],
  projections: ["src/domain", "src/ports/read-models.ts"],
  schemas: [],
  "src/application": ["src/ports", "src/domain", "projections", "schemas"],
  "src/adapters": ["src/ports", "src/domain", "schemas"],
  "src/http": ["src/application", "src/ports", "src/domain", "schemas"],
  "src/workers": ["src/application", "src/ports", "src/domain", "projections"],
  "src/config": ["src/domain/ipv6.ts", "src/domain/never-called.ts"],
};

/** The only home of each package within the program; a package that is not listed has none. */
const homes = {
  "@eventstore/db-client": ["src/adapters/eventstoredb"],
  "@jmespath-community/jmespath": ["src/adapters/jmespath"],
  "@koa/router": ["src/http"],
  ajv: ["src/adapters/event-codec", "src/http"],
  bcryptjs: ["src/adapters/bcrypt"],
  "disposable-email-domains-js": ["src/adapters/disposable-domains"],
  entities: ["src/application/delivery"],
  "google-protobuf": ["src/adapters/eventstoredb"],
  jose: ["src/adapters/jose"],
  kafkajs: ["src/adapters/kafka"],
  koa: ["src/http"],
  "koa-body": ["src/http"],
  "lru-cache": ["src/application", "src/adapters", "src/workers"],
  mongodb: ["src/adapters/mongodb"],
  opossum: ["src/workers/delivery"],
  "p-limit": ["src/adapters", "src/application", "src/workers"],
  pino: ["src/adapters/pino"],
  "prom-client": ["src/adapters/prometheus"],
  undici: ["src/adapters/outbound"],
};

const program = "^(src|projections|schemas)/";
/** What is started, not imported: the program itself and its threads. */
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
      name: "embedded engines do not know each other",
      severity: "error",
      from: { path: "^src/adapters/embedded/([^/]+)/" },
      to: { path: "^src/adapters/embedded/", pathNot: "^src/adapters/embedded/($1|sqlite)/" },
    },
    {
      // These adapt nothing: how owners take turns, how files are made durable, how the embedded engines talk to their
      // threads, how threads keep V8's heap small, and what the engines of read models make of batches
      // and indexes.
      name: "adapters do not know each other",
      severity: "error",
      from: { path: "^src/adapters/([^/]+)/" },
      to: {
        path: "^src/adapters/",
        pathNot: "^src/adapters/($1|fair-queue|file-system|message-port|read-models|v8)/",
      },
    },
    {
      name: "packages know nothing of the program",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/client/src/(index|types)\\.ts$" },
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
      to: { path: "^(test|bench|demo|scripts|packages)/" },
    },
    {
      name: "nothing is left over",
      severity: "error",
      from: { path: entries },
      to: { path: "^(src|projections)/.+\\.ts$", pathNot: entries, reachable: false },
    },
    {
      name: "the core knows no platform",
      severity: "error",
      from: { path: under(["src/domain", "src/ports", "projections", "schemas"]) },
      to: { dependencyTypes: ["core", "npm", "npm-dev", "npm-optional", "npm-peer"] },
    },
    {
      name: "node:sqlite lives in the embedded engines",
      severity: "error",
      from: { path: program, pathNot: "^src/adapters/embedded/" },
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
