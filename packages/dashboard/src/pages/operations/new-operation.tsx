import { useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { usePreferences } from "../../app/preferences.tsx";
import { orderFields } from "../../app/search.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Tabs } from "../../parts/page.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { momentText } from "../../parts/times.ts";
import { FilterFields } from "./filter-fields.tsx";
import { filterText, tagsText } from "./filter-text.ts";
import { kinds, type Kind } from "./kinds.ts";
import { orderOf, type Order } from "./order.ts";

/** The parameters of the address that are those of this dialog. */
const own = ["new", ...orderFields];

interface Counted {
  readonly order: Order;
  readonly matched: number;
}

/** A new operation: its kind and filter, then the number of events, which the person types to confirm. */
export function NewOperation({ kind, allowed }: { readonly kind: Kind; readonly allowed: readonly Kind[] }): ReactNode {
  const queries = useQueryClient();
  const { zone } = usePreferences();
  const { nameOf } = useTargets();
  const search = useSearch({ from: "/signed-in/operations" });
  const change = useChange();
  const [counted, setCounted] = useState<Counted>();
  const [said, setSaid] = useState("");
  const close = () => change(Object.fromEntries(own.map((name) => [name, ""])));
  const words = ({ filter }: Order) => filterText(filter, nameOf, (at) => momentText(at, zone));
  const count = async (fields: Readonly<Record<string, string>>) => {
    setSaid("");
    const order = orderOf(kind, fields, zone, search);
    // The address keeps the form's texts for the way back from the count.
    change(textsOf(order), { replace: true });
    const matched = await run(order, true);
    if (matched === 0) setSaid(`Nothing matches: ${words(order)}.`);
    else setCounted({ order, matched });
  };
  if (counted) {
    const { order, matched } = counted;
    return (
      <Confirm
        title={`${kinds[kind].act}: ${matched.toLocaleString("en")} ${matched === 1 ? "event" : "events"}`}
        act={kinds[kind].act} type={String(matched)} close={() => setCounted(undefined)}
        run={async () => {
          await run(order, false);
          await queries.invalidateQueries({ queryKey: [kinds[kind].reads] });
          change({ ...Object.fromEntries(own.map((name) => [name, ""])), kind });
        }}
      >
        <p>{words(order)}</p>
        <p>{consequence(order, nameOf)}</p>
      </Confirm>
    );
  }
  return (
    <Dialog title="New operation" close={close}>
      <Tabs
        label="Kind" chosen={kind} choose={(other) => change({ new: other })}
        tabs={Object.fromEntries(allowed.map((other) => [other, kinds[other].act]))}
      />
      <Form submit={count} label="Count" keeps guarded={false} cancel={close}><FilterFields kind={kind} /></Form>
      <p role="status">{said}</p>
    </Dialog>
  );
}

function consequence({ kind, body }: Order, nameOf: (id: string) => string): string {
  if (kind === "purge") return "They are deleted with their attempts and histories. They do not come back.";
  if (kind === "cancel") return "They are never delivered. An attempt that is under way finishes.";
  const target = body.toDestinationUrlId;
  if (target === undefined) return "Each is sent once more to its destination.";
  return `Each is sent to ${nameOf(target)}, as a new event. The events themselves stay as they are.`;
}

/** The fields of an order as texts for the address; the others empty. */
function textsOf({ body }: Order): Readonly<Record<string, string>> {
  const given = Object.fromEntries(Object.entries({ ...body, tags: tagsText(body.tags ?? {}) })
    .map(([name, value]) => [name, String(value as string)]));
  return { ...Object.fromEntries(orderFields.map((name) => [name, ""])), ...given };
}

/** Counts the events of an order, or gives it; resolves with the number of events. */
async function run(order: Order, dryRun: boolean): Promise<number> {
  if (order.kind === "replay") return (await relay.orderReplay({ ...order.body, dryRun })).matched;
  if (order.kind === "cancel") return (await relay.cancelEvents({ ...order.body, dryRun })).matched;
  return (await relay.purgeEvents({ ...order.body, dryRun }))?.matched ?? 0;
}
