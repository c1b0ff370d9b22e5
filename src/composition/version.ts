import packageJson from "../../package.json" with { type: "json" };

/** The version this program goes by. */
export const { version } = packageJson;
