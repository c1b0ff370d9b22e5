import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { useStream } from "../../live/stream.ts";
import { Id } from "../../parts/copy.tsx";
import { Icon, icons } from "../../parts/icon.tsx";
import { unlessComposing } from "../../parts/keys.tsx";
import { Answered } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { EventStory } from "../event/event-story.tsx";
import styles from "./events.module.css";

/**
 * The story of an event beside the list, or its fields where the caller may not read stories. The panel takes the focus
 * when it opens; Escape closes it.
 */
export function EventPanel({ id, close, nameOf }: {
  readonly id: string; readonly close: () => void; readonly nameOf: (destination: string) => string;
}): ReactNode {
  const queries = useQueryClient();
  const may = useMay();
  const heading = useRef<HTMLHeadingElement>(null);
  useStream(["event"], (frame) => {
    if (frame.event !== "moved" || frame.data.eventId !== id) return;
    void queries.invalidateQueries({ queryKey: ["getEventStory", { id }] });
    void queries.invalidateQueries({ queryKey: ["getEvent", { id }] });
  });
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <aside
      className={classes(shared.panel, styles.eventPanel)} aria-labelledby="event-panel-title"
      onKeyDown={unlessComposing(({ key }) => {
        if (key === "Escape") close();
      })}
    >
      <header className={shared.pageHead}>
        <h2 id="event-panel-title" ref={heading} tabIndex={-1}>Event</h2>
        <span className={shared.acts}>
          <Link to="/events/$id" params={{ id }} className={shared.button}>Open its page</Link>
          <button type="button" className={shared.plain} aria-label="Close the panel" onClick={close}>
            <Icon of={icons.x} />
          </button>
        </span>
      </header>
      <p><Id value={id} /></p>
      {may("getEventStory") ? <EventStory id={id} /> : <EventFields id={id} nameOf={nameOf} />}
    </aside>
  );
}

function EventFields({ id, nameOf }: {
  readonly id: string; readonly nameOf: (destination: string) => string;
}): ReactNode {
  const query = useQuery({ queryKey: ["getEvent", { id }], queryFn: () => relay.getEvent({ id }) });
  return (
    <Answered query={query}>
      {({ status, acceptedAt, deliveredAt, nextAttemptAt, eventType, idempotencyKey, destinationUrlId }) => (
        <dl className={styles.panelFacts}>
          <div><dt>Status</dt><dd><EventStatus value={status} /></dd></div>
          <div><dt>Accepted</dt><dd><Moment at={acceptedAt} /></dd></div>
          {deliveredAt !== null && <div><dt>Delivered</dt><dd><Moment at={deliveredAt} /></dd></div>}
          {nextAttemptAt !== null && <div><dt>Next attempt</dt><dd><Moment at={nextAttemptAt} /></dd></div>}
          <div><dt>Destination</dt><dd>
            <Link to="/destinations/$id" params={{ id: destinationUrlId }}>{nameOf(destinationUrlId)}</Link>
          </dd></div>
          {eventType !== null && <div><dt>Type</dt><dd>{eventType}</dd></div>}
          {idempotencyKey !== null && <div><dt>Idempotency key</dt><dd><code>{idempotencyKey}</code></dd></div>}
        </dl>
      )}
    </Answered>
  );
}
