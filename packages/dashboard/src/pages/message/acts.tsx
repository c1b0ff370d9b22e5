import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Confirm } from "../../parts/questions.tsx";
import { NoRight } from "../../parts/states.tsx";
import type { DeliveryStatus } from "../../story/message.ts";
import { counted } from "../../story/words.ts";
import shared from "../../style/shared.module.css";

interface Act {
  readonly id: "replayEvent" | "resendEvent" | "cancelEvent";
  readonly name: string;
  /** The effect of the act, for the question before it. */
  readonly does: string;
  readonly fits: readonly DeliveryStatus[];
}

const acts: readonly Act[] = [
  {
    id: "replayEvent", name: "Replay", fits: ["CriticalFailure"],
    does: "Each failed delivery is sent again, with as many tries as at first. One that its subscription could not map "
      + "stays as it is.",
  },
  {
    id: "resendEvent", name: "Resend", fits: ["Succeeded", "CriticalFailure"],
    does: "Each finished delivery is sent once more, whatever came of earlier attempts. Receivers see the same "
      + "webhook-id.",
  },
  {
    id: "cancelEvent", name: "Cancel", fits: ["Pending", "WaitingRetry"],
    does: "Each waiting delivery is not sent any more. Its history stays.",
  },
];

/** Operations with other answers after an act. */
const changed = ["getMessage", "listMessages", "getEventStory", "getEvent", "listEvents"];

/** The acts on all deliveries of a message that allow them, as far as the reader may. Each asks first. */
export function MessageActs({ id, deliveries }: Pick<Schemas["Message"], "id" | "deliveries">): ReactNode {
  const allows = useMay();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<Act>();
  const countOf = ({ fits }: Act) => deliveries.filter(({ status }) => fits.includes(status)).length;
  const fitting = acts.filter((act) => countOf(act) > 0);
  const shown = fitting.filter((act) => allows(act.id));
  return (
    <div className={shared.acts}>
      {shown.map((act) => (
        <button key={act.id} type="button" onClick={() => setChosen(act)}>
          {act.name} {counted(countOf(act), "delivery").replace(/ys$/, "ies")}…
        </button>
      ))}
      {fitting.length > 0 && shown.length === 0 && <NoRight>Developers can replay and cancel messages.</NoRight>}
      {chosen && (
        <Confirm
          title={`${chosen.name} the message?`} act={chosen.name} isHarmless={chosen.id !== "cancelEvent"}
          close={() => setChosen(undefined)} run={async () => {
            await relay[chosen.id]({ id });
            await Promise.all(changed.map((operation) => queries.invalidateQueries({ queryKey: [operation] })));
          }}
        >
          <p>{chosen.does}</p>
        </Confirm>
      )}
    </div>
  );
}
