import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { RelayError } from "@webhook-relay/client";
import { useEffect, useState } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { textOf } from "../../parts/states.tsx";

/** How long the text must stay the same before the relay is asked, ms. */
const pauseMs = 250;

/** The result of a mapping for a payload. */
export interface Tried {
  /** The text that would be delivered; while another result is loaded, the last one. */
  readonly text: string | undefined;
  /** The fault, in the expression or in the original. */
  readonly problem: { readonly at: "expression" | "original"; readonly text: string } | undefined;
  readonly isTrying: boolean;
}

/** Has the relay map a payload once a person stops typing. Without an expression, the result is the payload. */
export function useTried(expression: string, payload: string | undefined): Tried {
  const asked = useRested({ expression, payload });
  const mayTry = useMay()("tryMapping");
  const isMapped = asked.expression.trim() !== "";
  const query = useQuery({
    queryKey: ["tryMapping", asked],
    queryFn: ({ signal }) => relay.tryMapping(
      { mapping: { language: "jmespath", expression: asked.expression }, payload: asked.payload ?? "" }, { signal },
    ),
    enabled: isMapped && asked.payload !== undefined && mayTry,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  });
  const isTrying = query.isFetching || expression !== asked.expression || payload !== asked.payload;
  if (!isMapped) return { text: payload, problem: undefined, isTrying: false };
  if (query.error === null) return { text: query.data?.text, problem: undefined, isTrying };
  const problem = { at: placeOf(query.error, asked.payload ?? ""), text: textOf(query.error) };
  return { text: undefined, problem, isTrying };
}

/** Errors of a payload that is a JSON object are the expression's: it fails on it, or does not yield an object. */
function placeOf(error: unknown, payload: string): "expression" | "original" {
  const isOfPayload = error instanceof RelayError && (error.details.field === "payload" || error.code === "too-large");
  return isOfPayload && (!isObject(payload) || error.code === "too-large") ? "original" : "expression";
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A value once it has stayed the same for a while. */
function useRested<Value extends { readonly expression: string; readonly payload: string | undefined }>(
  { expression, payload }: Value,
): Pick<Value, "expression" | "payload"> {
  const [rested, setRested] = useState({ expression, payload });
  useEffect(() => {
    const timer = setTimeout(() => setRested({ expression, payload }), pauseMs);
    return () => clearTimeout(timer);
  }, [expression, payload]);
  return rested;
}
