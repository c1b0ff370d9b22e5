import { actsByRole } from "./roles.ts";

describe("the dashboard's acts by role", () => actsByRole({ Viewer: 20, Admin: 1 }));
