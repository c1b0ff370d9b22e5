import { useBlocker } from "@tanstack/react-router";
import { useSyncExternalStore, type ReactNode } from "react";
import { AskToDiscard } from "../parts/dialog.tsx";
import { leaves, onUnsaved, unsavedForm } from "../parts/unsaved.ts";

/** Asks before typed text is lost because its page is left, or the browser's tab closed. */
export function UnsavedGuard(): ReactNode {
  const isUnsaved = useSyncExternalStore(onUnsaved, () => unsavedForm() !== null);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const form = unsavedForm();
      return form !== null && leaves(form, current, next);
    },
    enableBeforeUnload: () => unsavedForm() !== null,
    // With it, changes of the address wait a moment: two at once would not add up.
    disabled: !isUnsaved,
    withResolver: true,
  });
  return status === "blocked" && <AskToDiscard keep={reset} discard={proceed} />;
}
