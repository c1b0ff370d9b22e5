import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useCopy } from "../../parts/copy.tsx";
import { Changed } from "../../parts/diff.tsx";
import { Icon, icons } from "../../parts/icon.tsx";
import { JsonText } from "../../parts/json-text.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { Answered } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { outcomeText, type Attempt } from "../../story/attempts.ts";
import { curlCommand } from "../../story/curl.ts";
import { counted } from "../../story/words.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import { useAttemptFacts, type AttemptFacts } from "./use-story.ts";

/** An attempt: its request and its answer, side by side, and compared with another attempt. */
export function AttemptView({ attempts, attempt, event }: {
  /** Those begun at the chosen moment. */
  readonly attempts: readonly Attempt[];
  readonly attempt: Attempt;
  readonly event: Schemas["Event"];
}): ReactNode {
  const { with: named } = useSearch({ strict: false });
  const change = useChange();
  const other = attempts.find(({ number }) => String(number) === named && number !== attempt.number);
  const facts = useAttemptFacts(event.id, attempt);
  const otherFacts = useAttemptFacts(event.id, other);
  return (
    <section className={styles.attempt} aria-label={`Attempt ${attempt.number}`}>
      <header className={styles.attemptHead}>
        <h2>Attempt {attempt.number}: {outcomeText(attempt)}</h2>
        {attempts.length > 1 && (
          <label>Compare with{" "}
            <select value={other ? String(other.number) : ""} onChange={({ target }) => change({ with: target.value })}>
              <option value="">nothing</option>
              {comparable(attempts, attempt, other).map((one) => (
                <option key={one.number} value={one.number}>attempt {one.number}: {outcomeText(one)}</option>
              ))}
            </select>
          </label>
        )}
      </header>
      <Answered query={facts}>
        {(known) => (
          <div className={styles.attemptFacts} aria-busy={facts.isPlaceholderData}>
            <Sides facts={known} other={other && otherFacts.data} otherNumber={other?.number} event={event} />
            <Settings facts={known} other={other && otherFacts.data} event={event} />
          </div>
        )}
      </Answered>
    </section>
  );
}

/** Of many attempts, so many before and after one are offered for a comparison. */
const offered = 50;

/** The attempts near one, and the chosen one, without itself. */
function comparable(
  attempts: readonly Attempt[], attempt: Attempt, chosen: Attempt | undefined,
): readonly Attempt[] {
  const at = attempts.indexOf(attempt);
  return attempts.filter((one, index) => one !== attempt && (one === chosen || Math.abs(index - at) <= offered));
}

/** The headers of an attempt's request; undefined before its end, and where nothing was sent. */
function requestOf(ended: AttemptFacts["ended"]): Readonly<Record<string, string>> | undefined {
  const headers = ended?.data.requestHeaders ?? {};
  return Object.keys(headers).length === 0 ? undefined : headers;
}

/** The request and the answer, with their differences from another attempt. */
function Sides({ facts: { started, ended }, other, otherNumber, event }: {
  readonly facts: AttemptFacts;
  readonly other: AttemptFacts | undefined;
  readonly otherNumber: number | undefined;
  readonly event: Schemas["Event"];
}): ReactNode {
  const sent = requestOf(ended);
  const before = requestOf(other?.ended);
  const answer = ended?.data.answer ?? undefined;
  const answerBefore = other?.ended?.data.answer ?? undefined;
  const url = started?.data.url;
  // An attempt that ended before it sent anything has no headers of a request.
  const isNotSent = ended !== undefined && sent === undefined;
  const command = url !== undefined && sent
    ? curlCommand({ url, headers: sent, body: event.payload }) : undefined;
  return (
    <div className={styles.sides}>
      <section className={shared.panel} aria-label={isNotSent ? "Not sent" : "Sent"}>
        <header className={styles.sideHead}>
          <h3>{isNotSent ? "Not sent" : "Sent"}</h3>
          <CopyCurl command={command} />
        </header>
        <p className={classes(styles.hostile, styles.line)} title={url}>
          {isNotSent ? "not sent to" : "POST"} {url ?? "a URL that the log does not name"}
        </p>
        {url !== undefined && other?.started && other.started.data.url !== url && (
          <p className={classes(shared.small, styles.hostile)}>was {other.started.data.url}</p>
        )}
        <HeaderTable
          name="Headers sent" headers={sent} before={before}
          absent={isNotSent ? "Nothing reached the receiver: the attempt ended before its request."
            : "The attempt is in flight: the log has its request when it ends."}
        />
        {other && sent && before && <p className={shared.small}>The body is that of attempt {otherNumber}.</p>}
        <JsonText label="Payload" text={event.payload} />
      </section>
      <section className={shared.panel} aria-label="Answered">
        <header className={styles.sideHead}><h3>Answered</h3></header>
        {answer ? (
          <>
            <p className={styles.line}>
              {answer.statusCode}
              {answerBefore && answerBefore.statusCode !== answer.statusCode && (
                <small> was {answerBefore.statusCode}</small>
              )}
            </p>
            <HeaderTable
              name="Headers answered" headers={answer.headers} before={answerBefore?.headers} absent="No headers."
            />
            {answer.truncated && <p className={shared.small}>The answer was longer; this is its first part.</p>}
            {answer.body === "" ? <p className={shared.small}>The body is empty.</p> : (
              <JsonText
                label="Answer" text={answer.body}
                before={answerBefore && { text: answerBefore.body, label: `attempt ${otherNumber}` }}
              />
            )}
          </>
        ) : <p>{ended?.type === "DeliveryFailed" ? `No answer: ${ended.data.error}` : "No answer yet."}</p>}
      </section>
    </div>
  );
}

