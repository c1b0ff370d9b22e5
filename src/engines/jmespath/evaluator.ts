import { Script } from "node:vm";
import { TreeInterpreter, type JSONValue } from "@jmespath-community/jmespath";
import { LRUCache } from "lru-cache";
import { asProblem, compileExpression, type Expression } from "./expression.ts";
import { boundFunctions } from "./functions.ts";
import { parsePayload, resultText } from "./json.ts";
import { correctLookups } from "./lookups.ts";
import { MappingProblem } from "./protocol.ts";

/** A compiled syntax tree takes some hundred times the memory of its text. */
const mostCachedCharacters = 128 * 1024;
boundFunctions();
correctLookups();

export interface EvaluatorOptions {
  /** Processor time for compiling, and for evaluating. */
  readonly timeoutMs: number;
  /** The watchdog's longest limit, on a busy machine. */
  readonly patienceMs: number;
  readonly maxBytes: number;
}

/** Evaluates expressions within bounds of time and size; only a separate process can bound memory. */
export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #compiled = new LRUCache<string, Expression>({
    maxSize: mostCachedCharacters,
    sizeCalculation: (_expression, text) => text.length + 1,
  });

  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  /** Throws a MappingProblem for an invalid expression. */
  compile(text: string): Expression {
    const known = this.#compiled.get(text);
    if (known) return known;
    const expression = this.#watched(() => compileExpression(text));
    this.#compiled.set(text, expression);
    return expression;
  }

  /** Applies an expression to a payload, both as texts. Throws a MappingProblem. */
  apply(text: string, payload: string): string {
    const tree = this.compile(text);
    const { value, spellings } = parsePayload(payload);
    const evaluate = () => TreeInterpreter.search(tree, value as JSONValue);
    const result = this.#watched(() => asProblem(evaluate, "cannot be evaluated on this payload"));
    return resultText(result, this.#options.maxBytes, spellings);
  }

  /** Repeats a run that lacked processor time within the watchdog's wall time, with twice the limit. */
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

function watch<Result>(run: () => Result, timeoutMs: number): Result {
  // Only scripts can have a watchdog, and a script reaches only globals.
  (globalThis as unknown as Record<symbol, () => Result>)[hook] = run;
  return script.runInThisContext({ timeout: timeoutMs }) as Result;
}
