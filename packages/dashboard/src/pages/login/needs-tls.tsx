import type { ReactNode } from "react";
import { relayAddress } from "../../api/relay.ts";
import shared from "../../style/shared.module.css";

/** Browsers drop the session's cookie on plain HTTP, except at localhost. */
export function canSignIn(): boolean {
  return location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
}

/** Takes the place of the password's field on an unsafe connection, and names the remedies. */
export function NeedsTls(): ReactNode {
  const { hostname, port } = new URL(relayAddress);
  const far = port === "" ? "80" : port;
  return (
    <div className={shared.state}>
      <p>Signing in here needs TLS: over plain HTTP everybody on the way could read the password.</p>
      <p>Open the relay by <code>https:</code>, or through a tunnel to your own machine:</p>
      <pre><code>{`ssh -L 8080:localhost:${far} ${hostname}`}</code></pre>
      <p>Then open <code>http://localhost:8080/app/</code>.</p>
    </div>
  );
}
