/** Seeds that once found a mistake, with its description. They run with every test size. */
export const regressions: readonly { readonly seed: string; readonly found: string }[] = [
  { seed: "19", found: "an event left to the sweeper, because a rival's claim of it failed" },
  { seed: "63", found: "a probe in addition to as many requests as the limit allows" },
  { seed: "130", found: "a failure counted twice in its circuit, because the log's answer was lost" },
  { seed: "150", found: "an attempt given up before the end of its lease, because the due index answered late" },
  { seed: "5053", found: "an event that stayed Pending in the read models, because its key began again too early" },
  { seed: "12527", found: "a purge that deleted another event of the same key" },
  { seed: "23990", found: "a projection stuck for good, because two of its retries shared one pause" },
  { seed: "33154", found: "a lost probe that stayed claimed, because no event was held" },
  { seed: "33444", found: "a lost attempt counted twice, because two sweeps gave it up at once" },
  { seed: "34060", found: "a probe claimed after the membership was over" },
  { seed: "50974", found: "a purge counted in read models that were just lost" },
  { seed: "60749", found: "a wake-up ignored because it came before the fact that caused it" },
  { seed: "100045", found: "a purge that counted events of another purge, because read models were rebuilt meanwhile" },
  { seed: "120456", found: "failures counted across a success, because its worker died before it reset the count" },
  { seed: "203825", found: "a probe kept waiting by the probe of an earlier outage that a person had ended" },
  { seed: "65", found: "an event accepted in a pause left to the sweeper, because the due index did not have it yet" },
];
