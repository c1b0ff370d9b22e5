import { hold } from "./broken.ts";
import { inForce, type Past } from "./records.ts";

/** When older secrets end, by their fingerprints. */
type Ends = readonly { readonly fingerprint: string; readonly expiresAt: string }[];

/** A fact that may tell or name signing secrets. */
type Data = Readonly<Record<string, unknown>> & { readonly at: string };

/** The older secrets of each tenant that still sign beside the current one. */
export class SigningSecrets {
  readonly #now: () => number;
  readonly #newsMs: number;
  readonly #older = new Map<string, Past<Ends>>();

  constructor(now: () => number, newsMs: number) {
    this.#now = now;
    this.#newsMs = newsMs;
  }

  /** Learns the older secrets that a fact of a tenant tells, if it does. */
  learn(tenantId: string, type: string, { previous }: Data): void {
    if (!["TenantCreated", "WebhookSecretRegenerated", "WebhookSecretsExpired"].includes(type)) return;
    const past = this.#older.get(tenantId) ?? [];
    past.push({ since: this.#now(), value: (previous as Ends | undefined) ?? [] });
    this.#older.set(tenantId, past);
  }

  /** An attempt begins: exactly the older secrets sign it whose end is later than the attempt. */
  begins(tenantId: string, { at, secretFingerprint, secretFingerprints }: Data, where: () => string): void {
    const signing = new Set((secretFingerprints as readonly string[] | undefined) ?? []);
    signing.delete(String(secretFingerprint));
    const known = inForce(this.#older.get(tenantId) ?? [], this.#now() - this.#newsMs).map((ends) =>
      ends.filter(({ expiresAt }) => expiresAt > at).map(({ fingerprint }) => fingerprint));
    const isRight = known.some((ends) => ends.length === signing.size && ends.every((one) => signing.has(one)));
    hold(isRight, "older secrets sign until they end", () => `${where()}: ${[...signing].join()}`);
  }
}
