import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { DestinationLink } from "../../parts/destinations.tsx";
import { useActorNames, useTargets } from "../../parts/names.tsx";
import { EventStatus, Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import { attemptsOf } from "../../story/attempts.ts";
import { sharedClockOf, type Clock } from "../../story/axis.ts";
import { chapterWords, type Chapter, type Telling } from "../../story/chapters.ts";
import { effortText, skippedWords } from "../../story/message.ts";
import { authorsOf, ends, entriesOf } from "../../story/moments.ts";
import { sentence } from "../../story/sentence.ts";
import { counted, shortId, type Piece } from "../../story/words.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import eventStyles from "../event/event.module.css";
import { AxisTimes, lengthText, Mark, percent, toneClass } from "../event/marks.tsx";
import { saidIn, useLastFailure } from "../event/sentence.tsx";
import { Told } from "../event/words.tsx";
import styles from "./message.module.css";
import { useSubscriptions } from "./use-message.ts";

type Message = Schemas["Message"];
type Delivery = Message["deliveries"][number];
type Story = Schemas["Story"];

/** The message, its routes, and a row for each receiver: how far it came and why, and its attempts on one clock. */
export function Picture({ message, deliveries, stories }: {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
  readonly stories: ReadonlyMap<string, Story>;
}): ReactNode {
  const subscriptions = useSubscriptions(message.senderId);
  const now = new Date(relayClock.now()).toISOString();
  const clock = sharedClockOf([...stories.values()].flatMap(chaptersOf), now);
  const route = (id: string) => (
    <Route
      id={id} senderId={message.senderId} subscription={subscriptions?.get(id)} isKnown={subscriptions !== undefined}
    />
  );
  return (
    <div className={styles.frame}><div className={styles.picture}>
      {stories.size > 0 && <Times clock={clock} />}
      <Source message={message} />
      <ol className={styles.routes} aria-label="Its deliveries">
        {deliveries.map((delivery) => {
          const story = stories.get(delivery.eventId);
          return (
            <li key={delivery.eventId} className={styles.route}>
              {route(delivery.subscriptionId)}
              {story ? <Receiver story={story} clock={clock} now={now} /> : <WithoutStory delivery={delivery} />}
            </li>
          );
        })}
        {message.skipped.map(({ subscriptionId, reason }) => (
          <li key={subscriptionId} className={classes(styles.route, styles.skipped)}>
            {route(subscriptionId)}
            <div className={styles.receiver}>
              <p className={styles.name}><Target of={subscriptions?.get(subscriptionId)} id={subscriptionId} /></p>
              <p className={styles.state}><Status value="Inactive" word="Not sent" /></p>
              <p>It did not get the message: {skippedWords(reason)}.</p>
            </div>
          </li>
        ))}
      </ol>
    </div></div>
  );
}

/** The times of all rows, and below them the lengths of folded gaps. */
function Times({ clock }: { readonly clock: Clock }): ReactNode {
  return (
    <div className={styles.times} aria-hidden="true">
      <div className={eventStyles.axis}>
        <svg className={eventStyles.bar} height={44}>
          {clock.folds.map(({ from, to, ms }, index) => (
            <text key={index} x={percent((from + to) / 2)} y={40} textAnchor="middle">{durationText(ms)}</text>
          ))}
          <AxisTimes clock={clock} y={12} />
        </svg>
      </div>
    </div>
  );
}

/** The message itself, from which all routes begin. */
function Source({ message }: { readonly message: Message }): ReactNode {
  const { nameOf } = useTargets();
  const { senderId, eventType, ownerId, idempotencyKey, tags, acceptedAt } = message;
  return (
    <section aria-label="The message" className={styles.source}>
      <h2>{eventType === null ? "Message" : <MiddleCut text={eventType} />}</h2>
      <dl>
        <div><dt>sender</dt><dd>
          <Link to="/senders/$id" params={{ id: senderId }}><MiddleCut text={nameOf(senderId)} /></Link>
        </dd></div>
        {ownerId !== null && <div><dt>owner</dt><dd><MiddleCut text={ownerId} /></dd></div>}
        {idempotencyKey !== null && <div><dt>key</dt><dd><MiddleCut text={idempotencyKey} /></dd></div>}
        {Object.entries(tags ?? {}).map(([name, value]) => (
          <div key={name}><dt><MiddleCut text={name} /></dt><dd><MiddleCut text={value} /></dd></div>
        ))}
        <div><dt>accepted</dt><dd><Moment at={acceptedAt} /></dd></div>
      </dl>
    </section>
  );
}

/** The subscription of a route, as it is now. */
function Route({ id, senderId, subscription, isKnown }: {
  readonly id: string;
  readonly senderId: string;
  readonly subscription: Schemas["Subscription"] | undefined;
  /** Whether the subscriptions are loaded: then a missing one was deleted. */
  readonly isKnown: boolean;
}): ReactNode {
  const text = subscription ? matchText(subscription) : `subscription ${shortId(id)}`;
  return (
    <div className={styles.by}>
      <Link to="/senders/$id" params={{ id: senderId }} title={text}><bdi>{text}</bdi></Link>
      {isKnown && !subscription && <small>deleted since</small>}
    </div>
  );
}

/** The messages that a subscription matches: `owner acme, invoice.*, filtered`. */
function matchText({ ownerId, eventTypes, filter, mapping }: Schemas["Subscription"]): string {
  const types = eventTypes === null ? ["all types"]
    : eventTypes.length > 2 ? [...eventTypes.slice(0, 1), `${eventTypes.length - 1} more types`] : eventTypes;
  return [
    ownerId === null ? "every owner" : `owner ${ownerId}`, ...types, ...filter ? ["filtered"] : [],
    ...mapping ? ["mapped"] : [],
  ].join(", ");
}

/** The destination of a subscription; the id of a deleted one. */
function Target({ of, id }: {
  readonly of: Schemas["Subscription"] | undefined; readonly id: string;
}): ReactNode {
  if (of) return <DestinationLink id={of.destinationUrlId} />;
  return <>The receiver of subscription <code>{shortId(id)}</code></>;
}

/** A receiver: how far its delivery came and why, and its attempts on the clock of all. */
function Receiver({ story, clock, now }: {
  readonly story: Story; readonly clock: Clock; readonly now: string;
}): ReactNode {
  const names = useActorNames();
  const { event, chapters, waiting } = story;
  const attempts = attemptsOf(chapters);
  const telling: Telling = { event, attempts, authors: authorsOf(entriesOf(chapters)), names };
  const said = saidIn(useLastFailure(event, attempts));
  return (
    <>
      <div className={styles.receiver}>
        <p className={styles.name}><DestinationLink id={event.destinationUrlId} /></p>
        <p className={styles.state}>
          <EventStatus value={event.status} />{" "}
          <span className={shared.small}>{effortText(attempts.length, event)}</span>
        </p>
        <p className={shared.wraps}>
          <Told words={sentence({ ...telling, waiting, chapters, said }, "now").map(toStory)} />{" "}
          <StoryLink id={event.id} destinationId={event.destinationUrlId} />
        </p>
      </div>
      <Line chapters={chaptersOf(story)} clock={clock} now={now} telling={telling} />
    </>
  );
}

function StoryLink({ id, destinationId }: { readonly id: string; readonly destinationId: string }): ReactNode {
  const { nameOf } = useTargets();
  return (
    <Link to="/events/$id" params={{ id }}>
      Its story<span className={shared.hiddenText}> at <bdi>{nameOf(destinationId)}</bdi></span>
    </Link>
  );
}

/** On the page of a message the entries of an event lead to its story. */
function toStory(piece: Piece): Piece {
  if (typeof piece === "string" || !("entry" in piece) || piece.entry.subject.type !== "event") return piece;
  return { text: piece.text, eventId: piece.entry.subject.id };
}

/** The chapters of a delivery that its row can show: changes of settings would be in the rows of all. */
function chaptersOf({ chapters }: Story): readonly Chapter[] {
  const { first, last } = ends(chapters);
  return [...first, ...last].filter(({ kind }) => kind !== "setting");
}

const lineHeight = 32;

function Line({ chapters, clock, now, telling }: {
  readonly chapters: readonly Chapter[]; readonly clock: Clock; readonly now: string; readonly telling: Telling;
}): ReactNode {
  const attempts = chapters.filter(({ kind }) => kind === "attempt").length;
  const y = lineHeight / 2;
  return (
    <svg
      className={classes(eventStyles.bar, styles.line)} height={lineHeight} role="img"
      aria-label={`${counted(attempts, "attempt")} on the clock of all deliveries; the text beside it tells them`}
    >
      <line x1="0" x2="100%" y1={y} y2={y} className={styles.ground} />
      {chapters.filter(({ kind }) => kind !== "accepted").map((chapter, index) => {
        const { tone, title } = chapterWords(chapter, telling);
        const { kind, from, to } = chapter;
        return (
          <g key={index} className={toneClass(tone)}>
            <title>{`${title}, ${lengthText(chapter)}`}</title>
            <Mark
              kind={kind} from={clock.placeOf(from)} to={clock.placeOf(to ?? now)} y={y} folds={clock.folds}
            />
          </g>
        );
      })}
    </svg>
  );
}

/** A delivery without a story: a purged one, or one that cannot be read now. */
function WithoutStory({ delivery: { eventId, destinationUrlId, status } }: {
  readonly delivery: Delivery;
}): ReactNode {
  return (
    <div className={styles.receiver}>
      <p className={styles.name}><DestinationLink id={destinationUrlId} /></p>
      <p className={styles.state}>
        {status === null ? <Status value="Inactive" word="Purged" /> : <EventStatus value={status} />}
      </p>
      {status !== null && <p><StoryLink id={eventId} destinationId={destinationUrlId} /></p>}
    </div>
  );
}
