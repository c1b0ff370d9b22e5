import type { Ports } from "./broker.ts";

export type Properties = Readonly<Record<string, string>>;

/**
 * Settings of a single broker that starts, notices deaths and lets consumers join quickly; it listens on `host`, and
 * on one listener more where `more` names and describes it.
 */
export function quickProperties(
  { direct, controller, detour }: Ports, host: string, more: Properties = {},
): Properties {
  const base: Properties = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    listeners: `PLAINTEXT://${host}:${direct},DETOUR://${host}:${detour.to},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${direct},DETOUR://127.0.0.1:${detour.from}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,DETOUR:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "auto.create.topics.enable": "false",
  };
  const joined = Object.entries(more).map(([name, value]) => [name, name in base ? `${base[name]},${value}` : value]);
  return { ...base, ...(Object.fromEntries(joined) as Properties) };
}
