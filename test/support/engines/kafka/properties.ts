/** Settings of a single broker that starts, notices deaths and lets consumers join quickly. */
export const quickProperties: Readonly<Record<string, string>> = {
  "process.roles": "broker,controller",
  "node.id": "1",
  "controller.listener.names": "CONTROLLER",
  "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
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
