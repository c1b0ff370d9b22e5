import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";

const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

interface Data {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly eventType?: string;
  readonly test?: boolean;
  readonly at: string;
  readonly acceptedAt: string;
  readonly from: string;
  readonly to: string;
  readonly attempt: number;
  readonly durationMs: number | null;
  readonly reason: string;
}

/** The number of the bin of a duration: 48 reach from 1 ms to a minute. */
function bin(ms: number): number {
  let [number, end] = [0, 60_000 ** (1 / 48)];
  for (; ms >= end * (1 - 1e-9); number += 1) end *= 60_000 ** (1 / 48);
  return number;
}

/** The integers that the rows of statistics must have after some facts, by key, summed up in the plainest way. */
export function statisticsOf(facts: readonly DomainEvent[]): Record<string, Record<string, number>> {
  const rows: Record<string, Record<string, number>> = {};
  for (const { type, data } of facts) {
    const fact = data as Data;
    if (fact.test) continue;
    const names: string[] = [];
    if (type === "EventAccepted") names.push("accepted");
    if (type === "DeliveryExhausted") names.push("exhausted");
    if (type === "EventCancelled") names.push("cancelled");
    const ended = type === "DeliverySucceeded" || type === "DeliveryFailed";
    if (type === "DeliverySucceeded" && fact.from !== fact.to) names.push("succeeded");
    if (type === "DeliveryFailed") names.push(`f:${fact.reason}`);
    if (ended) names.push("attempts");
    if (ended && fact.durationMs !== null) {
      names.push(`l${bin(fact.durationMs)}`);
      const waited = Date.parse(fact.at) - fact.durationMs - Date.parse(fact.acceptedAt);
      if (fact.attempt === 1) names.push(`w${bin(waited)}`);
    }
    if (names.length === 0) continue;
    const series = ["*", fact.destinationId];
    if (fact.eventType !== undefined) series.push(`*~${fact.eventType}`, `${fact.destinationId}~${fact.eventType}`);
    for (const one of series) {
      for (const [level, length] of Object.entries(lengths)) {
        const bucket = String(Math.floor(Date.parse(fact.at) / length)).padStart(9, "0");
        const row = (rows[`${fact.tenantId}/${one}/${level}/${bucket}`] ??= {});
        for (const name of names) row[name] = (row[name] ?? 0) + 1;
        if (ended && fact.durationMs !== null) row["longest"] = Math.max(row["longest"] ?? 0, fact.durationMs);
      }
    }
  }
  return rows;
}
