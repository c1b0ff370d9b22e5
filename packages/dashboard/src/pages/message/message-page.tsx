import { useQueries } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { Id } from "../../parts/copy.tsx";
import { JsonText } from "../../parts/json-text.tsx";
import { Page } from "../../parts/page.tsx";
import { Answered, Loading } from "../../parts/states.tsx";
import { messageSentence, nextRetry } from "../../story/message.ts";
import { shortId } from "../../story/words.ts";
import shared from "../../style/shared.module.css";
import { storyQuery } from "../event/use-story.ts";
import { Told } from "../event/words.tsx";
import { MessageActs } from "./acts.tsx";
import { MessageStatus } from "./message-status.tsx";
import styles from "./message.module.css";
import { OwnPayloads } from "./own-payloads.tsx";
import { Picture } from "./picture.tsx";
import { useMessage } from "./use-message.ts";

/** A message: its sentence, the picture of its deliveries, and its payloads. */
export function MessagePage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/messages/$id" });
  const query = useMessage(id);
  return (
    <Page
      title={`${query.data?.eventType ?? "Message"} ${shortId(id)}`} back={<Link to="/messages">Messages</Link>}
      acts={<Id value={id} />} wide
    >
      <Answered query={query} loading={<Loading lines={14} />}>
        {(message) => <Content key={id} message={message} />}
      </Answered>
    </Page>
  );
}

/** Of more deliveries the others are shown when they are asked for: each has a story of its own. */
const shownAtFirst = 20;

function Content({ message }: { readonly message: Schemas["Message"] }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const deliveries = isWhole ? message.deliveries : message.deliveries.slice(0, shownAtFirst);
  const queries = useQueries({
    queries: deliveries.map(({ eventId, status }) =>
      ({ ...storyQuery(eventId), ...status === null && { enabled: false } })),
  });
  const stories = new Map(queries.flatMap(({ data }) => (data ? [[data.event.id, data] as const] : [])));
  const retryAt = nextRetry(message.deliveries, [...stories.values()].map(({ event }) => event));
  const hidden = message.deliveries.length - deliveries.length;
  // The rows are shown at once, so that the rest of the page keeps its place.
  if (queries.some(({ isLoading }) => isLoading)) return <Loading lines={14} />;
  return (
    <>
      <div className={styles.said}>
        <p className={styles.sentence}>
          <MessageStatus value={message.status} />{" "}
          <span data-sentence><Told words={messageSentence(message, retryAt)} /></span>
        </p>
        <MessageActs id={message.id} deliveries={message.deliveries} />
      </div>
      <Picture message={message} deliveries={deliveries} stories={stories} />
      {hidden > 0 && (
        <p><button type="button" onClick={() => setWhole(true)}>Show {hidden} more deliveries</button></p>
      )}
      <section aria-label="Payload" className={shared.section}>
        <h2>Payload</h2>
        <JsonText text={message.payload} label="Payload" />
        <OwnPayloads message={message} stories={stories} />
      </section>
    </>
  );
}
