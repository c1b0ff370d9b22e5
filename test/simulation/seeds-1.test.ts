import { describeSeeds } from "./seeds.ts";

describeSeeds(1, 15);
