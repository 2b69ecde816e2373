import { Session } from "node:inspector/promises";
import { writeFileSync } from "node:fs";
const s = new Session();
before(async () => { s.connect(); await s.post("Profiler.enable"); await s.post("Profiler.setSamplingInterval", { interval: 500 }); await s.post("Profiler.start"); });
after(async () => { const { profile } = (await s.post("Profiler.stop")) as any; writeFileSync("/tmp/hb/in.cpuprofile", JSON.stringify(profile)); });
await import("./contract/rest-api-input.test.ts");
