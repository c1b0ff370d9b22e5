import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useState, type ReactNode } from "react";
import { caller } from "../api/relay.ts";
import { AskToDiscard, Dialog } from "../parts/dialog.tsx";
import { KeysProvider, useAllKeys, useKeys } from "../parts/keys.tsx";
import { Failure, textOf } from "../parts/states.tsx";
import { unsavedForm } from "../parts/unsaved.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { LiveState } from "./live-state.tsx";
import { places } from "./places.ts";
import { usePreferences } from "./preferences.tsx";
import { useRenewal } from "./renewal.ts";
import { useMay, useMe, useSignOut } from "./session.ts";
import styles from "./shell.module.css";
import { onOtherTab } from "./tabs.ts";
import { UnsavedGuard } from "./unsaved-guard.tsx";

/** Few open it, and none at once: it is no part of the first load. */
const loadPalette = () => import("./palette.tsx");

/** The frame of every page behind the sign-in: navigation, the caller, preferences, and keys. */
export function Shell(): ReactNode {
  useRenewal();
  const { principal: { id } } = useMe();
  useLayoutEffect(() => {
    caller.id = id;
  }, [id]);
  useEffect(() => onOtherTab(() => caller.check()), []);
  return (
    // Nothing of one caller stays for the next.
    <KeysProvider key={id}>
      <a className={styles.skip} href="#content">Skip to the content</a>
      <div>
        <Navigation />
        <main id="content" tabIndex={-1}><Outlet /></main>
      </div>
      <UnsavedGuard />
    </KeysProvider>
  );
}

function Navigation(): ReactNode {
  const me = useMe();
  const allows = useMay();
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const shown = places.filter(([, , , needs]) => allows(needs));
  useKeys({
    ...Object.fromEntries(shown.map(([path, title, key]) =>
      [`g ${key}`, { does: `Go to ${title}`, run: () => void navigate({ to: path }) }])),
    "Ctrl-k": { does: "Go to a page, event, destination or sender", run: () => setPalette(true) },
    "?": { does: "Show the keys", run: () => setHelp(true) },
  });
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.home} activeOptions={{ exact: true }}>Webhook Relay</Link>
      <nav aria-label="Pages">
        <ul>
          {shown.map(([path, title]) => (
            <li key={path}>
              <Link to={path} activeOptions={{ exact: path === "/" }}>{title}</Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.who}>
        <LiveState />
        <button type="button" onClick={() => setPalette(true)}>Go to… <kbd>Ctrl K</kbd></button>
        <span className={classes(shared.small, styles.tenant)} title={me.tenant.name}>{me.tenant.name}</span>
        <Account openHelp={() => setHelp(true)} />
      </div>
      {palette && <Palette close={() => setPalette(false)} />}
      {help && <Help close={() => setHelp(false)} />}
    </header>
  );
}

function Palette({ close }: { readonly close: () => void }): ReactNode {
  const { module, error } = useLoaded(loadPalette);
  if (module) return <module.Palette close={close} />;
  return error !== undefined && <Dialog title="Go to" close={close}><Failure error={error} /></Dialog>;
}

function Account({ openHelp }: { readonly openHelp: () => void }): ReactNode {
  const { principal, role } = useMe();
  const { theme, zone, singleKeys, change } = usePreferences();
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
        ☰
      </button>
      <div id="account" className={styles.account} popover="auto">
        <p><strong>{principal.name ?? principal.id}</strong><br /><small>{role}</small></p>
        <label>Theme <select value={theme} onChange={({ target }) => change({ theme: target.value as typeof theme })}>
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select></label>
        <label>Times <select value={zone} onChange={({ target }) => change({ zone: target.value as typeof zone })}>
          <option value="UTC">in UTC</option><option value="local">in local time</option>
        </select></label>
        <label>
          Single keys act
          <input
            type="checkbox" checked={singleKeys} onChange={({ target }) => change({ singleKeys: target.checked })}
          />
        </label>
        <p><button type="button" onClick={openHelp}>Keys…</button></p>
        <p><Link to="/start" className={shared.button}>First steps</Link></p>
        <p><button type="button" onClick={() => unsavedForm() ? setAsks(true) : leave()}>Sign out</button></p>
        {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      </div>
      {asks && <AskToDiscard keep={() => setAsks(false)} discard={leave} />}
    </>
  );
}

function Help({ close }: { readonly close: () => void }): ReactNode {
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
