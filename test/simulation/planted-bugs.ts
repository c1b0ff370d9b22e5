import { decisions } from "./planted/decisions.ts";
import { delivery } from "./planted/delivery.ts";
import { asked } from "./planted/asked.ts";
import { shown } from "./planted/shown.ts";
import type { PlantedBug } from "./planted/planted-bug.ts";

/** Each of them must break an invariant under some seed. */
export const plantedBugs: readonly PlantedBug[] = [...decisions, ...delivery, ...asked, ...shown];
