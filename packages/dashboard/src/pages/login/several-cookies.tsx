import type { ReactNode } from "react";
import { pagesPath } from "../../api/relay.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";

/** Names of one's own machine, each with another: cookies of one are not sent to the other. */
const otherNames: Readonly<Record<string, string>> = { localhost: "127.0.0.1", "127.0.0.1": "localhost" };

/** Says that another program has set a session cookie for this host, and how to get rid of it. */
export function SeveralCookies(): ReactNode {
  const { hostname, host, protocol } = location;
  const other = otherNames[hostname];
  return (
    <div className={classes(shared.state, shared.bad)} role="alert">
      <p><strong>Another program at <code>{hostname}</code> has set a session cookie of its own.</strong></p>
      <p>
        Programs at one host share their cookies, whatever their ports. The relay cannot tell which cookie is yours, so
        it takes none, and signs nobody in.
      </p>
      <p>
        Remove the cookies of <code>{hostname}</code>: open the site information beside the address, then cookies and
        site data. Then sign in again.
      </p>
      {other !== undefined && (
        <p>Or open the relay as <code>{`${protocol}//${host.replace(hostname, other)}${pagesPath}/`}</code>.</p>
      )}
    </div>
  );
}
