import type { ClientOptions } from "./call.ts";
import { createClient, type RelayClient } from "./client.ts";
import { pauseFor, withRetries, type RetryPolicy } from "./retries.ts";
import type { AnswerOf } from "./types.ts";

/** The relay and the destination of events, and the API key. */
export interface ProducerOptions extends Pick<ClientOptions, "url" | "fetch">, Partial<RetryPolicy> {
  /** An API key, prefix `rk_`. */
  readonly apiKey: string;
  readonly tenantId: string;
  /** The token of a destination (`dst_`) or of a sender (`sndr_`). */
  readonly ingestToken: string;
  /** How long an attempt may take, seconds; 30 unless set. */
  readonly timeout?: number;
}

/** Options of one event. */
export interface Posting {
  /** Names the event within the tenant, so that it is accepted once however often it is posted; random unless set. */
  readonly idempotencyKey?: string;
  readonly eventType?: string;
  /** Your own name for the customer that it concerns. */
  readonly ownerId?: string;
  /** At most 10. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Ends the posting; the event may have been accepted. */
  readonly signal?: AbortSignal;
}

/** Posts events, with retries. */
export class Producer {
  readonly #client: RelayClient;
  readonly #to: { readonly tenantId: string; readonly token: string };
  readonly #policy: RetryPolicy;
  readonly #timeoutMs: number;

  /** `attempts` is 5 unless set, `longestPause` 60 seconds. */
  constructor(options: ProducerOptions) {
    const { tenantId, ingestToken, timeout = 30, attempts = 5, longestPause = 60, pause = pauseFor } = options;
    this.#client = createClient(options);
    this.#to = { tenantId, token: ingestToken };
    this.#policy = { attempts, longestPause, pause };
    this.#timeoutMs = timeout * 1_000;
  }

  /**
   * Posts a JSON object; a text or bytes go out as they are. Resolves once the event is on the relay's disk: to its
   * acceptance, or to the event that was accepted earlier under the same idempotency key. Tries again while the relay
   * cannot be reached, and after 408, 429 and any 5xx. Rejects with the RelayError of the last attempt, with a
   * DOMException (TimeoutError) where that took too long, and with the signal's reason.
   */
  post(
    event: object | string | Uint8Array, { idempotencyKey = crypto.randomUUID(), signal, ...said }: Posting = {},
  ): Promise<AnswerOf<"ingest">> {
    const parameters = { ...this.#to, "X-Idempotency-Key": idempotencyKey, ...headersOf(said) };
    const attempt = () => {
      const timeout = AbortSignal.timeout(this.#timeoutMs);
      const options = { signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
      return this.#client.ingest(parameters, event as Record<string, unknown>, options);
    };
    return withRetries(attempt, this.#policy, signal);
  }
}

function headersOf({ eventType, ownerId, tags }: Pick<Posting, "eventType" | "ownerId" | "tags">) {
  const tagTexts = Object.entries(tags ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    ...(eventType !== undefined && { "X-Event-Type": eventType }),
    ...(ownerId !== undefined && { "X-Owner-Id": ownerId }),
    ...(tagTexts.length > 0 && { "X-Tags": tagTexts.join(",") }),
  };
}
