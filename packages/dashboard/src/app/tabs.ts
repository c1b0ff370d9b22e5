import { relayAddress } from "../api/relay.ts";

const channel = new BroadcastChannel(`relay-caller ${relayAddress}`);

/** Tells the other tabs that somebody has signed in or out in this one. */
export function tellTabs(): void {
  channel.postMessage(null);
}

/** Calls back when somebody has signed in or out in another tab, until the function that it returns is called. */
export function onOtherTab(listener: () => void): () => void {
  channel.addEventListener("message", listener);
  return () => channel.removeEventListener("message", listener);
}
