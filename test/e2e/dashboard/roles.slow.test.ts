import { actsByRole } from "./roles.ts";

describe("the dashboard's acts by each other role", () => actsByRole({ Developer: 0, Owner: 10 }));
