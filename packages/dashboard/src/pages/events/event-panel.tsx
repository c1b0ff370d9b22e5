import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { PageLink } from "../../app/navigation.tsx";
import { useStream } from "../../live/stream.ts";
import { Id } from "../../parts/copy.tsx";
import { Answered } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";

/** One event beside the list. It takes the focus when it opens; Escape closes it. */
export function EventPanel({ id, close, nameOf }: {
  readonly id: string; readonly close: () => void; readonly nameOf: (destination: string) => string;
}): ReactNode {
  const queries = useQueryClient();
  const heading = useRef<HTMLHeadingElement>(null);
  const queryKey = ["getEvent", { id }];
  const query = useQuery({ queryKey, queryFn: () => relay.getEvent({ id }) });
  useStream(["event"], (frame) => {
    if (frame.event === "moved" && frame.data.eventId === id) void queries.invalidateQueries({ queryKey });
  });
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <aside className="panel event-panel" aria-labelledby="event-panel-title" onKeyDown={({ key }) => {
      if (key === "Escape") close();
    }}>
      <header className="page-head">
        <h2 id="event-panel-title" ref={heading} tabIndex={-1}>Event</h2>
        <span className="acts">
          <PageLink to={`/events/${id}`} className="button">Open its page</PageLink>
          <button type="button" className="plain" aria-label="Close the panel" onClick={close}>✕</button>
        </span>
      </header>
      <p><Id value={id} /></p>
      <Answered query={query}>
        {({ status, acceptedAt, deliveredAt, nextAttemptAt, eventType, idempotencyKey, destinationUrlId }) => (
          <dl className="facts">
            <div><dt>Status</dt><dd><Status value={status} /></dd></div>
            <div><dt>Accepted</dt><dd><Moment at={acceptedAt} /></dd></div>
            {deliveredAt !== null && <div><dt>Delivered</dt><dd><Moment at={deliveredAt} /></dd></div>}
            {nextAttemptAt !== null && <div><dt>Next attempt</dt><dd><Moment at={nextAttemptAt} /></dd></div>}
            <div><dt>Destination</dt><dd>
              <PageLink to={`/destinations/${destinationUrlId}`}>{nameOf(destinationUrlId)}</PageLink>
            </dd></div>
            {eventType !== null && <div><dt>Type</dt><dd>{eventType}</dd></div>}
            {idempotencyKey !== null && <div><dt>Idempotency key</dt><dd><code>{idempotencyKey}</code></dd></div>}
          </dl>
        )}
      </Answered>
    </aside>
  );
}
