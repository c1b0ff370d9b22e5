import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isNotFound } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { Id } from "../../parts/copy.tsx";
import { Page } from "../../parts/page.tsx";
import { shortId } from "../../story/words.ts";
import shared from "../../style/shared.module.css";
import { EventActs } from "./acts.tsx";
import { CopyStory } from "./copy-story.tsx";
import { EventStory } from "./event-story.tsx";
import { useStory } from "./use-story.ts";

/** An event and its story. The id of a message leads to the page of the message. */
export function EventPage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/events/$id" });
  const { data, error } = useStory(id);
  const message = useQuery({
    queryKey: ["getMessage", { id }, "instead of an event"],
    queryFn: () => relay.getMessage({ id }),
    ...!isNotFound(error) && { enabled: false },
    staleTime: Infinity,
  });
  if (message.data) return <Navigate to="/messages/$id" params={{ id }} replace />;
  const type = data?.event.eventType;
  return (
    <Page title={`${type ?? "Event"} ${shortId(id)}`} back={<Link to="/events">Events</Link>} acts={<Id value={id} />}>
      <EventStory
        id={id} acts={({ event, waiting }) => (
          <EventActs event={event} waiting={waiting}>
            <Link to="/destinations/$id" params={{ id: event.destinationUrlId }} className={shared.button}>
              Open destination
            </Link>
            <CopyStory id={id} />
          </EventActs>
        )}
      />
    </Page>
  );
}
