import { useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { caller, relayAddress } from "../../api/relay.ts";
import { useCopy } from "../../parts/copy.tsx";
import { Icon, icons } from "../../parts/icon.tsx";
import { textOf } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";

/** Copies the story up to the chosen moment as Markdown, for a ticket. */
export function CopyStory({ id }: { readonly id: string }): ReactNode {
  const { at } = useSearch({ strict: false });
  const [state, copy] = useCopy();
  const [problem, setProblem] = useState("");
  const run = () => {
    setProblem("");
    markdownOf(id, at).then(copy, (error: unknown) => setProblem(textOf(error)));
  };
  return (
    <>
      <button type="button" onClick={run} title="The story as Markdown, with secrets masked">
        <Icon of={state === "copied" ? icons.check : icons.copy} size={14} /> Copy for a ticket
      </button>
      <span role="status" className={shared.small}>
        {problem !== "" ? problem : { idle: "", copied: "Copied", refused: "The browser refuses to copy" }[state]}
      </span>
    </>
  );
}

async function markdownOf(id: string, at: string | undefined): Promise<string> {
  const address = new URL(`api/v1/events/${id}/story`, relayAddress);
  if (at !== undefined) address.searchParams.set("AsOf", at);
  const answer = await fetch(address, {
    headers: { Accept: "text/markdown", ...caller.id !== undefined && { "X-Relay-Principal": caller.id } },
  });
  if (!answer.ok) throw new Error(`The relay answered ${answer.status}.`);
  return answer.text();
}
