/** Seeds that found something once, with what it was. They run with every test, whatever its size. */
export const regressions: readonly { readonly seed: string; readonly found: string }[] = [
  { seed: "19", found: "an event left to the sweeper, for a rival's claim of it came to nothing" },
  { seed: "63", found: "a probe beside as many requests as the limit allows" },
  { seed: "130", found: "a failure counted twice in its circuit, for the log's answer was lost" },
  { seed: "150", found: "an attempt given up before its lease was over, for the due index answered late" },
  { seed: "5053", found: "an event that stayed Pending in the read models, for its key began again too early" },
  { seed: "12527", found: "a purge that deleted another event of the same key" },
  { seed: "23990", found: "projecting held up for good, for two of its retries shared one pause" },
  { seed: "33154", found: "a lost probe left standing, for nothing was held" },
  { seed: "33444", found: "a lost attempt counted twice, for two sweeps gave it up at once" },
  { seed: "34060", found: "a probe claimed after the membership was over" },
  { seed: "50974", found: "a purge counted by read models that were just lost" },
  { seed: "60749", found: "a wake-up that came before what it was for, and was taken for nothing" },
  { seed: "100045", found: "a purge that counted what another had taken, for read models were built anew meanwhile" },
  { seed: "120456", found: "failures counted on over a success, for who recorded it died before it ended their count" },
  { seed: "203825", found: "a probe kept waiting by that of an opening which somebody had ended" },
  { seed: "65", found: "an event that came in a pause left to the sweeper, for the due index did not know it yet" },
];
