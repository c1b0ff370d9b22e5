import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Page } from "../../parts/page.tsx";
import { Answered } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Ago } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { DestinationStep, KeyStep } from "./access-steps.tsx";
import { Curl, type Access } from "./curl.tsx";
import { SignatureStep } from "./signature-step.tsx";
import styles from "./start.module.css";
import { verifiedBefore } from "./verified.ts";

/** How often the relay is asked how far the tenant has come, ms. */
const everyMs = 1_500;
const asked = ["listDestinations", "listApiKeys", "listEvents"] as const;

/** From nothing to a delivery with a verified signature, in five steps that the API checks. */
export function StartPage(): ReactNode {
  const { tenant } = useMe();
  const allows = useMay();
  const [access, setAccess] = useState<Access>({});
  const [verified, setVerified] = useState(() => verifiedBefore(tenant.id));
  const query = useQuery({
    queryKey: ["listEvents", "first steps"],
    queryFn: progress,
    enabled: asked.every((operation) => allows(operation)),
    refetchInterval: ({ state: { data } }) => data?.delivered ? false : everyMs,
  });
  const gain = (more: Access) => setAccess((known) => ({ ...known, ...more }));
  return (
    <Page title="First steps">
      <Answered query={query}>
        {({ destination, hasAny, key, event, delivered }) => {
          const token = access.ingest?.destinationId === destination?.id ? access.ingest?.token : undefined;
          const done = [destination !== undefined, key, event !== undefined, delivered !== undefined, verified];
          const current = done.indexOf(false);
          const step = (index: number) => ({
            number: index + 1, done: done[index] === true, current: index === current,
          });
          return (
            <>
              <p role="status">
                {current === -1 ? "All five steps are done." : `${done.filter(Boolean).length} of 5 steps done.`}
              </p>
              <ol className={styles.steps}>
                <Step {...step(0)} title="A destination">
                  <DestinationStep
                    destination={destination} hasAny={hasAny} gain={gain} known={token !== undefined}
                  />
                </Step>
                <Step {...step(1)} title="An API key">
                  <KeyStep has={key} gain={gain} known={access.key !== undefined} />
                </Step>
                <Step {...step(2)} title="The first event">
                  {destination && key
                    ? <Curl tenantId={tenant.id} token={token} apiKey={access.key} />
                    : <p>It takes a destination and a key.</p>}
                  {event && (
                    <p>Accepted <Ago to={event.acceptedAt} />: <EventLink id={event.id}>{event.id}</EventLink></p>
                  )}
                  {current === 2 && <Live>Waiting for the event. It shows here as soon as it is accepted.</Live>}
                </Step>
                <Step {...step(3)} title="Its delivery">
                  <Delivery event={event} delivered={delivered} />
                </Step>
                <Step {...step(4)} title="Its signature">
                  {delivered || verified
                    ? <SignatureStep tenantId={tenant.id} verified={verified} done={() => setVerified(true)} />
                    : <p>The relay signs each delivery, so that the receiver can tell it from others.</p>}
                </Step>
              </ol>
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

function Delivery({ event, delivered }: Pick<Awaited<ReturnType<typeof progress>>, "event" | "delivered">): ReactNode {
  if (delivered) {
    return (
      <p className={shared.acts}>
        <EventStatus value="Succeeded" /> <EventLink id={delivered.id}>What happened to it</EventLink>
      </p>
    );
  }
  if (!event) return <p>The relay posts the event to the destination, and again until it is answered with 2xx.</p>;
  return (
    <>
      <p className={shared.acts}>
        <EventStatus value={event.status} /> <EventLink id={event.id}>What happened to it</EventLink>
      </p>
      {event.reason !== null && <p>The last attempt failed: {event.reason}.</p>}
      <Live>Waiting for the receiver to answer with a status from 200 to 299.</Live>
    </>
  );
}

function EventLink({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  return <Link to="/events/$id" params={{ id }}>{children}</Link>;
}

function Live({ children }: { readonly children: ReactNode }): ReactNode {
  return <p className={styles.live}><span aria-hidden="true">●</span> {children}</p>;
}

/** How far the tenant has come, with its newest active destination. */
async function progress() {
  const page = { Qt: 1, Total: false } as const;
  const [{ items: [destination] }, { items: [anyOne] }, keys] = await Promise.all([
    relay.listDestinations({ ...page, Status: "Active", CpOrd: "createdAt", TpOrd: "Desc" }),
    relay.listDestinations(page),
    relay.listApiKeys({ Qt: 100, CpOrd: "createdAt", TpOrd: "Desc", Total: false }),
  ]);
  const now = relayClock.now();
  const key = keys.items.some(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now);
  const known = { destination, hasAny: anyOne !== undefined, key };
  if (!destination) return { ...known, event: undefined, delivered: undefined };
  const events = { ...page, DestinationUrlId: destination.id, Test: false, View: "summary" } as const;
  const [{ items: [event] }, { items: [delivered] }] = await Promise.all([
    relay.listEvents(events), relay.listEvents({ ...events, Status: ["Succeeded"] }),
  ]);
  const lastAttempt = event && "lastAttempt" in event ? event.lastAttempt : null;
  return { ...known, event: event && { ...event, reason: lastAttempt?.reason ?? null }, delivered };
}

/** A step: its number, whether the API says that it is done, and its instructions. */
function Step({ number, title, done, current, children }: {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly current: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li className={styles.step} aria-current={current ? "step" : undefined}>
      <span className={classes(styles.stepMark, done ? shared.ok : shared.info)} aria-hidden="true">
        {done ? "✓" : number}
      </span>
      <div>
        <h2>{title} <span className={shared.hiddenText}>{done ? "(done)" : "(to do)"}</span></h2>
        {children}
      </div>
    </li>
  );
}
