/**
 * Checks types and style of a TypeScript project, the program's own unless another configuration is named. The faults
 * of a file depend on its own text and on the declarations of the modules that it can see, so a file is checked again
 * only if one of these has changed; a change within a function concerns no importer. `node_modules/.cache/lint`
 * remembers which files had no fault; everything is checked again after a change of a script or of other settings, of
 * the installed packages, or of a module that declares globals.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { ESLint } from "eslint";
import ts from "typescript";

const [configPath = "tsconfig.json"] = process.argv.slice(2);
const folder = dirname(configPath);
const cachePath = `node_modules/.cache/lint/${folder === "." ? "files" : folder.replaceAll("/", "-")}.json`;
const settings = ["package.json", "node_modules/.package-lock.json", configPath];

const config = ts.getParsedCommandLineOfConfigFile(configPath, {}, {
  ...ts.sys, onUnRecoverableConfigFileDiagnostic: (diagnostic) => failOn([diagnostic]),
});
failOn(config.errors);
/** Declarations are computed, and written nowhere. */
const options = { ...config.options, noEmit: false, declaration: true, emitDeclarationOnly: true };
const resolutions = ts.createModuleResolutionCache(process.cwd(), (name) => name, options);
const texts = new Map();
const names = config.fileNames.map((file) => relative("", file)).sort();
/** Files outside the program, the rules among them. They are few: all are linted every time. */
const otherProjects = folder === "." ? (config.raw.exclude ?? []) : [];
const outside = ts.sys.readDirectory(
  folder === "." ? "" : folder, [".ts", ".js", ".cjs", ".mjs"], ["**/node_modules", "build", "data", ...otherProjects],
)
  .map((file) => relative("", file)).filter((file) => !names.includes(file));
const world = hash([
  process.version, JSON.stringify(config.options), readFileSync(import.meta.filename, "utf8"),
  ...[...settings, ...outside].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")),
  ...names.map(textOf).filter((text) => /^declare (global|module)\b/m.test(text)),
]);
/** Of each file, under the key that it had: its declarations' hash and imports, and whether no fault was found. */
const remembered = readCache();
const modules = new Map();
let program;

const stale = names.filter((name) => !moduleOf(name).clean);
if (stale.length > 0) {
  const files = stale.map((name) => theProgram().getSourceFile(name));
  failOn([
    ...theProgram().getOptionsDiagnostics(), ...theProgram().getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...theProgram().getSyntacticDiagnostics(file), ...theProgram().getSemanticDiagnostics(file),
    ]),
  ]);
}
const faulty = await lint(stale);
for (const name of stale) modules.get(name).clean = !faulty.has(name);
writeCache();
process.stdout.write(`types and style: ${names.length} modules, ${stale.length} of them checked\n`);
process.exitCode = faulty.size > 0 ? 1 : 0;

/** A module with its key, the hash of its text and of all declarations that it can see. */
function moduleOf(name) {
  const known = modules.get(name);
  if (known) return known;
  const text = textOf(name);
  const imports = importsIn(name, text);
  // Stands for the module where imports form a circle: its text tells at least as much as its declarations.
  const module = { key: "", clean: false, shape: hash([text]), imports };
  modules.set(name, module);
  const key = hash([world, name, text, ...seenFrom(imports).flatMap((seen) => [seen, modules.get(seen).shape])]);
  const before = remembered[name];
  const declared = before?.key === key ? before : { clean: false, ...declarationsOf(name, text, imports) };
  return Object.assign(module, declared, { key });
}

/** The modules whose declarations a module with these imports can see, in order of their names. */
function seenFrom(imports) {
  const seen = new Set(imports);
  for (const name of seen) for (const further of moduleOf(name).imports) seen.add(further);
  return [...seen].sort();
}

/** The hash and the imports of a module's declarations; those of its text if it has no declarations. */
function declarationsOf(name, text, imports) {
  let declarations;
  theProgram().emit(theProgram().getSourceFile(name), (_, written) => (declarations = written), undefined, true);
  if (declarations === undefined) return { shape: hash([text]), imports };
  return { shape: hash([declarations]), imports: importsIn(name, declarations) };
}

/** Our own modules that a text of this module imports. Installed packages count among the settings. */
function importsIn(name, text) {
  return ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName }) => {
    const from = join(process.cwd(), name);
    const { resolvedModule } =
      ts.resolveModuleName(fileName, from, options, ts.sys, resolutions, undefined, ts.ModuleKind.ESNext);
    const path = resolvedModule?.resolvedFileName;
    return path && !path.includes("/node_modules/") ? [relative("", path)] : [];
  });
}

function theProgram() {
  if (program) return program;
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  // The texts from which the keys were made, even if an editor has saved a newer one meanwhile.
  host.readFile = (path) => texts.get(relative("", path)) ?? readFile(path);
  return (program = ts.createProgram({ rootNames: config.fileNames, options, host }));
}

/** Returns the names of files with faults. */
async function lint(modulesToLint) {
  const languageOptions = { parserOptions: { projectService: false, programs: program ? [program] : [] } };
  const files = config.raw.include.map((part) =>
    join(folder, /\.\w+$/.test(part) ? part : `${part}/**/*.{ts,tsx}`));
  const eslint = new ESLint({ overrideConfig: { files, languageOptions }, warnIgnored: false });
  const results = outside.length > 0 ? await eslint.lintFiles(outside) : [];
  for (const name of modulesToLint) results.push(...await eslint.lintText(textOf(name), { filePath: name }));
  const formatter = await eslint.loadFormatter();
  process.stdout.write(await formatter.format(results));
  const withFaults = results.filter(({ messages }) => messages.length > 0);
  return new Set(withFaults.map(({ filePath }) => relative("", filePath)));
}

/** Reports the problems, if any, and ends. */
function failOn(diagnostics) {
  if (diagnostics.length === 0) return;
  const host = {
    getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => ts.sys.newLine,
  };
  process.stdout.write(ts.formatDiagnosticsWithColorAndContext(ts.sortAndDeduplicateDiagnostics(diagnostics), host));
  process.exit(1);
}

function textOf(name) {
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = readFileSync(name, "utf8")));
  return text;
}

function hash(parts) {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(`${part.length}:${part}`);
  return digest.digest("base64");
}

function readCache() {
  try {
    return JSON.parse(readFileSync(cachePath, "utf8"));
  } catch {
    return {};
  }
}

function writeCache() {
  mkdirSync(dirname(cachePath), { recursive: true });
  const draft = `${cachePath}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(Object.fromEntries(modules)));
  renameSync(draft, cachePath);
}
