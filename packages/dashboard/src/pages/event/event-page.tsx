import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Id } from "../../parts/copy.tsx";
import { Page } from "../../parts/page.tsx";
import { EventActs } from "./acts.tsx";
import { EventStory } from "./event-story.tsx";
import styles from "./event.module.css";
import { useStory } from "./use-story.ts";

/** An event and its story. */
export function EventPage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/events/$id" });
  const { data } = useStory(id);
  return (
    <Page title="Event" acts={data && <EventActs event={data.event} />}>
      <p className={styles.eventId}><Link to="/events">‹ Events</Link> <Id value={id} /></p>
      <EventStory id={id} />
    </Page>
  );
}
