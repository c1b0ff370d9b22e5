import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import type { DisposableDomains } from "../../kernel/ports/disposable-domains.ts";

/** The domains of the public blocklist, as the installed package has it. */
export class ListedDomains implements DisposableDomains {
  readonly #domains = disposableEmailBlocklistSet();

  has(domain: string): boolean {
    const labels = domain.toLowerCase().replace(/\.$/, "").split(".");
    return labels.some((_, from) => this.#domains.has(labels.slice(from).join(".")));
  }
}
