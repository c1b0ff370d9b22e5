import { useQuery } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { mayPass } from "../api/queries.ts";
import { relay } from "../api/relay.ts";
import { Dialog } from "../parts/dialog.tsx";
import { unlessComposing } from "../parts/keys.tsx";
import { destinationNames, senderNames } from "../parts/names.tsx";
import { textOf } from "../parts/states.tsx";
import { statusWord } from "../parts/status-words.ts";
import shared from "../style/shared.module.css";
import styles from "./palette.module.css";
import { places } from "./places.ts";
import { useMay } from "./session.ts";

/** A page, event, destination or sender to go to. */
interface Target {
  readonly kind: "Page" | "Event" | "Destination" | "Sender";
  readonly text: string;
  /** Tells targets of one kind apart. */
  readonly id: string;
  readonly link: NavigateOptions;
}

const pageOf = { Event: "/events/$id", Destination: "/destinations/$id", Sender: "/senders/$id" } as const;

function targetOf(kind: keyof typeof pageOf, id: string, text: string): Target {
  return { kind, id, text, link: { to: pageOf[kind], params: { id } } };
}

/** How many targets of a kind are shown. */
const most = 8;

/** Goes to a page, to an event by its id, or to a destination or sender by its name. A combobox in a dialog. */
export function Palette({ close }: { readonly close: () => void }): ReactNode {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const { targets, note } = useFound(text.trim());
  const [active, setActive] = useState(0);
  const list = useId();
  const current = Math.min(active, targets.length - 1);
  const option = (at: number) => `${list}-${at}`;
  const open = (target: Target | undefined) => {
    if (!target) return;
    close();
    void navigate(target.link);
  };
  const onKey = unlessComposing((event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: (current + 1) % targets.length, ArrowUp: (current - 1 + targets.length) % targets.length,
    };
    const next = steps[event.key];
    if (event.key === "Enter") open(targets[current]);
    else if (next === undefined || targets.length === 0) return;
    else setActive(next);
    event.preventDefault();
  });
  const shown = useRef<HTMLLIElement>(null);
  useEffect(() => {
    // Chromium answers with a promise, which is no clean-up of an effect.
    void shown.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <Dialog title="Go to" close={close}>
      <input
        type="text" role="combobox" aria-label="Page, event id, destination or sender"
        aria-expanded={targets.length > 0} aria-controls={list}
        aria-autocomplete="list" autoComplete="off" spellCheck={false} className={styles.paletteText}
        aria-activedescendant={targets.length > 0 ? option(current) : undefined} value={text} onKeyDown={onKey}
        placeholder="A page, an event’s id, a destination or a sender"
        onChange={({ target }) => {
          setText(target.value);
          setActive(0);
        }}
      />
      <ul id={list} role="listbox" aria-label="Where to go" className={styles.paletteList}>
        {targets.map((target, at) => (
          <li
            key={`${target.kind} ${target.id}`} id={option(at)} role="option" aria-selected={at === current}
            ref={at === current ? shown : undefined} onClick={() => open(target)}
          >
            <small>{target.kind}</small> <span>{target.text}</span>
          </li>
        ))}
      </ul>
      <p className={shared.small} role="status">{note}</p>
    </Dialog>
  );
}

/** The targets that match a text, the pages first, and a sentence about the search. */
function useFound(text: string): { readonly targets: readonly Target[]; readonly note: string } {
  const may = useMay();
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
  const event = useQuery({
    queryKey: ["getEvent", { id: text, of: "palette" }],
    queryFn: () => relay.getEvent({ id: text }),
    enabled: isId && may("getEvent"),
  });
  const destinations = useQuery({ ...destinationNames, enabled: text !== "" && may("listDestinations") });
  const senders = useQuery({ ...senderNames, enabled: text !== "" && may("listSenders") });
  const wanted = text.toLowerCase();
  const among = (targets: readonly Target[]) =>
    targets.filter((target) => `${target.text} ${target.id}`.toLowerCase().includes(wanted)).slice(0, most);
  const pages = places.filter(({ needs }) => may(needs))
    .map(({ path: to, title }): Target => ({ kind: "Page", text: title, id: to, link: { to } }));
  const found = isId && event.data
    ? [targetOf("Event", event.data.id, `${event.data.id}, ${statusWord(event.data.status)}`)] : [];
  const others = text === "" ? [] : [
    ...among((destinations.data ?? []).map(({ id, name }) => targetOf("Destination", id, name))),
    ...among((senders.data ?? []).map(({ id, name }) => targetOf("Sender", id, name))),
  ];
  const targets = [...found, ...pages.filter(({ text: title }) => title.toLowerCase().includes(wanted)), ...others];
  const queries = [event, destinations, senders];
  const failed = queries.find(({ error }) => error !== null && error !== event.error);
  if (failed) return { targets, note: textOf(failed.error) };
  if (queries.some(({ failureReason }) => mayPass(failureReason))) return { targets, note: "Catching up…" };
  if (queries.some(({ fetchStatus }) => fetchStatus === "fetching")) return { targets, note: "Looking…" };
  if (targets.length > 0) return { targets, note: `${targets.length} to choose from` };
  return { targets, note: isId ? textOf(event.error) : "Nothing has this name. An event is found by its whole id." };
}
