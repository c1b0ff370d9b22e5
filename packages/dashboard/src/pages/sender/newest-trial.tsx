import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { changesOf } from "../../parts/changes.ts";
import { Diff } from "../../parts/diff.tsx";
import { leavesOf } from "../../parts/json-leaves.ts";
import { Failure } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import { summaryOf } from "./preview-summary.ts";
import styles from "./sender.module.css";

type Preview = Schemas["MappingPreview"];

const newest = 100;
const mostPaths = 20;

/** Tries a mapping on the newest events of a sender, and says how the results differ from the payloads they have. */
export function NewestTrial({ senderId, expression }: {
  readonly senderId: string; readonly expression: string;
}): ReactNode {
  const may = useMay();
  const [asked, setAsked] = useState<string>();
  const query = useQuery({
    queryKey: ["previewMapping", { senderId, expression: asked }],
    queryFn: ({ signal }) => relay.previewMapping(
      { senderId, mapping: { language: "jmespath", expression: asked ?? "" }, last: newest }, { signal },
    ),
    enabled: asked !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  if (!may("previewMapping")) return null;
  const isCurrent = asked === expression;
  const isTrying = isCurrent && query.isFetching;
  return (
    <div className={styles.trial}>
      <button
        type="button" disabled={expression.trim() === "" || isTrying}
        onClick={() => isCurrent ? void query.refetch() : setAsked(expression)}
      >
        Try on the newest {newest}
      </button>
      <span role="status">
        {isTrying ? "Trying…" : isCurrent && query.data && <strong>{summaryOf(query.data)}</strong>}
      </span>
      {isCurrent && query.error !== null && <Failure error={query.error} />}
      {isCurrent && query.data && <Differences of={query.data} />}
    </div>
  );
}

function Differences({ of: { differ, failed } }: { readonly of: Preview }): ReactNode {
  if (differ.length + failed.length === 0) return null;
  return (
    <ul className={styles.differences}>
      {failed.map(({ eventId, error }) => (
        <li key={eventId}><OfEvent id={eventId} /> <span className={shared.bad}>✕ {error}</span></li>
      ))}
      {differ.map(({ eventId, before, after }) => (
        <li key={eventId}><OfEvent id={eventId} /><PathDiff before={before} after={after} /></li>
      ))}
    </ul>
  );
}

function OfEvent({ id }: { readonly id: string }): ReactNode {
  return (
    <Link to="." search={(search) => ({ ...search, event: id })} replace title="Show it as the original">
      <code>{id}</code>
    </Link>
  );
}

/** Two JSON texts by the paths at which their values differ. */
function PathDiff({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  const changes = changesOf(leavesOf(before), leavesOf(after));
  return (
    <>
      <Diff changes={changes.slice(0, mostPaths)} nameOf={(path) => path} />
      {changes.length > mostPaths && <p className={shared.small}>and {changes.length - mostPaths} more paths</p>}
    </>
  );
}
