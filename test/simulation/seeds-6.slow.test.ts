import { sized } from "../support/size.ts";
import { describeSeeds } from "./seeds.ts";

describeSeeds(sized(131, 5_001), sized(200, 10_000));
