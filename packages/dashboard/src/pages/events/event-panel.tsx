import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { useStream } from "../../live/stream.ts";
import { Id } from "../../parts/copy.tsx";
import { Icon, icons } from "../../parts/icon.tsx";
import { unlessComposing } from "../../parts/keys.tsx";
import { product } from "../../parts/page.tsx";
import { Answered } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Ago, Moment } from "../../parts/time.tsx";
import { shortId } from "../../story/words.ts";
import shared from "../../style/shared.module.css";
import { EventActs } from "../event/acts.tsx";
import { EventStory } from "../event/event-story.tsx";
import { storyQuery } from "../event/use-story.ts";
import styles from "./events.module.css";

export { ActQuestion } from "../event/acts.tsx";

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
  const tells = may("getEventStory");
  const { data: story } = useQuery({ ...storyQuery(id), enabled: tells });
  const { data: fields } = useQuery({
    queryKey: ["getEvent", { id }], queryFn: () => relay.getEvent({ id }), enabled: !tells,
  });
  const event = story?.event ?? fields;
  const title = event?.idempotencyKey ?? event?.eventType ?? "Event";
  useStream(["event"], (frame) => {
    if (frame.event !== "moved" || frame.data.eventId !== id) return;
    void queries.invalidateQueries({ queryKey: ["getEventStory", { id }] });
    void queries.invalidateQueries({ queryKey: ["getEvent", { id }] });
  });
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const before = document.title;
    document.title = `${title} ${shortId(id)} · ${product.name}`;
    return () => {
      document.title = before;
    };
  }, [id, title]);
  return (
    <aside
      className={styles.eventPanel} aria-labelledby="event-panel-title"
      onKeyDown={unlessComposing(({ key }) => {
        if (key === "Escape") close();
      })}
    >
      <header className={styles.panelHead}>
        <h2 id="event-panel-title" ref={heading} tabIndex={-1}>{title}</h2>
        <Link
          to="/events/$id" params={{ id }} title="Open its page" aria-label="Open its page"
        >
          <Icon of={icons.maximize2} />
        </Link>
        <button type="button" className={shared.plain} aria-label="Close the panel" title="Close" onClick={close}>
          <Icon of={icons.x} />
        </button>
        <p className={styles.panelFacts}>
          {event && <EventStatus value={event.status} />}
          <Id value={id} />
          {event && <Ago to={event.acceptedAt} />}
        </p>
      </header>
      <div className={styles.panelBody}>
        {tells ? (
          <EventStory
            id={id} isBrief acts={({ event: told, waiting }) => <EventActs event={told} waiting={waiting} />}
          />
        ) : <EventFields id={id} nameOf={nameOf} />}
      </div>
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
        <dl className={shared.facts}>
          <><dt>Status</dt><dd><EventStatus value={status} /></dd></>
          <><dt>Accepted</dt><dd><Moment at={acceptedAt} /></dd></>
          {deliveredAt !== null && <><dt>Delivered</dt><dd><Moment at={deliveredAt} /></dd></>}
          {nextAttemptAt !== null && <><dt>Next attempt</dt><dd><Moment at={nextAttemptAt} /></dd></>}
          {destinationUrlId !== null && <><dt>Destination</dt><dd>
            <Link to="/destinations/$id" params={{ id: destinationUrlId }}>{nameOf(destinationUrlId)}</Link>
          </dd></>}
          {eventType !== null && <><dt>Type</dt><dd>{eventType}</dd></>}
          {idempotencyKey !== null && <><dt>Idempotency key</dt><dd><code>{idempotencyKey}</code></dd></>}
        </dl>
      )}
    </Answered>
  );
}
