import { facts } from "@webhook-relay/client";

type Facts = typeof facts;
type Known = Facts[keyof Facts];
type Subject = Extract<Known, { readonly subject: string }>["subject"];

/** The kinds by which the types of entries are grouped, by the types of subjects. */
const kinds: Readonly<Record<Subject, string>> = {
  tenant: "Tenant", user: "People", invite: "People", destination: "Destinations", circuit: "Destinations",
  sender: "Senders", apiKey: "Keys", serviceAccount: "Keys", purge: "Operations", replay: "Operations",
  cancellation: "Operations",
};

const bySubject = Object.groupBy(Object.entries(facts).flatMap(([type, fact]) =>
  "subject" in fact ? [{ type, subject: fact.subject }] : []), ({ subject }) => subject);

/** All types of entries of the audit, by kind. */
export const auditTypes = Object.groupBy(
  (Object.keys(kinds) as Subject[]).flatMap((subject) => bySubject[subject] ?? []), ({ subject }) => kinds[subject]);
