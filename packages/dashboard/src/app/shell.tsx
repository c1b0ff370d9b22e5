import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useBlocker, useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore, type ComponentProps, type ReactNode } from "react";
import { relayClock } from "../api/clock.ts";
import { meQuery } from "../api/queries.ts";
import { caller, relay } from "../api/relay.ts";
import { useConnection } from "../live/stream.ts";
import { AskToDiscard, Dialog } from "../parts/dialog.tsx";
import { Icon, icons } from "../parts/icon.tsx";
import { KeysProvider, useAllKeys, useKeys } from "../parts/keys.tsx";
import { textOf } from "../parts/states.tsx";
import { Moment } from "../parts/time.tsx";
import { leaves, onUnsaved, unsavedForm } from "../parts/unsaved.ts";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { places } from "./places.ts";
import { PreferenceFields } from "./preference-fields.tsx";
import { usePreferences } from "./preferences.tsx";
import { SearchField } from "./search-field.tsx";
import { useMay, useMe, useSignOut } from "./session.ts";
import styles from "./shell.module.css";
import { Sidebar, sidebarId } from "./sidebar.tsx";
import { onOtherTab } from "./tabs.ts";

/** The frame of every page behind the sign-in: the sidebar, the bar above the page, and keys. */
export function Shell(): ReactNode {
  useRenewal();
  const { sidebar } = usePreferences();
  return <Framed className={styles.frame} data-sidebar={sidebar} bars={<><Sidebar /><TopBar /></>} />;
}

/** The page of the caller on the screen with its bars, in a frame. */
export function Framed({ bars, ...frame }: { readonly bars: ReactNode } & ComponentProps<"div">): ReactNode {
  const { principal: { id } } = useMe();
  useLayoutEffect(() => {
    caller.id = id;
  }, [id]);
  useEffect(() => onOtherTab(() => caller.check()), []);
  return (
    // Another caller gets a new tree, without the state of the former one.
    <KeysProvider key={id}>
      <a className={styles.skip} href="#content">Skip to the content</a>
      <div {...frame}>
        {bars}
        <main id="content" tabIndex={-1}><Outlet /></main>
      </div>
      <UnsavedGuard />
    </KeysProvider>
  );
}

function TopBar(): ReactNode {
  const { tenant } = useMe();
  const allows = useMay();
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const shown = places.filter(({ needs }) => allows(needs));
  useKeys({
    ...Object.fromEntries(shown.map(({ path, title, key }) =>
      [`g ${key}`, { does: `Go to ${title}`, run: () => void navigate({ to: path }) }])),
    "?": { does: "Show the keys", run: () => setHelp(true) },
  });
  return (
    <header className={styles.bar}>
      <button
        type="button" className={classes(shared.plain, styles.menu)} popoverTarget={sidebarId} aria-label="Menu"
      >
        <Icon of={icons.menu} />
      </button>
      <span className={styles.tenant} title={tenant.name}>{tenant.name}</span>
      <SearchField />
      <div className={styles.who}>
        <LiveState />
        <Account openHelp={() => setHelp(true)} />
      </div>
      {help && <Help close={() => setHelp(false)} />}
    </header>
  );
}

function Account({ openHelp }: { readonly openHelp: () => void }): ReactNode {
  const { principal, role } = useMe();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const [problem, setProblem] = useState("");
  const [asks, setAsks] = useState(false);
  const leave = () => {
    setAsks(false);
    signOut().then(() => void navigate({ to: "/login" }), (error: unknown) => setProblem(textOf(error)));
  };
  return (
    <>
      <button type="button" className={shared.plain} popoverTarget="account" aria-label="Account and preferences">
        <Icon of={icons.circleUserRound} size={20} />
      </button>
      <div id="account" className={styles.account} popover="auto">
        <p><strong>{principal.name ?? principal.id}</strong><br /><small>{role}</small></p>
        <PreferenceFields />
        <hr />
        <button type="button" onClick={openHelp}>Keys…</button>
        <Link to="/account" className={shared.button}>Account</Link>
        <Link to="/start" className={shared.button}>First steps</Link>
        <button type="button" onClick={() => unsavedForm() ? setAsks(true) : leave()}>Sign out</button>
        {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      </div>
      {asks && <AskToDiscard keep={() => setAsks(false)} discard={leave} />}
    </>
  );
}

/** The keys that act on the page. */
export function Help({ close }: { readonly close: () => void }): ReactNode {
  const all = useAllKeys();
  const [keys, setKeys] = useState<ReturnType<typeof all>>([]);
  useEffect(() => setKeys(all()), []);
  return (
    <Dialog title="Keys" close={close}>
      <dl className={styles.keys}>
        {keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}
      </dl>
    </Dialog>
  );
}

const words = { connecting: "", live: "Live", reconnecting: "Reconnecting", offline: "Offline since " };

/** Whether the pages are live now. */
function LiveState(): ReactNode {
  const connection = useConnection();
  if (!connection) return null;
  const { state } = connection;
  const since = connection.state === "offline" && new Date(connection.since).toISOString();
  return (
    <span role="status" className={classes(shared.small, styles.liveState)} data-state={state}>
      <span>{words[state]}{since && <Moment at={since} only="minute" />}</span>
    </span>
  );
}

const everyMs = 60_000;
/** A session is renewed in the last part of its time. */
const lastMs = 20 * 60_000;

/** Renews the session before it ends, while the page is visible and no other tab does so. */
function useRenewal(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const renew = async () => {
      if (document.visibilityState !== "visible") return;
      await navigator.locks.request("relay-renewal", { ifAvailable: true }, async (lock) => {
        if (!lock) return;
        const { expiresAt } = await queries.query({ ...meQuery, staleTime: 0 });
        if (expiresAt === null || Date.parse(expiresAt) - relayClock.now() > lastMs) return;
        await relay.renewSession();
        await queries.invalidateQueries({ queryKey: meQuery.queryKey });
      });
    };
    // A failure shows at the next request of the page itself.
    const timer = setInterval(() => void renew().catch(() => undefined), everyMs);
    return () => clearInterval(timer);
  }, [queries]);
}

/** Asks before typed text is lost because its page is left, or the browser's tab closed. */
function UnsavedGuard(): ReactNode {
  const isUnsaved = useSyncExternalStore(onUnsaved, () => unsavedForm() !== null);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const form = unsavedForm();
      return form !== null && leaves(form, current, next);
    },
    enableBeforeUnload: () => unsavedForm() !== null,
    // An active blocker delays changes of the address, and of two at once the first would be lost.
    disabled: !isUnsaved,
    withResolver: true,
  });
  return status === "blocked" && <AskToDiscard keep={reset} discard={proceed} />;
}
