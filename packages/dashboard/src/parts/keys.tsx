import {
  createContext, use, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent as ReactKeyboardEvent,
  type ReactNode,
} from "react";
import { usePreferences } from "../app/preferences.tsx";

/** Acts by key: a key's name (`j`, `Enter`, `/`), two keys in turn (`g e`), or `Ctrl-k`. */
export type Keys = Readonly<Record<string, { readonly does: string; readonly run: () => void }>>;

/** How long the second of two keys may take, ms. */
const pairMs = 1_500;

type Registry = Set<{ current: Keys }>;

const Registered = createContext<Registry>(new Set());

/** Lets keys act on the pages inside. Keys without Control do nothing in fields, and where they are switched off. */
export function KeysProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [registry] = useState<Registry>(() => new Set());
  const { singleKeys } = usePreferences();
  const first = useRef<{ readonly key: string; readonly at: number } | undefined>(undefined);
  // A layout effect: a key that is pressed as soon as the page is shown acts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const withControl = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || event.altKey || isComposing(event)) return;
      // The path begins within the shadow root of an editor; the event's own target is the root's host.
      if (!withControl && (!singleKeys || isField(event.composedPath()[0]))) return;
      if (document.querySelector("dialog[open]")) return;
      const key = withControl ? `Ctrl-${event.key}` : event.key;
      const before = first.current && event.timeStamp - first.current.at < pairMs ? `${first.current.key} ${key}` : key;
      // The newest registration comes first: that of the innermost part.
      const act = [...registry].reverse().map(({ current }) => current[before] ?? current[key]).find(Boolean);
      first.current = { key, at: event.timeStamp };
      if (!act) return;
      event.preventDefault();
      first.current = undefined;
      act.run();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [registry, singleKeys]);
  return <Registered value={registry}>{children}</Registered>;
}

/** Lets keys act for as long as the calling part is shown. */
export function useKeys(keys: Keys): void {
  const registry = use(Registered);
  const own = useMemo(() => ({ current: keys }), []);
  own.current = keys;
  useLayoutEffect(() => {
    registry.add(own);
    return () => void registry.delete(own);
  }, [registry, own]);
}

/** Every key that acts now, and its act. */
export function useAllKeys(): () => readonly (readonly [key: string, does: string])[] {
  const registry = use(Registered);
  // Of two acts of one key, the newer one acts.
  return () => [...new Map([...registry].flatMap(({ current }) =>
    Object.entries(current).map(([key, { does }]) => [key, does] as const)))];
}

/** A handler of keys that leaves those of an input method alone: with them it chooses and discards its candidates. */
export function unlessComposing<Target extends Element>(
  handle: (event: ReactKeyboardEvent<Target>) => void,
): (event: ReactKeyboardEvent<Target>) => void {
  return (event) => {
    if (!isComposing(event.nativeEvent)) handle(event);
  };
}

/** Safari says 229 for the key that ends the composition, which is over then. */
function isComposing(event: { readonly isComposing: boolean; readonly keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

function isField(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement
    && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
