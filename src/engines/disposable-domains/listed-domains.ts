import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import type { DisposableDomains } from "../../kernel/ports/disposable-domains.ts";

/** The domains of the public blocklist in the installed package. */
export class ListedDomains implements DisposableDomains {
  readonly #domains = disposableEmailBlocklistSet();

  has(domain: string): boolean {
    const labels = domain.toLowerCase().replace(/\.$/, "").split(".");
    return labels.some((_, from) => this.#domains.has(labels.slice(from).join(".")));
  }
}
