import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type CSSProperties, type ReactNode } from "react";
import { pagesPath, relay } from "../api/relay.ts";
import { PreferenceFields } from "../app/preference-fields.tsx";
import { Framed, Help } from "../app/shell.tsx";
import { tellTabs } from "../app/tabs.ts";
import { Icon, icons } from "../parts/icon.tsx";
import { useKeys } from "../parts/keys.tsx";
import { textOf } from "../parts/states.tsx";
import shared from "../style/shared.module.css";
import { usePortalSession } from "./portal-session.ts";
import styles from "./portal.module.css";
import { ReturnLink } from "./return-link.tsx";

/** The frame of the portal's pages: one bar with the operator's name, the two lists, and the way back. */
export function PortalFrame(): ReactNode {
  return <Framed className={styles.frame} bars={<Bar />} />;
}

function Bar(): ReactNode {
  const { brand, returnUrl } = usePortalSession()!;
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  useKeys({
    "g e": { does: "Go to Events", run: () => void navigate({ to: "/events" }) },
    "g d": { does: "Go to Destinations", run: () => void navigate({ to: "/destinations" }) },
    "?": { does: "Show the keys", run: () => setHelp(true) },
  });
  const { name, color, logo } = brand;
  return (
    <header className={styles.bar} data-colored={color !== null} style={{ "--brand": color } as CSSProperties}>
      {(logo || name !== null) && (
        <span className={styles.brand}>
          {logo && <img src={`${pagesPath}/logo`} alt="" />}{name !== null && <span>{name}</span>}
        </span>
      )}
      <nav aria-label="Pages" className={styles.pages}>
        <Link to="/events"><Icon of={icons.activity} /> Events</Link>
        <Link to="/destinations"><Icon of={icons.send} /> Destinations</Link>
      </nav>
      <div className={styles.end}>
        {returnUrl !== null && <ReturnLink url={returnUrl} className={styles.return} />}
        <button type="button" className={shared.plain} popoverTarget="preferences" aria-label="Preferences">
          <Icon of={icons.settings} />
        </button>
      </div>
      <div id="preferences" className={styles.preferences} popover="auto">
        <PreferenceFields />
        <hr />
        <button type="button" onClick={() => setHelp(true)}>Keys…</button>
        <Leave />
      </div>
      {help && <Help close={() => setHelp(false)} />}
    </header>
  );
}

/** Ends the session. */
function Leave(): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [problem, setProblem] = useState("");
  const leave = async () => {
    await relay.endPortalSession();
    queries.clear();
    tellTabs();
    await navigate({ to: "/login" });
  };
  return (
    <>
      <button type="button" onClick={() => void leave().catch((error: unknown) => setProblem(textOf(error)))}>
        Sign out
      </button>
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
    </>
  );
}
