import type { ReactNode } from "react";
import { PageLink, usePageId } from "../../app/navigation.tsx";
import { Id } from "../../parts/copy.tsx";
import { Page } from "../../parts/page.tsx";
import { EventActs } from "./acts.tsx";
import { EventStory } from "./event-story.tsx";
import { useStory } from "./use-story.ts";

/** What happened to an event, and why. */
export function EventPage(): ReactNode {
  const id = usePageId();
  const { data } = useStory(id);
  return (
    <Page title="Event" acts={data && <EventActs event={data.event} />}>
      <p className="event-id"><PageLink to="/events">‹ Events</PageLink> <Id value={id} /></p>
      <EventStory id={id} />
    </Page>
  );
}
