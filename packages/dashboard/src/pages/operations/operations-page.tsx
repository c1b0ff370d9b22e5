import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { Page, Tabs } from "../../parts/page.tsx";
import { NoRight } from "../../parts/states.tsx";
import { isKind, kinds, type Kind } from "./kinds.ts";
import { NewOperation } from "./new-operation.tsx";
import { OperationList } from "./operation-list.tsx";

/** The operations on many events: replays, cancels and purges, and a new one. */
export function OperationsPage(): ReactNode {
  const allows = useMay();
  const search = useSearch({ from: "/signed-in/operations" });
  const change = useChange();
  const shown = Object.entries(kinds).filter(([, { reads }]) => allows(reads));
  const allowed = Object.entries(kinds).filter(([, { orders }]) => allows(orders)).map(([kind]) => kind as Kind);
  const kind = isKind(search["kind"]) ? search["kind"] : "replay";
  const asked = search["new"];
  const opened = isKind(asked) && allowed.includes(asked) ? asked : undefined;
  return (
    <Page
      title="Operations" wide
      acts={allowed.length > 0 && (
        <button type="button" onClick={() => change({ new: allowed.includes(kind) ? kind : allowed[0] })}>
          New operation…
        </button>
      )}
    >
      {allowed.length === 0 && (
        <NoRight>Developers and above can replay and cancel events, Admins can purge them.</NoRight>
      )}
      <Tabs
        label="Kind of operation" chosen={kind} choose={(to) => change({ kind: to })}
        tabs={Object.fromEntries(shown.map(([name, { title }]) => [name, title]))}
      />
      <OperationList key={kind} kind={kind} act={allowed.includes(kind) && (
        <button type="button" onClick={() => change({ new: kind })}>New {kinds[kind].name}…</button>
      )} />
      {opened && <NewOperation key={opened} kind={opened} allowed={allowed} />}
    </Page>
  );
}
