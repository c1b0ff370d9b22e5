import { Link, useMatch, useNavigate, useRouter, type AnyRouter, type RouterHistory } from "@tanstack/react-router";
import { useCallback, useEffect, useState, type ReactNode } from "react";
import { pagesPath } from "../api/relay.ts";
import type { Search } from "./search.ts";

/** A link to a page by its path, such as `/events/01a2…`. The parameters of the page shown now are not kept. */
export function PageLink({ to, search = {}, className, exact = false, label, children }: {
  readonly to: string;
  readonly search?: Search;
  readonly className?: string;
  /** Whether the link counts as the page shown only where their paths are equal; else pages below it count, too. */
  readonly exact?: boolean;
  /** Its name for screen readers, in place of its text. */
  readonly label?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Link to={to} search={search} className={className} activeOptions={{ exact }} aria-label={label}>
      {children}
    </Link>
  );
}

/** Goes to a page by its path. */
export function useGo(): (to: string, search?: Search) => void {
  const navigate = useNavigate();
  return useCallback((to, search = {}) => void navigate({ to, search } as never), [navigate]);
}

/** Goes to a page by its address below the dashboard's own path: a path with its parameters, as text. */
export function useGoToAddress(): (address: string) => void {
  const router: AnyRouter = useRouter();
  const history = router.history as RouterHistory;
  return useCallback((address) => history.push(`${pagesPath}${address}`), [history]);
}

/** The path of the page, such as `/events/01a2…`; not of the next one, which the address already has. */
export function usePath(): string {
  return useMatch({ strict: false, select: ({ pathname }) => pathname });
}

/** The id of the thing that the page is about; as {@link usePath}. */
export function usePageId(): string {
  const match = useMatch({ strict: false });
  return (match.params as { readonly id: string }).id;
}

/** Changes to the parameters in the address: an empty text, or undefined, removes one. */
export type SearchChanges = Readonly<Record<string, string | undefined>>;

/**
 * The parameters of the page, as {@link usePath}, and how to change some of them. A change is a step of the browser's
 * history, unless `replace` is set.
 */
export function useSearch():
readonly [search: Search, change: (changes: SearchChanges, options?: { readonly replace?: boolean }) => void] {
  const match = useMatch({ strict: false });
  const search = match.search as Search;
  const navigate = useNavigate();
  const change = useCallback((changes: SearchChanges, { replace = false }: { readonly replace?: boolean } = {}) => {
    void navigate({ to: ".", search: (before: Search) => ({ ...before, ...changes }), replace } as never);
  }, [navigate]);
  return [search, change];
}

/** What was behind the `#` of the address when the part was first shown. It is removed from the address and history. */
export function useFragment(): string {
  const [fragment] = useState(() => location.hash.slice(1));
  const router: AnyRouter = useRouter();
  useEffect(() => {
    if (location.hash === "") return;
    (router.history as RouterHistory).replace(location.pathname + location.search);
  }, [router]);
  return fragment;
}
