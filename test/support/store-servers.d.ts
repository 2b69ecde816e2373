// Types for the parts of script/lib that tests of outages use, beside test/script/script-lib.d.ts.
declare module "*/script/lib/mongod.mjs" {
  export function mongodProgram(given: { root: string; say(text: string): void }): Promise<string>;
  export function mongodBuild(given: { root: string; why: string; say(text: string): void }): Promise<string>;
}

declare module "*/script/lib/mongo.mjs" {
  export function mongoKind(given: { program: string; firstPort: number; root: string }): {
    name: string;
    args(given: { port: number; data: string; pidFile: string; logFile: string }): string[];
    isUp(port: number): Promise<boolean>;
  };
  export function ensurePrimary(port: number, root: string): Promise<void>;
}
