import { describeSeeds } from "./seeds.ts";

describeSeeds(46, 60);
