import type { Inputs } from "../../schemas/api.ts";
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from "../../src/kernel/ports/outbound.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The behaviours of a token endpoint, drawn again for each request. */
const manners = [
  "fast", "fast", "slow", "silent", "wants the form", "refusing", "broken", "garbled", "brief", "forever",
] as const;

const mark = ".tokens.";

/** A random change of a destination's authentication. */
export function proofFor(tenantId: string, random: Random): Inputs["updateDestination"] {
  const scope = random.pick(["read", "write"]);
  const tokenEndpoint = `https://${tenantId}${mark}example/token`;
  const grant = { tokenEndpoint, clientId: "relay", clientSecret: "hush", scope };
  return random.pick<Inputs["updateDestination"]>([
    { authType: "JwtBearer", credentials: grant },
    { authType: "JwtBearer", credentials: grant },
    { authType: "ApiKey", credentials: { headerName: "X-Key", value: random.hex(16) } },
    { removeAuth: true },
  ]);
}

/** Called when a process asks for a token; `isAsking`: it has an open request for the same token. */
type AskWatcher = (client: string, isAsking: boolean) => void;

/** All token endpoints, and the tokens that they gave. */
export class TokenEndpoints {
  /** Every endpoint gives good tokens at once. */
  healed = false;
  watcher: AskWatcher | undefined;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  /** Requests under way, by process and client. */
  readonly #underWay = new Set<string>();
  #given = 0;

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
  }

  /** Whether a request goes to a token endpoint. */
  has({ url }: OutboundRequest): boolean {
    return url.includes(mark);
  }

  post(process: SimulatedProcess, request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure> {
    const { url, body, timeoutMs } = request;
    const form = new URLSearchParams(Buffer.from(body).toString());
    const inForm = form.has("client_secret");
    const client = `${process.name} ${url} ${form.get("scope")}`;
    this.watcher?.(client, this.#underWay.has(client));
    this.#underWay.add(client);
    const { afterMs, status, text } = this.#answer(inForm);
    const inTime = afterMs < timeoutMs;
    return new Promise((resolve) => {
      this.#scheduler.after(inTime ? afterMs : timeoutMs, () => process.hear(() => {
        this.#underWay.delete(client);
        resolve(inTime
          ? { answered: true, statusCode: status, headers: {}, body: Buffer.from(text), truncated: false }
          : { answered: false, reason: "timeout", error: "no answer in time", connected: true });
      }));
    });
  }

  #answer(inForm: boolean): { readonly afterMs: number; readonly status: number; readonly text: string } {
    const random = this.#random;
    const soon = random.between(0.5, 20);
    const given = (expiresIn: unknown) => {
      const token = `token-${(this.#given += 1)}`;
      return { afterMs: soon, status: 200, text: JSON.stringify({ access_token: token, expires_in: expiresIn }) };
    };
    if (this.healed) return given(3600);
    switch (random.pick(manners)) {
      case "fast":
        return given(random.pick([3600, "600", 70, undefined]));
      case "slow":
        return { ...given(300), afterMs: random.spread(200, 8_000) };
      case "silent":
        return { afterMs: Infinity, status: 0, text: "" };
      case "wants the form":
        return inForm ? given(300) : { afterMs: soon, status: 401, text: "{\"error\":\"invalid_client\"}" };
      case "refusing":
        return { afterMs: soon, status: random.pick([400, 401]), text: "{\"error\":\"invalid_client\"}" };
      case "broken":
        return { afterMs: soon, status: random.pick([500, 302]), text: "" };
      case "garbled":
        return { afterMs: soon, status: 200, text: random.pick(["", "no", "[]", "{\"access_token\":7}"]) };
      case "brief":
        return given(random.pick([0, -1, 1, 30, 61]));
      case "forever":
        return given(random.pick([1e15, "never", null]));
    }
  }
}
