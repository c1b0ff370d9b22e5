import { useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { usePreferences } from "../../app/preferences.tsx";
import type { Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import { Menu } from "../../parts/menu.tsx";
import type { Targets } from "../../parts/names.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useLoaded, type Loaded } from "../../parts/use-loaded.ts";
import shared from "../../style/shared.module.css";
import { columnsOf } from "./columns.ts";
import styles from "./events.module.css";
import { filterKinds, without, type FilterKind } from "./filter-kinds.ts";

/** A tail shows events as they come; payloads are searched in those that are there. */
const noPayload = { Text: undefined, Pointer: undefined, Value: undefined };

const loadMenus = () => import("./filter-menus.tsx");
type Menus = Awaited<ReturnType<typeof loadMenus>>;

/** A chip for each filter, which opens its menu; then the columns and the saved filters. */
export function FilterBar({ search, targets }: { readonly search: Search; readonly targets: Targets }): ReactNode {
  const may = useMay();
  const change = useChange();
  const { zone } = usePreferences();
  const [added, setAdded] = useState<string>();
  const menus = useLoaded(loadMenus);
  const known = filterKinds.filter(({ needs }) => needs === undefined || may(needs));
  const words = { nameOf: targets.nameOf, zone };
  const isShown = (kind: FilterKind) =>
    kind.isUsual === true || kind.title === added || kind.text(search, words) !== undefined;
  const hidden = known.filter((kind) => !isShown(kind));
  const columns = columnsOf(search).length;
  const isTail = search["tail"] === "on";
  return (
    <search className={styles.filters}>
      {known.filter(isShown).map((kind) => {
        const text = kind.text(search, words);
        return (
          <span key={kind.title} className={styles.chip} data-set={text !== undefined}>
            <Menu
              name={kind.title} startsOpen={kind.title === added} onClose={() => setAdded(undefined)}
              title={text === undefined ? kind.title
                : <>{kind.title} <span className={styles.chosenText} title={text}>{text}</span></>}
            >
              {(close) => (
                <Content menus={menus}>
                  {({ FilterMenu }) => (
                    <FilterMenu kind={kind} search={search} change={change} targets={targets} close={close} />
                  )}
                </Content>
              )}
            </Menu>
            {text !== undefined && (
              <button
                type="button" className={shared.plain} aria-label={`Remove the filter ${kind.title}`}
                onClick={() => change(without(kind))}
              >
                <Icon of={icons.x} size={14} />
              </button>
            )}
          </span>
        );
      })}
      {hidden.length > 0 && (
        <span className={styles.chip}>
          <Menu name="More filters" title={<><Icon of={icons.plus} size={14} /> Filter</>}>
            {(close) => hidden.map(({ title }) => (
              <button key={title} type="button" className={styles.choice} onClick={() => {
                close();
                setAdded(title);
              }}>{title}</button>
            ))}
          </Menu>
        </span>
      )}
      {known.some((kind) => kind.text(search, words) !== undefined) && <ClearFilters />}
      <span className={styles.tools}>
        {may("followStream") && (
          <button
            type="button" className={shared.plain} aria-pressed={isTail}
            onClick={() => change({ ...noPayload, tail: isTail ? undefined : "on" })}
          >
            <Icon of={icons.play} /> Tail
          </button>
        )}
        {may("getEvent") && (
          <Menu
            name="Columns" className={shared.plain}
            title={<><Icon of={icons.columns2} /> Columns{columns > 0 && ` (${columns})`}</>}
          >
            {() => <Content menus={menus}>{({ ColumnChoice }) => <ColumnChoice />}</Content>}
          </Menu>
        )}
        {may("listViews") && (
          <Menu name="Saved filters" className={shared.plain} title={<><Icon of={icons.bookmark} /> Saved filters</>}>
            {(close) => (
              <Content menus={menus}>
                {({ SavedFiltersMenu }) => <SavedFiltersMenu search={search} close={close} />}
              </Content>
            )}
          </Menu>
        )}
      </span>
    </search>
  );
}

function Content({ menus: { module, error }, children }: {
  readonly menus: Loaded<Menus>; readonly children: (menus: Menus) => ReactNode;
}): ReactNode {
  if (module) return children(module);
  return error === undefined ? <Loading lines={3} /> : <Failure error={error} />;
}

/** Takes every filter out of the address. */
export function ClearFilters(): ReactNode {
  const search = useSearch({ from: "/signed-in/events" });
  const change = useChange();
  const set = filterKinds.flatMap(({ names }) => names).filter((name) => Object.hasOwn(search, name));
  const none = Object.fromEntries(set.map((name) => [name, undefined]));
  return <button type="button" className={shared.plain} onClick={() => change(none)}>Clear filters</button>;
}