function CopyCurl({ command }: { readonly command: string | undefined }): ReactNode {
  const [state, copy] = useCopy();
  const run = () => {
    if (command !== undefined) copy(command);
  };
  useKeys(command === undefined ? {} : { c: { does: "Copy the attempt as a curl command", run } });
  if (command === undefined) return null;
  return (
    <span className={shared.acts}>
      <span role="status" className={shared.small}>
        {{ idle: "", copied: "✓ Copied", refused: "✕ The browser refuses" }[state]}
      </span>
      <button type="button" onClick={run} title="Secrets in it are masked.">
        <Icon of={icons.copy} size={14} /> Copy as curl
      </button>
    </span>
  );
}

/** By which settings an attempt was made, and whether the destination's changed since. */
function Settings({ facts: { started }, other, event }: {
  readonly facts: AttemptFacts; readonly other: AttemptFacts | undefined; readonly event: Schemas["Event"];
}): ReactNode {
  const id = event.destinationUrlId;
  const query = useQuery({
    queryKey: ["listDestinationHistory", { id, Qt: 1, TpOrd: "Desc" }],
    queryFn: () => relay.listDestinationHistory({ id, Qt: 1, TpOrd: "Desc" }),
  });
  if (!started) return <p className={shared.small}>The log does not say by which settings it was sent.</p>;
  const { destinationRevision, secretFingerprint, authType } = started.data;
  const newest = query.data?.items[0]?.revision;
  const before = other?.started?.data;
  const changes = newest === undefined ? 0 : newest - destinationRevision;
  const was = (value: string | number | null | undefined, now: string | number | null) =>
    (before && value !== now ? ` (was ${value ?? "none"})` : "");
  return (
    <p className={shared.small}>
      Signed by secret <code>{secretFingerprint.slice(0, 8)}</code>
      {was(before?.secretFingerprint.slice(0, 8), secretFingerprint.slice(0, 8))}
      {" · "}authentication: {authType ?? "none"}{was(before?.authType, authType)}
      {" · "}<Link to="/destinations/$id" params={{ id }} search={{ tab: "changes", at: started.position }}>
        settings: revision {destinationRevision}
      </Link>
      {was(before?.destinationRevision, destinationRevision)}
      {newest !== undefined && (changes <= 0 ? ", unchanged since" : `, ${counted(changes, "change")} since`)}
    </p>
  );
}

/** Headers by name; those that differ from another attempt are marked, with the former value. */
function HeaderTable({ name, headers, before, absent }: {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly before: Readonly<Record<string, string>> | undefined;
  /** Takes the place of a table without headers. */
  readonly absent: string;
}): ReactNode {
  if (!headers) return <p className={shared.small}>{absent}</p>;
  const rows = Object.entries(headers);
  const gone = Object.entries(before ?? {}).filter(([header]) => !Object.hasOwn(headers, header));
  if (rows.length + gone.length === 0) return <p className={shared.small}>{absent}</p>;
  return (
    <Table
      className={styles.headers} caption={<span className={shared.hiddenText}>{name}</span>}
      rows={[...rows, ...gone]} keyOf={([header]) => header}
      columns={[
        { kind: "header", className: styles.hostile, cell: ([header]) => header },
        {
          className: styles.hostile, cell: ([header, value]) => {
            if (!Object.hasOwn(headers, header)) return <Changed was={value}>absent</Changed>;
            const was = before && (Object.hasOwn(before, header) ? before[header] : "absent");
            return was === undefined || was === value ? value : <Changed was={was}>{value}</Changed>;
          },
        },
      ]}
    />
  );
}
