import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

const own = "time, ids and chance come from src/kernel/ports/{clock,ids}, settings from src/main/config";

/** Only engines and `src/main` may touch these, so that a simulation can own the rest. */
const world = {
  "no-restricted-globals": [
    "error",
    ...["setTimeout", "setInterval", "performance", "crypto"].map((name) => ({ name, message: own })),
  ],
  "no-restricted-properties": [
    "error",
    { object: "Date", property: "now", message: own },
    { object: "Math", property: "random", message: own },
    { object: "process", property: "env", message: own },
    { object: "process", property: "hrtime", message: own },
    { object: "AbortSignal", property: "timeout", message: own },
  ],
  "@typescript-eslint/no-restricted-imports": [
    "error",
    {
      paths: [
        ...["node:timers", "node:timers/promises", "node:perf_hooks"].map((name) => ({ name, message: own })),
        { name: "node:process", importNames: ["env", "hrtime"], message: own },
        {
          name: "node:crypto",
          importNames: ["getRandomValues", "randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID"],
          message: own,
        },
      ],
    },
  ],
};

const defaultExport = { selector: "ExportDefaultDeclaration", message: "named exports only" };
const currentDate = { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: own };
const focusedTest = {
  selector: "MemberExpression[object.name=/^(describe|context|suite|it|specify|test)$/][property.name='only']",
  message: "a focused test silences all others",
};

const style = {
  "@stylistic/arrow-parens": "error",
  "@stylistic/arrow-spacing": "error",
  "@stylistic/block-spacing": "error",
  "@stylistic/brace-style": ["error", "1tbs", { allowSingleLine: true }],
  "@stylistic/comma-dangle": ["error", "always-multiline"],
  "@stylistic/comma-spacing": "error",
  "@stylistic/eol-last": "error",
  "@stylistic/function-call-spacing": "error",
  "@stylistic/indent": ["error", 2, { SwitchCase: 1, ignoredNodes: ["TSUnionType", "TSUnionType *"] }],
  "@stylistic/key-spacing": "error",
  "@stylistic/keyword-spacing": "error",
  "@stylistic/max-len": ["error", { code: 120, ignoreRegExpLiterals: true }],
  "@stylistic/member-delimiter-style": ["error", { singleline: { delimiter: "semi", requireLast: false } }],
  "@stylistic/no-extra-semi": "error",
  "@stylistic/no-multi-spaces": "error",
  "@stylistic/no-multiple-empty-lines": ["error", { max: 1, maxBOF: 0, maxEOF: 0 }],
  "@stylistic/no-tabs": "error",
  "@stylistic/no-trailing-spaces": "error",
  "@stylistic/object-curly-spacing": ["error", "always"],
  "@stylistic/quote-props": ["error", "as-needed"],
  "@stylistic/quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: "avoidEscape" }],
  "@stylistic/semi": "error",
  "@stylistic/semi-spacing": "error",
  "@stylistic/space-before-blocks": "error",
  "@stylistic/space-in-parens": "error",
  "@stylistic/space-infix-ops": "error",
  "@stylistic/spaced-comment": "error",
  "@stylistic/type-annotation-spacing": "error",
};

/** How near a module is to its importer: Node's own, packages, ours from the farthest folder to this one. */
const nearness = (path) =>
  path.startsWith("node:") ? -Infinity : path.startsWith(".") ? -path.split("../").length : Number.MIN_SAFE_INTEGER;
const bare = (path) => path.replace(/\.[jt]sx?$/, "").toLowerCase();
const inOrder = (one, other) =>
  nearness(one) < nearness(other) || (nearness(one) === nearness(other) && bare(one) <= bare(other));

const importOrder = {
  create: (context) => ({
    "ImportDeclaration + ImportDeclaration": (node) => {
      const { body } = node.parent;
      const before = body[body.indexOf(node) - 1];
      if (inOrder(before.source.value, node.source.value)) return;
      context.report({ node, message: "imports: node:, packages, then ours, the farthest first, each by name" });
    },
  }),
};

export default defineConfig(
  globalIgnores(["build/", "data/", "bench/results/", "packages/*/dist/", "schemas/api.ts"]),
  { linterOptions: { noInlineConfig: true } },
  js.configs.recommended,
  { plugins: { "@stylistic": stylistic }, rules: style },
  { plugins: { own: { rules: { "import-order": importOrder } } }, rules: { "own/import-order": "error" } },
  {
    files: ["**/*.cjs"],
    languageOptions: { globals: { module: "writable", require: "readonly" } },
  },
  {
    files: ["docs/examples/**/*.mjs"],
    languageOptions: { globals: { Buffer: "readonly", console: "readonly", process: "readonly" } },
  },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-lines": ["error", 450],
      "no-console": "error",
      "no-restricted-syntax": ["error", defaultExport, focusedTest],
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "@typescript-eslint/no-deprecated": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-unnecessary-condition": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      // An async function without await answers a port's promise and turns its errors into rejections.
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/return-await": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // Vite reads the default export.
    files: ["packages/dashboard/vite.config.ts"],
    rules: { "no-restricted-syntax": "off" },
  },
  {
    // Generated: a few lines for each operation.
    files: ["packages/client/src/operations.ts"],
    rules: { "max-lines": "off" },
  },
  {
    files: ["src/**/*.ts", "projections/**/*.ts", "schemas/**/*.ts"],
    ignores: ["src/engines/**", "src/kernel/{files,threads}/**", "src/main/**", "src/main.ts"],
    rules: { ...world, "no-restricted-syntax": ["error", defaultExport, currentDate] },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts", "demo/**/*.ts"],
    rules: {
      "no-console": "off",
      // chai's assertions are property reads.
      "@typescript-eslint/no-unused-expressions": "off",
    },
  },
);
