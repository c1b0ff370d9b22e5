import { createClient } from "../../../client/src/index.ts";
import { relayClock } from "./clock.ts";

/** Where this script lies: `<the relay's address>/app/assets/`, whatever path a proxy puts before the relay's own. */
const here = import.meta.url;

/** The relay's address, with a slash at its end. */
export const relayAddress = new URL("../../", here).href;

/** The path under which all pages lie, without a slash at its end. */
export const pagesPath = new URL("../", here).pathname.replace(/\/$/, "");

/** The relay's API. The browser sends the session's cookie by itself. */
export const relay = createClient({
  url: relayAddress,
  fetch: async (...request) => {
    const answer = await fetch(...request);
    relayClock.hear(answer.headers.get("date"));
    return answer;
  },
});
