import type { SchemaObject } from "ajv/dist/2020.js";
import type { Inputs } from "../../../schemas/inputs.ts";
import listEvents from "../../../schemas/requests/list-events.json" with { type: "json" };
import searchEvents from "../../../schemas/requests/search-events.json" with { type: "json" };
import { queryReader, readerWithout, scanReader } from "./query-parameters.ts";

/** The filters of the list of events, which searches, exports and totals have, too. */
const { CpOrd: _order, TpOrd: _direction, View: _view, ...eventFilters } = listEvents.properties;

/** Query parameters of a search in payloads. */
export const eventSearchQuery = scanReader<Omit<Inputs["searchEvents"], "Cursor">>(
  { ...searchEvents, properties: { ...searchEvents.properties, ...eventFilters } });

/** Query parameters of totals of events. */
export const eventTotalsQuery: SchemaObject = { type: "object", properties: eventFilters };

/** Query parameters of an export: the filters of the list of events. */
export const eventExportQuery = readerWithout(
  queryReader<Inputs["exportEvents"]>({
    type: "object",
    properties: {
      ...eventFilters,
      Include: {
        type: "array", "x-commas": true, minItems: 1, items: { type: "string", enum: ["attempts", "history"] },
        description: "What each event has beside its own fields: `attempts`, `history`, or both with a comma between.",
      },
    },
  }),
  ["Qt", "Pg", "Cursor", "CpOrd", "TpOrd", "Total", "View"],
  "is not possible here: an export has all events, in order of acceptance",
);
