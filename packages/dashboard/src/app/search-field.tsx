import { useQuery } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { mayPass } from "../api/queries.ts";
import { relay } from "../api/relay.ts";
import { Icon, icons, type IconPath } from "../parts/icon.tsx";
import { unlessComposing, useKeys } from "../parts/keys.tsx";
import { textOf } from "../parts/states.tsx";
import { places } from "./places.ts";
import styles from "./search-field.module.css";
import { useMay } from "./session.ts";

type FoundItem = Schemas["FoundItem"];

/** A page, an event, a thing, or the search in payloads. */
interface Target {
  readonly kind: string;
  readonly text: string;
  readonly icon: IconPath;
  /** The beginning of the id of an event or a message. */
  readonly id?: string;
  /** The field by which it was found. */
  readonly by?: string;
  readonly link: NavigateOptions;
}

/** How long the text stays the same before it is looked up, ms. */
const debounceMs = 120;
const longestText = 200;

/** Each kind of found item: its word, its icon, and its page. */
const kinds: Readonly<Record<
  FoundItem["kind"], readonly [word: string, icon: IconPath, page: (id: string) => NavigateOptions]
>> = {
  event: ["Event", icons.activity, (id) => ({ to: "/events/$id", params: { id } })],
  message: ["Message", icons.split, (id) => ({ to: "/messages/$id", params: { id } })],
  destination: ["Destination", icons.send, (id) => ({ to: "/destinations/$id", params: { id } })],
  sender: ["Sender", icons.arrowRightLeft, (id) => ({ to: "/senders/$id", params: { id } })],
  subscription: ["Subscription", icons.arrowRightLeft, () => ({ to: "/senders" })],
  user: ["Person", icons.users, () => ({ to: "/people" })],
  apiKey: ["API key", icons.keyRound, () => ({ to: "/keys" })],
  serviceAccount: [
    "Service account", icons.keyRound, (account) => ({ to: "/keys", search: { tab: "services", account } }),
  ],
};
const fields: Readonly<Record<string, string>> = {
  idempotencyKey: "by its key", correlationId: "by its request", eventType: "by its type", ownerId: "by its owner",
};

/**
 * The one search field: it looks a text up as one types, and goes to pages, events and things. Its last choice, the
 * only one for an unknown text, searches payloads. A combobox.
 */
export function SearchField(): ReactNode {
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [isEntered, setEntered] = useState(false);
  const { targets, note, isPending } = useFound(text.trim(), isOpen);
  const current = Math.min(active, targets.length - 1);
  const option = (at: number) => `${list}-${at}`;
  const focus = () => input.current?.select();
  useKeys({
    "/": { does: "Search", run: focus }, "Ctrl-k": { does: "Search", run: focus },
  });
  const leave = () => {
    setText("");
    setActive(0);
    setEntered(false);
    input.current?.blur();
  };
  const open = (target: Target | undefined) => {
    if (!target) return;
    leave();
    void navigate(target.link);
  };
  // Enter right behind the last letter waits for the answer.
  useEffect(() => {
    if (isEntered && !isPending) open(targets[0]);
  }, [isEntered, isPending]);
  const onKey = unlessComposing<HTMLInputElement>((event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: (current + 1) % targets.length, ArrowUp: (current - 1 + targets.length) % targets.length,
    };
    const next = steps[event.key];
    if (event.key === "Enter" && isPending) setEntered(true);
    else if (event.key === "Enter") open(targets[current]);
    else if (event.key === "Escape") leave();
    else if (next !== undefined && targets.length > 0) setActive(next);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const shown = useRef<HTMLLIElement>(null);
  useEffect(() => {
    // Chromium answers with a promise, which is no clean-up of an effect.
    void shown.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <search className={styles.search}>
      <Icon of={icons.search} />
      <input
        ref={input} type="text" role="combobox" aria-label="Search" aria-expanded={isOpen} aria-controls={list}
        aria-autocomplete="list" autoComplete="off" spellCheck={false} maxLength={longestText}
        aria-activedescendant={isOpen && targets.length > 0 ? option(current) : undefined} value={text}
        placeholder="Search events, destinations, pages…" onKeyDown={onKey} onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={({ target }) => {
          setText(target.value);
          setActive(0);
          setEntered(false);
        }}
      />
      <kbd>/</kbd>
      {isOpen && (
        // The field keeps the focus.
        <div className={styles.found} onMouseDown={(event) => event.preventDefault()}>
          <ul id={list} role="listbox" aria-label="Found">
            {targets.map((target, at) => (
              <li
                key={`${target.kind} ${target.text} ${target.id ?? ""}`} id={option(at)} role="option"
                aria-selected={at === current} ref={at === current ? shown : undefined} onClick={() => open(target)}
              >
                <Icon of={target.icon} /><small>{target.kind}</small>{" "}
                <span title={target.text}>{target.text}</span>{" "}
                {target.id !== undefined && <code>{target.id}</code>}{" "}
                {target.by !== undefined && <small className={styles.by}>{target.by}</small>}
              </li>
            ))}
          </ul>
          <p className={styles.note} role="status">{note}</p>
        </div>
      )}
    </search>
  );
}

/** The targets for a text, the best first, a sentence about the lookup, and whether it is under way. */
function useFound(text: string, isOpen: boolean): {
  readonly targets: readonly Target[]; readonly note: string; readonly isPending: boolean;
} {
  const may = useMay();
  const Q = useDebounced(text);
  const isAsked = isOpen && Q !== "" && may("lookup");
  const { data, error, failureReason, isFetching } = useQuery({
    queryKey: ["lookup", { Q }],
    queryFn: async ({ signal }) => (await relay.lookup({ Q }, { signal })).items,
    enabled: isAsked,
    placeholderData: (before) => before,
  });
  const isPending = text !== Q || (isAsked && isFetching);
  const wanted = text.toLowerCase();
  const pages = places.filter(({ needs, title }) => may(needs) && title.toLowerCase().startsWith(wanted))
    .map(({ path: to, title, icon }): Target => ({ kind: "Page", text: title, icon, link: { to } }));
  if (text === "") return { targets: pages, note: "", isPending: false };
  const found = (data ?? []).map(targetOf);
  const link: NavigateOptions = { to: "/events", search: { Text: text } };
  const payloads: Target[] = may("searchEvents")
    ? [{ kind: "Payloads", text: `with “${text}”`, icon: icons.search, link }] : [];
  const isFound = found.length + pages.length > 0;
  const note = mayPass(failureReason) ? "Catching up…" : isPending ? "Looking…"
    : error !== null ? textOf(error) : isFound ? "" : "Nothing is known by this text.";
  return { targets: [...pages, ...found, ...payloads], note, isPending };
}

function targetOf({ kind, id, label, matched }: FoundItem): Target {
  const [word, icon, link] = kinds[kind];
  const by = matched.startsWith("tag:") ? `by its tag ${matched.slice("tag:".length)}` : fields[matched];
  return {
    kind: word, text: label, icon, link: link(id),
    ...((kind === "event" || kind === "message") && { id: id.slice(0, 13) }),
    ...(by !== undefined && { by }),
  };
}

/** The text once it has stayed the same for a moment. */
function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), debounceMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
