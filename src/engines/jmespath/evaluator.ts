import { Script } from "node:vm";
import { TreeInterpreter, type JSONValue } from "@jmespath-community/jmespath";
import { LRUCache } from "lru-cache";
import { asProblem, compileExpression, type Expression } from "./expression.ts";
import { boundFunctions } from "./functions.ts";
import { parsePayload, resultText } from "./json.ts";
import { correctLookups } from "./lookups.ts";
import { MappingProblem } from "./protocol.ts";

/** Characters of cached expressions: a compiled syntax tree takes some hundred times as much memory. */
const mostCachedCharacters = 128 * 1024;
boundFunctions();
correctLookups();

/** Times, in milliseconds. */
export interface EvaluatorOptions {
  /** How long compiling, and how long evaluating, may keep the processor busy. */
  readonly timeoutMs: number;
  /** The longest limit of the watchdog, on a busy machine. */
  readonly patienceMs: number;
  /** The size of a result at most, as UTF-8. */
  readonly maxBytes: number;
}

/**
 * Compiles and evaluates expressions within bounds of time and size. It does not bound memory: for that it must run in
 * a process of its own. The watchdog ends JavaScript and most built-ins, but not all of them.
 */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #compiled = new LRUCache<string, Expression>({
    maxSize: mostCachedCharacters,
    sizeCalculation: (_expression, text) => text.length + 1,
  });

  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  /** Throws a MappingProblem unless the text is an expression that compiles. */
  compile(text: string): Expression {
    const known = this.#compiled.get(text);
    if (known) return known;
    const expression = this.#watched(() => compileExpression(text));
    this.#compiled.set(text, expression);
    return expression;
  }

  /** The JSON text that an expression makes of a payload. Throws a MappingProblem. */
  apply(text: string, payload: string): string {
    const tree = this.compile(text);
    const { value, spellings } = parsePayload(payload);
    const evaluate = () => TreeInterpreter.search(tree, value as JSONValue);
    const result = this.#watched(() => asProblem(evaluate, "cannot be evaluated on this payload"));
    return resultText(result, this.#options.maxBytes, spellings);
  }

  /**
   * Runs within the time limit. The watchdog measures wall time only: a run that it ended on a busy machine before the
   * run had its processor time starts again with twice the limit, until the runs have had that time twice.
   */
  #watched<Result>(run: () => Result): Result {
    const { timeoutMs, patienceMs } = this.#options;
    const before = process.threadCpuUsage();
    for (let limitMs = timeoutMs, spentMs = 0; ; limitMs *= 2) {
      try {
        return watch(run, limitMs);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
        const { user, system } = process.threadCpuUsage(before);
        const nowSpentMs = (user + system) / 1_000;
        const starved = nowSpentMs - spentMs < timeoutMs * 0.9 && nowSpentMs < timeoutMs * 2;
        if (!starved || limitMs * 2 > patienceMs) throw new MappingProblem(`takes longer than ${timeoutMs} ms`);
        spentMs = nowSpentMs;
      }
    }
  }
}

const hook = Symbol.for("webhook-relay.mapping");
const script = new Script(`globalThis[Symbol.for("${hook.description}")]()`);

/** Calls the function; a watchdog ends it after the time. Throws ERR_SCRIPT_EXECUTION_TIMEOUT then. */
function watch<Result>(run: () => Result, timeoutMs: number): Result {
  // Only scripts can have a watchdog, and a script reaches nothing but globals.
  (globalThis as unknown as Record<symbol, () => Result>)[hook] = run;
  return script.runInThisContext({ timeout: timeoutMs }) as Result;
}
