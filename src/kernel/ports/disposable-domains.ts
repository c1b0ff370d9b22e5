/** Domains of disposable email addresses. */
export interface DisposableDomains {
  /** Whether the domain, in any case, or one above it is known as disposable. */
  has(domain: string): boolean;
}
