import { sized } from "../support/size.ts";
import { describeSeeds } from "./seeds.ts";

describeSeeds(61, sized(130, 5_000));
