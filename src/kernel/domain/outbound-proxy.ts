/** The HTTP proxy that all outbound calls go through. */
export interface OutboundProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; null without a name and password. */
  readonly authorization: string | null;
}
