import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Invites } from "./invites.tsx";
import { Users } from "./users.tsx";

/** The people of a tenant, and its invites. */
export function PeoplePage(): ReactNode {
  const { tab } = useSearch({ from: "/signed-in/people" });
  const change = useChange();
  const chosen = tab === "invites" ? tab : "users";
  return (
    <Page title="People">
      <Tabs label="People" tabs={{ users: "Users", invites: "Invites" }} chosen={chosen}
        choose={(next) => change({ tab: next === "users" ? undefined : next })} />
      {chosen === "users" ? <Users /> : <Invites />}
    </Page>
  );
}
