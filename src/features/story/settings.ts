import { tenantOf } from "../../kernel/domain/domain-event.ts";
import { facts } from "../facts.ts";
import type { Chapter, StoryEntry } from "./story.ts";
import { cause, destinationEntry, entryOf, type StoryFacts } from "./told.ts";

/** The chapters about settings that changed after a position, in no order. */
export function settingsOf({ destination, tenant, sender }: StoryFacts, after: string): Chapter[] {
  const changes = [
    ...destination.filter(isSetting).map(destinationEntry),
    ...tenant.filter(isSetting).map((fact) =>
      entryOf(fact, "tenant", tenantOf(fact) ?? "")),
    ...sender.filter(isSetting).map((fact) =>
      entryOf(fact, "sender", fact.data.senderId)),
  ];
  return changes.filter(({ position }) => position > after).map(settingOf);
}

function isSetting({ type }: { readonly type: string }): boolean {
  return facts.get(type)?.setting !== undefined;
}

function settingOf(entry: StoryEntry): Chapter {
  const { time, actor } = entry;
  const because = actor.type === "service" && actor.part !== "operator" ? [] : [cause("requested", entry)];
  return { kind: "setting", from: time, to: time, entries: [entry], because };
}
