import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { ApiKeys } from "./api-keys.tsx";
import { ServiceAccounts } from "./service-accounts.tsx";
import { SignatureCheck } from "./signature-check.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

const tabs = {
  api: ["API keys", ApiKeys],
  services: ["Service accounts", ServiceAccounts],
  secret: ["Webhook secret", WebhookSecret],
  check: ["Signature check", SignatureCheck],
} as const;

const titles = Object.fromEntries(Object.entries(tabs).map(([tab, [title]]) => [tab, title]));

/** The credentials of a tenant: of its producers, of its machines, and of its signatures. */
export function KeysPage(): ReactNode {
  const { tab } = useSearch({ from: "/signed-in/keys" });
  const change = useChange();
  const chosen = isTab(tab) ? tab : "api";
  const [, Content] = tabs[chosen];
  return (
    <Page title="Keys">
      <Tabs label="Kinds of keys" tabs={titles} chosen={chosen}
        choose={(next) => change({ tab: next === "api" ? undefined : next, account: undefined })} />
      <Content />
    </Page>
  );
}

function isTab(tab: string | undefined): tab is keyof typeof tabs {
  return tab !== undefined && Object.hasOwn(tabs, tab);
}
