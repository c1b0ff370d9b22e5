import { describeSeeds } from "./seeds.ts";

describeSeeds(31, 45);
