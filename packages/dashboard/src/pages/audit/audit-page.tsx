import { Link, useSearch } from "@tanstack/react-router";
import { RelayError, type Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { title } from "../../parts/changes.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { FactChange } from "../../parts/fact-change.tsx";
import { FactRows } from "../../parts/fact-rows.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import styles from "./audit.module.css";
import { AuditFilters, filtersIn, withoutFilters } from "./filters.tsx";

/** The changes of the tenant, the newest first: a line each, which opens as a diff. */
export function AuditPage(): ReactNode {
  const search = useSearch({ from: "/signed-in/audit" });
  const change = useChange();
  const filters = filtersIn(search);
  const pages = usePages({
    queryKey: ["listAudit", filters], size: 50, ask: (page) => relay.listAudit({ ...filters, ...page }),
  });
  const problem = refusedFilter(pages.error, filters);
  const clear = <button type="button" onClick={() => change(withoutFilters)}>Clear filters</button>;
  return (
    <Page title="Audit" wide>
      <AuditFilters problem={problem} />
      {!problem && (
        <Listed pages={pages} empty={<Empty act={clear}>No entry matches these filters.</Empty>}>
          {(facts) => (
            <FactRows facts={facts} about={(fact) => <About fact={fact} />}>
              {(fact) => <Opened fact={fact} />}
            </FactRows>
          )}
        </Listed>
      )}
    </Page>
  );
}

/** The filter that the relay refuses with 400, and its sentence. */
function refusedFilter(error: unknown, filters: Readonly<Record<string, string>>) {
  if (!(error instanceof RelayError) || error.code !== "invalid") return undefined;
  const { field } = error.details;
  return field !== null && field in filters ? { field, text: error.message } : undefined;
}

/** The thing that an entry is about, as a link to all entries about it. */
function About({ fact: { subject } }: { readonly fact: Schemas["AuditItem"] }): ReactNode {
  if (!subject) return null;
  const { type, id, name } = subject;
  return (
    <Link to="/audit" search={{ SubjectId: id }} aria-label={`All about ${title(type)} ${name ?? id}`}>
      {title(type)} {name ? <MiddleCut text={name} /> : id.slice(0, 13)}
    </Link>
  );
}

function Opened({ fact }: { readonly fact: Schemas["AuditItem"] }): ReactNode {
  const { actor, correlationId, subject, position } = fact;
  return (
    <>
      {subject && <FactChange fact={fact} subject={subject} />}
      <dl className={styles.auditFacts}>
        {subject && (
          <div>
            <dt>{title(subject.type)}</dt>
            <dd><Link to="/audit" search={{ SubjectId: subject.id }}><code>{subject.id}</code></Link></dd>
          </div>
        )}
        {actor.id !== undefined && (
          <div>
            <dt>by</dt>
            <dd><Link to="/audit" search={{ ActorId: actor.id }}>everything that they changed</Link></dd>
          </div>
        )}
        <div>
          <dt>request</dt>
          <dd>
            <Link to="/audit" search={{ CorrelationId: correlationId }}><code>{correlationId}</code></Link>
          </dd>
        </div>
        <div><dt>entry</dt><dd><code>{position}</code></dd></div>
      </dl>
    </>
  );
}
