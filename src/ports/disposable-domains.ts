/** Mail domains whose addresses nobody reads for long. */
export interface DisposableDomains {
  /** Whether the domain, in whatever case, or one above it is known to be such a one. */
  has(domain: string): boolean;
}
