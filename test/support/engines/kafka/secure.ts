import { makeAuthority } from "../../tls.ts";
import type { Secure } from "./broker.ts";
import type { Properties } from "./properties.ts";

interface SecureListener {
  readonly secure: Secure;
  readonly properties: Properties;
  /** Arguments for formatting the broker's storage. */
  readonly scram: readonly string[];
}

/** A listener with TLS and SASL, under a certificate and a password made for this broker. */
export function secureListener(port: number): SecureListener {
  const authority = makeAuthority();
  const { key, cert } = authority.issue();
  const username = "relay";
  const password = "pa=s5/w0rd+";
  const address = `127.0.0.1:${port}`;
  const of = (name: string) => `listener.name.secure.${name}`;
  const login = (module: string) => `org.apache.kafka.common.security.${module} required`;
  const scramLogin = `${login("scram.ScramLoginModule")};`;
  return {
    secure: { brokers: [address], caPem: authority.caPem, username, password },
    properties: {
      listeners: `SECURE://${address}`,
      "advertised.listeners": `SECURE://${address}`,
      "listener.security.protocol.map": "SECURE:SASL_SSL",
      [of("ssl.keystore.type")]: "PEM",
      [of("ssl.keystore.key")]: key,
      [of("ssl.keystore.certificate.chain")]: cert,
      [of("sasl.enabled.mechanisms")]: "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
      [of("plain.sasl.jaas.config")]: `${login("plain.PlainLoginModule")} user_${username}="${password}";`,
      [of("scram-sha-256.sasl.jaas.config")]: scramLogin,
      [of("scram-sha-512.sasl.jaas.config")]: scramLogin,
    },
    scram: [256, 512].flatMap((size) => ["--add-scram", `SCRAM-SHA-${size}=[name=${username},password=${password}]`]),
  };
}
