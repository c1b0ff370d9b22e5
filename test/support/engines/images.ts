import { readFileSync } from "node:fs";
import { parse } from "yaml";

type Engine = "eventstoredb" | "kafka" | "mongodb";

const compose = new URL("../../../docker-compose.yml", import.meta.url);

/** The image of an engine that `make up` starts: tests run on the version that operators are given. */
export function imageOf(engine: Engine): string {
  const { services } = parse(readFileSync(compose, "utf8")) as {
    readonly services: Readonly<Record<Engine, { readonly image: string }>>;
  };
  return services[engine].image;
}

/** The version of that image. */
export function versionOf(engine: Engine): string {
  return imageOf(engine).replace(/^.*:/, "");
}
