import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { RelayError, type ParametersOf, type Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { FactChange } from "../../parts/fact-change.tsx";
import { FactRows } from "../../parts/fact-rows.tsx";
import { title } from "../../parts/fact-values.ts";
import { Page } from "../../parts/page.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import styles from "./audit.module.css";
import { AuditFilters, filtersIn, withoutFilters } from "./filters.tsx";

const pageSize = 50;

/** Who changed what in the tenant, the newest first: a line each, which opens as a diff. */
export function AuditPage(): ReactNode {
  const search = useSearch({ from: "/signed-in/audit" });
  const change = useChange();
  const filters = filtersIn(search);
  const { cursor } = search;
  const parameters = { ...filters, Qt: pageSize, Total: false, ...(cursor ? { Cursor: cursor } : {}) };
  const query = useQuery({
    queryKey: ["listAudit", parameters],
    queryFn: () => relay.listAudit(parameters as ParametersOf<"listAudit">),
  });
  const problem = refusedFilter(query.error, filters);
  const clear = <button type="button" onClick={() => change(withoutFilters)}>Clear filters</button>;
  return (
    <Page title="Audit">
      <AuditFilters problem={problem} />
      {!problem && (
        <Answered query={query}>
          {({ items, nextCursor }) => (
            <>
              {items.length === 0 && <Empty act={clear}>No entry matches these filters.</Empty>}
              {items.length > 0 && (
                <FactRows facts={items} about={(fact) => <About fact={fact} />}>
                  {(fact) => <Opened fact={fact} />}
                </FactRows>
              )}
              <p className={shared.acts}>
                {cursor && <Link to="/audit" search={filters} className={shared.button}>Newest</Link>}
                {nextCursor !== null && (
                  <Link to="/audit" search={{ ...filters, cursor: nextCursor }} className={shared.button}>Older</Link>
                )}
              </p>
            </>
          )}
        </Answered>
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
  return (
    <Link to="/audit" search={{ SubjectId: subject.id }} aria-label={`All about ${title(subject.type)} ${subject.id}`}>
      {title(subject.type)} {subject.id.slice(0, 13)}
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
