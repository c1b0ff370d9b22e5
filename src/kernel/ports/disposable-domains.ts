/** Domains of disposable email addresses. */
export interface DisposableDomains {
  has(domain: string): boolean;
}
