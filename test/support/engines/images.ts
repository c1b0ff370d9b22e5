import { readFileSync } from "node:fs";
import { parse } from "yaml";

type Engine = "eventstoredb" | "kafka" | "mongodb";

const compose = new URL("../../../docker-compose.yml", import.meta.url);

/** The image of an engine as `make up` starts it: what operators are given is what is tested. */
export function imageOf(engine: Engine): string {
  const { services } = parse(readFileSync(compose, "utf8")) as {
    readonly services: Readonly<Record<Engine, { readonly image: string }>>;
  };
  return services[engine].image;
}

/** Its version. */
export function versionOf(engine: Engine): string {
  return imageOf(engine).replace(/^.*:/, "");
}
