import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { useKeys } from "../../parts/keys.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { NoRight } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";

/** An act on one event, by its operation. */
export type ActId = "replayEvent" | "resendEvent" | "retryEvent" | "cancelEvent";

interface Act {
  readonly id: ActId;
  readonly name: string;
  /** The effect of the act, for the question before it. */
  readonly does: string;
  readonly fits: (event: Schemas["Event"]) => boolean;
}

const acts: readonly Act[] = [
  {
    id: "replayEvent", name: "Replay", fits: ({ status, test }) => status === "CriticalFailure" && !test,
    does: "The event failed. It is sent again, with as many tries as at first. A late success of an earlier "
      + "attempt settles it, too.",
  },
  {
    id: "resendEvent", name: "Resend",
    fits: ({ status, test }) => (status === "Succeeded" || status === "CriticalFailure") && !test,
    does: "The event is sent once more, whatever came of earlier attempts. The receiver sees the same webhook-id.",
  },
  {
    id: "retryEvent", name: "Retry now", fits: ({ status }) => status === "WaitingRetry",
    does: "The planned retry is due at once. A held event stays held, and a pause that the receiver asked for stays in "
      + "force.",
  },
  {
    id: "cancelEvent", name: "Cancel event", fits: ({ status }) => status === "Pending" || status === "WaitingRetry",
    does: "The event is not sent any more. Its history stays.",
  },
];

/** Why a waiting event cannot be sent now, and the link to the page that ends it. */
const holds: Readonly<Record<string, readonly [why: string, act: string, tab: string]>> = {
  "circuit-open": ["It cannot be sent now: its destination's circuit is open.", "Close the circuit", "circuit"],
  "destination-inactive": ["It cannot be sent now: its destination is switched off.", "Switch it on", "health"],
};

/** The acts for an event in its present state that the reader may do. Each asks first, or says why it cannot work. */
export function EventActs({ event, waiting = null, children }: {
  readonly event: Schemas["Event"];
  readonly waiting?: Schemas["Story"]["waiting"];
  /** Stands behind the acts, such as links. */
  readonly children?: ReactNode;
}): ReactNode {
  const allows = useMay();
  const [chosen, setChosen] = useState<ActId>();
  const fitting = acts.filter(({ fits }) => fits(event));
  const shown = fitting.filter(({ id }) => allows(id));
  const act = shown.find(({ id }) => id === chosen);
  const canReplay = shown.some(({ id }) => id === "replayEvent");
  useKeys(canReplay ? { r: { does: "Replay the event", run: () => setChosen("replayEvent") } } : {});
  const { id } = event;
  const hold = waiting ? holds[waiting.reason] : undefined;
  return (
    <div className={shared.acts}>
      {shown.map(({ id: operation, name }) => (
        <button
          key={operation} type="button" onClick={() => setChosen(operation)}
          disabled={operation === "retryEvent" && hold !== undefined}
        >
          {name}…
        </button>
      ))}
      {children}
      {hold && (
        <span className={shared.small}>
          {hold[0]}{" "}
          <Link to="/destinations/$id" params={{ id: event.destinationUrlId }} search={{ tab: hold[2] }}>
            {hold[1]}
          </Link>
        </span>
      )}
      {fitting.length > 0 && shown.length === 0 && <NoRight>Developers can replay and cancel events.</NoRight>}
      {act && <ActQuestion id={id} act={act.id} close={() => setChosen(undefined)} />}
    </div>
  );
}

/** Asks before an act on an event, and does it. */
export function ActQuestion({ id, act, close }: {
  readonly id: string; readonly act: ActId; readonly close: () => void;
}): ReactNode {
  const queries = useQueryClient();
  const change = useChange();
  const { name, does } = acts.find((one) => one.id === act) ?? { name: act, does: "" };
  return (
    <Confirm
      title={`${name}?`} act={name} isHarmless={act !== "cancelEvent"} close={close}
      run={async () => {
        await relay[act]({ id });
        change({ at: undefined, attempt: undefined, with: undefined }, { replace: true });
        await Promise.all([["getEventStory"], ["getEvent"], ["listEvents"]].map((queryKey) =>
          queries.invalidateQueries({ queryKey })));
      }}
    >
      <p>{does}</p>
    </Confirm>
  );
}
