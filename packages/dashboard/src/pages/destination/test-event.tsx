import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Answered } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { durationText } from "../../parts/times.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";

const ends = ["Succeeded", "CriticalFailure", "Cancelled"];
const pollMs = 500;

/** Sends a test event, and follows it to its end. */
export function TestEvent({ id, close }: { readonly id: string; readonly close: () => void }): ReactNode {
  const [eventId, setEventId] = useState<string>();
  const send = async ({ eventType = "", payload = "" }: Readonly<Record<string, string>>) => {
    const { id: sent } = await relay.testDestination({ id }, {
      ...(eventType === "" ? {} : { eventType }), ...(payload === "" ? {} : { payload }),
    });
    setEventId(sent);
  };
  return (
    <Dialog title="Send a test event" close={close}>
      <p>
        One attempt, whatever the destination's status. It carries <code>X-Relay-Test: true</code>, and counts neither
        for the circuit nor in totals.
      </p>
      <Form submit={send} label={eventId === undefined ? "Send" : "Send another"} keeps cancel={close}>
        <Field name="eventType" label="Event type" hint="May be empty.">
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field name="payload" label="Payload" hint="A JSON object. Empty: one that says that it is a test.">
          {(props) => <textarea {...props} rows={4} spellCheck={false} />}
        </Field>
      </Form>
      {eventId !== undefined && <TestResult key={eventId} eventId={eventId} />}
    </Dialog>
  );
}

/** The result of a test event, followed to its end. */
export function TestResult({ eventId }: { readonly eventId: string }): ReactNode {
  const event = useQuery({
    queryKey: ["getEvent", { id: eventId }],
    queryFn: () => relay.getEvent({ id: eventId }),
    refetchInterval: ({ state }) => state.data && ends.includes(state.data.status) ? false : pollMs,
  });
  const mayList = useMay()("listAttempts");
  const isOver = event.data !== undefined && ends.includes(event.data.status);
  const attempts = useQuery({
    queryKey: ["listAttempts", { id: eventId }],
    queryFn: () => relay.listAttempts({ id: eventId }),
    enabled: isOver && mayList,
  });
  const attempt = attempts.data?.items[0];
  return (
    <div className={classes(shared.panel, styles.result)} role="status" aria-label="What came of it">
      <Answered query={event}>
        {({ status }) => (
          <p>
            <EventStatus value={status} />
            {attempt && ` ${[
              attempt.statusCode === null ? [] : `answered ${attempt.statusCode}`,
              attempt.durationMs === null ? [] : `in ${durationText(attempt.durationMs)}`,
            ].flat().join(" ")}`}
          </p>
        )}
      </Answered>
      {attempt?.error != null && <p className={shared.problem}>{attempt.error}</p>}
      <p><Link to="/events/$id" params={{ id: eventId }}>Its story</Link></p>
    </div>
  );
}
