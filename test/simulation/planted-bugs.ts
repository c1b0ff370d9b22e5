import { asked } from "./planted/asked.ts";
import { decisions } from "./planted/decisions.ts";
import { delivery } from "./planted/delivery.ts";
import { messages } from "./planted/messages.ts";
import type { PlantedBug } from "./planted/planted-bug.ts";
import { shown } from "./planted/shown.ts";

/** Each bug must break its invariant under some seed. */
export const plantedBugs: readonly PlantedBug[] = [...decisions, ...delivery, ...asked, ...shown, ...messages];
