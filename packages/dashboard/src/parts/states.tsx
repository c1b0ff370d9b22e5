import type { UseQueryResult } from "@tanstack/react-query";
import { RelayError } from "@webhook-relay/client";
import { useEffect, useState, type ReactNode } from "react";
import { mayPass } from "../api/queries.ts";
import { isPortal } from "../api/relay.ts";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./states.module.css";
import { LoadError } from "./use-loaded.ts";

/** How long content may take before its place shows that it is loading, ms. */
const patienceMs = 150;

/** Whether content takes so long that its place shows that it is loading: fast answers do not flicker. */
export function useIsSlow(): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  return isSlow;
}

/** Takes the place of content that is being loaded; invisible at first. */
export function Loading({ lines = 6 }: { readonly lines?: number }): ReactNode {
  const shown = useIsSlow();
  return (
    <div className={styles.loading} role="status" aria-label="Loading" data-shown={shown}>
      {shown && Array.from({ length: lines }, (_, line) => <span key={line} className={styles.bone} />)}
    </div>
  );
}

/** An error in place of content: its text, the id by which the operator finds the request, and another try. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }): ReactNode {
  const requestId = error instanceof RelayError ? error.details.requestId : null;
  return (
    <div className={classes(shared.state, shared.bad)} role="alert">
      <p><strong>{textOf(error)}</strong></p>
      {requestId !== null && <p className={shared.small}>Request <code>{requestId}</code></p>}
      {error instanceof LoadError
        ? <p><button type="button" onClick={() => location.reload()}>Reload the page</button></p>
        : retry && <p><button type="button" onClick={retry}>Try again</button></p>}
    </div>
  );
}

/** The text of an error for people. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : "something went wrong";
}

/** An empty place: its purpose, and the one act that fills it. */
export function Empty({ children, act }: { readonly children: ReactNode; readonly act?: ReactNode }): ReactNode {
  return (
    <div className={shared.state}>
      <p>{children}</p>
      {act !== undefined && act !== false && <p>{act}</p>}
    </div>
  );
}

/** Says that rows are of an earlier moment while the relay is catching up. */
function Stale({ since }: { readonly since: unknown }): ReactNode {
  return <p className={shared.stale} role="status">Catching up: {textOf(since)}. Trying again…</p>;
}

/** Takes the place of a control that the caller may not use: the roles that may. The portal has no roles. */
export function NoRight({ children }: { readonly children: ReactNode }): ReactNode {
  return !isPortal && <p className={shared.small} data-no-right>{children}</p>;
}

/** In place of content that the caller may not read. */
export function NotForYou(): ReactNode {
  return <NoRight>Your role does not include what is here. An Admin or an Owner can change it.</NoRight>;
}

/** The part of a query that is shown. */
type QueryState<Data> =
  Pick<UseQueryResult<Data>, "data" | "error" | "failureReason" | "fetchStatus"> & { readonly refetch: () => unknown };

/**
 * The content of an answer in each of its states: loading, failed, stale (earlier content stays), not asked for since
 * the caller may not, and there. `loading` has the shape of the content.
 */
export function Answered<Data>({ query, loading, children }: {
  readonly query: QueryState<Data>;
  readonly loading?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}): ReactNode {
  const { data, error, failureReason, fetchStatus } = query;
  const waits = failureReason !== null && mayPass(failureReason);
  if (data !== undefined) {
    return <>{waits && <Stale since={failureReason} />}{children(data)}</>;
  }
  if (error !== null) return <Failure error={error} retry={() => query.refetch()} />;
  if (fetchStatus === "idle") return <NotForYou />;
  return <>{waits && <Stale since={failureReason} />}{loading ?? <Loading />}</>;
}
