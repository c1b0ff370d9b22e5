import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";
import type { TenantRecord } from "./records.ts";

/** The names of tenants and the emails of users, with their owners and reservations. */
export class ReservedNames {
  /** Streams of names and emails, and whether each is reserved. */
  readonly #reserved = new Map<string, boolean>();
  readonly #tenants: ReadonlyMap<string, TenantRecord>;

  constructor(tenants: ReadonlyMap<string, TenantRecord>) {
    this.#tenants = tenants;
  }

  /** A fact of a name's own stream. */
  committed({ stream, type }: RecordedEvent): void {
    this.#reserved.set(stream, type === "NameReserved");
  }

  /** A fact of a tenant may give it a name, or a user an email. */
  taken(tenantId: string, { nameHash, emailHash }: Readonly<Record<string, unknown>>): void {
    const own = this.#tenants.get(tenantId);
    if (!own) return;
    const all = [...this.#tenants.values()];
    if (typeof nameHash === "string") {
      const other = all.find((tenant) => tenant !== own && tenant.nameHash === nameHash);
      hold(other === undefined, "a name belongs to one tenant", () => `${tenantId} and ${other?.id}`);
      own.nameHash = nameHash;
    }
    if (typeof emailHash === "string") {
      const other = all.find((tenant) => tenant.emailHashes.has(emailHash));
      hold(other === undefined, "an email belongs to one user", () => `${tenantId} and ${other?.id}`);
      own.emailHashes.add(emailHash);
    }
  }

  /** Streams of names and emails that are reserved but not used. */
  forsaken(): readonly string[] {
    const used = [...this.#tenants.values()].flatMap(({ nameHash, emailHashes }) =>
      [`tenantName-${nameHash}`, ...[...emailHashes].map((hash) => `email-${hash}`)]);
    return [...this.#reserved].filter(([name, held]) => held && !used.includes(name)).map(([name]) => name);
  }
}
