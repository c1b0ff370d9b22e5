import { useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { pagesPath } from "../api/relay.ts";
import type { Search } from "./search.ts";

/** Goes to a page by its address below the dashboard's own path: a path with its parameters, as text. */
export function useGoToAddress(): (address: string) => void {
  const { history } = useRouter();
  return useCallback((address) => history.push(`${pagesPath}${address}`), [history]);
}

/**
 * Changes some parameters of the page: an empty text, or undefined, removes one. A change is a step of the browser's
 * history, unless `replace` is set.
 */
export function useChange(): (changes: Search, options?: { readonly replace?: boolean }) => void {
  const navigate = useNavigate();
  return useCallback((changes, { replace = false } = {}) => {
    void navigate({ to: ".", search: (before) => ({ ...before, ...changes }), replace });
  }, [navigate]);
}

/** The part of the address behind its `#`, which is then removed from the address and from the browser's history. */
export function useFragment(): string {
  const [fragment] = useState(() => location.hash.slice(1));
  const { history } = useRouter();
  useEffect(() => {
    if (location.hash !== "") history.replace(location.pathname + location.search);
  }, [history]);
  return fragment;
}
