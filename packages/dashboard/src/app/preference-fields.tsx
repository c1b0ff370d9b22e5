import type { ReactNode } from "react";
import { usePreferences } from "./preferences.tsx";

/** The controls of the preferences; each applies at once. */
export function PreferenceFields(): ReactNode {
  const { theme, zone, singleKeys, change } = usePreferences();
  return (
    <>
      <label>Theme <select value={theme} onChange={({ target }) => change({ theme: target.value as typeof theme })}>
        <option value="system">as the system</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select></label>
      <label>Times <select value={zone} onChange={({ target }) => change({ zone: target.value as typeof zone })}>
        <option value="UTC">in UTC</option><option value="local">in local time</option>
      </select></label>
      <label>
        Single keys act
        <input type="checkbox" checked={singleKeys} onChange={({ target }) => change({ singleKeys: target.checked })} />
      </label>
    </>
  );
}
