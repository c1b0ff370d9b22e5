import { describeSeeds } from "./seeds.ts";

describeSeeds(16, 30);
