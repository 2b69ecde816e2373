import { statSync } from "node:fs";
import { Ajv2019 } from "ajv/dist/2019.js";
import { expect } from "chai";
import { parse } from "yaml";
import { settingNames } from "../../src/setting-schema.ts";
import { read } from "../docs/repository.ts";
import { compose, deployPath } from "./files.ts";

/** Of docker-compose 1.29.2 (Apache-2.0), from the Debian package of that name: `compose/config/compose_spec.json`. */
const { $schema: _itsDialect, ...SCHEMA } = JSON.parse(
  read("test/deploy/compose-spec.json"),
  // Names of its parts from an older draft, which Ajv rejects.
  (key, value) => (key === "id" && typeof value === "string" ? undefined : value),
) as Record<string, unknown>;

function faultsOf(value: unknown): string[] {
  // Its durations are those of Docker (5s), not those that JSON Schema means.
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(SCHEMA);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe("deploy/compose.yaml", () => {
  const { services } = compose();

  it("is valid by the schema of Compose", () => {
    // The project's name is newer than this schema.
    const { name, ...rest } = compose() as { name?: unknown } & ReturnType<typeof compose>;
    expect(name).to.equal("headwater");
    const known = Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith("x-")));
    expect(faultsOf(known)).to.deep.equal([]);
    expect(faultsOf({ services: { web: { comand: ["web"] } } })).to.have.length(1);
  });

  it("starts no process before the migration, and the migration not before the stores accept writes", () => {
    for (const name of ["web", "workers"]) {
      expect(services[name]?.depends_on, name).to.deep.equal({
        migrate: { condition: "service_completed_successfully" },
        redis: { condition: "service_healthy" },
        mongo: { condition: "service_healthy" },
      });
    }
    expect(services.migrate?.depends_on).to.deep.equal({
      secrets: { condition: "service_completed_successfully" },
      redis: { condition: "service_healthy" },
      mongo: { condition: "service_healthy" },
    });
    expect(services.migrate?.restart).to.equal("no");
  });

  it("makes the first user once the web process works, and keeps its key from all others", () => {
    expect(services["first-user"]).to.deep.include({
      restart: "no",
      networks: ["inside"],
      depends_on: { web: { condition: "service_healthy" } },
    });
    const withKey = Object.entries(services).filter(([, { volumes = [] }]) =>
      (volumes as string[]).some(volume => volume.startsWith("first-user:")),
    );
    expect(withKey.map(([name]) => name)).to.deep.equal(["first-user"]);
  });

  it("runs Redis with a file of its writes and without eviction, and MongoDB as a replica set", () => {
    expect(services.redis?.command?.join(" ")).to.match(/--appendonly yes .*--maxmemory-policy noeviction/);
    expect(services.mongo?.command?.join(" ")).to.match(/--replSet rs0/);
    expect(JSON.stringify(services.mongo?.healthcheck)).to.include("rs.initiate");
  });

  it("gives no process privileges, and shows the stores to nobody outside", () => {
    for (const name of ["web", "workers", "migrate"]) {
      const service = services[name];
      expect(service?.cap_drop, name).to.deep.equal(["ALL"]);
      expect(service?.read_only, name).to.equal(true);
      expect(service?.security_opt, name).to.include("no-new-privileges:true");
    }
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.not.have.any.keys("privileged", "cap_add", "devices");
      const ports = (service.ports ?? []) as string[];
      for (const port of ports) expect(port, name).to.match(/127\.0\.0\.1/);
    }
    for (const name of ["redis", "mongo"]) {
      expect(services[name]).to.not.have.property("ports");
      expect(services[name]?.networks).to.deep.equal(["inside"]);
    }
  });

  it("passes on every setting that the operator may choose, and no value for one that is not chosen", () => {
    // The image's own, and the token that Prometheus reads from the volume.
    const fixed = ["HOST", "PORT", "WORKER_PORT", "CACHE_DIR", "METRICS_TOKEN"];
    const env = services.web?.environment ?? {};
    expect(Object.keys(env)).to.include.members(settingNames.filter(name => !fixed.includes(name)));
    for (const name of fixed) expect(env).not.to.have.property(name);
    const values = Object.values(env).filter(value => value !== null);
    expect(values.every(value => !/^\$\{\w+\}$/.test(String(value)))).to.equal(true);
  });

  it("mounts files that are there", () => {
    const mounted = Object.values(services)
      .flatMap(({ volumes = [] }) => volumes as string[])
      .map(volume => volume.split(":")[0] ?? "")
      .filter(path => path.startsWith("./"));
    expect(mounted).to.have.length(4);
    for (const path of mounted) expect(statSync(deployPath(path)), path).to.be.an("object");
    expect(services.web?.security_opt).to.include("seccomp:seccomp/headwater.json");
    expect(statSync(deployPath("seccomp/headwater.json")).isFile()).to.equal(true);
  });

  it("has Prometheus scrape every process, with the token", () => {
    const { scrape_configs } = parse(read("deploy/compose/prometheus.yml")) as {
      scrape_configs: { authorization: object; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const [{ authorization, dns_sd_configs } = { authorization: {}, dns_sd_configs: [] }] = scrape_configs;
    expect(authorization).to.deep.equal({ credentials_file: "/run/secrets/headwater/METRICS_TOKEN" });
    const ports = Object.fromEntries(
      dns_sd_configs.flatMap(({ names, port }) => names.map(name => [name, port])),
    );
    expect(ports).to.include({ web: 3000, workers: 9100 });
  });
});
