import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../embedded-store.ts";
import { Disk, library } from "./disk.ts";

/** A folder on a disk of its own, and a program that runs there. */
export interface OwnDisk {
  readonly dataDir: string;
  readonly disk: Disk;
  /** Runs the program with the folder as its argument; `stderr`: where its standard error goes. */
  readonly run: (program: string, stderr?: number | "pipe") => ChildProcess;
}

/** Gives each test of a suite a disk of its own; they are skipped on a machine that cannot mount one. */
export function onOwnDisk(): OwnDisk {
  let folder: ReturnType<typeof temporaryFolder>;
  let dataDir: string;
  let disk: Disk;
  let child: ChildProcess | undefined;
  before(function () {
    if ("missing" in library) this.skip();
  });
  beforeEach(() => {
    folder = temporaryFolder();
    dataDir = join(folder.path, "data");
    mkdirSync(dataDir);
    disk = new Disk(dataDir);
  });
  afterEach(() => {
    child?.kill("SIGKILL");
    disk.close();
    folder.remove();
  });
  return {
    get dataDir() {
      return dataDir;
    },
    get disk() {
      return disk;
    },
    run: (program, stderr = "pipe") => {
      disk.begin();
      child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, dataDir], {
        env: { ...process.env, ...disk.environment }, stdio: ["ignore", "pipe", stderr],
      });
      return child;
    },
  };
}
