import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { CATALOGUE } from "../../src/metrics/catalogue.ts";
import { consumedQueues } from "../../src/queues/index.ts";
import { queuePrefix } from "../../src/queues/open-queues.ts";
import { type Manifest, podProcesses } from "./files.ts";
import { build, buildWith, needKubectl } from "./kustomize.ts";

const podOf = ({ spec }: Manifest) => spec.template.spec;
const ofKind = (manifests: Manifest[], ...kinds: string[]) =>
  manifests.filter(({ kind }) => kinds.includes(kind));

describe("the manifests for Kubernetes", () => {
  before(function () {
    needKubectl(this);
  });

  for (const overlay of ["small", "large"]) {
    describe(`of the overlay ${overlay}`, () => {
      let manifests: Manifest[];
      before(() => {
        manifests = build(`overlays/${overlay}`);
      });

      it("run every process as a user without privileges, on files that can't be changed", () => {
        for (const manifest of ofKind(manifests, "Deployment", "Job")) {
          const { name } = manifest.metadata;
          const pod = podOf(manifest);
          expect(pod.securityContext, name).to.include({ runAsNonRoot: true, runAsUser: 1000 });
          expect(pod.securityContext.seccompProfile.type, name).to.not.equal("Unconfined");
          expect(pod, name).to.include({ automountServiceAccountToken: false, enableServiceLinks: false });
          const [{ securityContext }] = pod.containers;
          expect(securityContext, name).to.deep.equal({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          });
        }
      });

      it("give every process the settings, the secrets and the two folders that it writes to", () => {
        const settings = manifests.find(({ kind }) => kind === "ConfigMap")?.metadata.name;
        for (const manifest of ofKind(manifests, "Deployment", "Job")) {
          const pod = podOf(manifest);
          const [container] = pod.containers;
          expect(container.envFrom).to.deep.equal([{ configMapRef: { name: settings } }]);
          const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
          expect(mounts).to.have.members(["/run/secrets/headwater", "/tmp", "/var/lib/headwater"]);
          expect(container.image, "an image with a version").to.match(/:\d/);
        }
      });

      it("probe each process on its own port, and end none because a store is away", () => {
        for (const manifest of ofKind(manifests, "Deployment")) {
          const [container] = podOf(manifest).containers;
          const [{ name, containerPort }] = container.ports;
          const isWeb = manifest.metadata.name === "headwater-web";
          expect([name, containerPort]).to.deep.equal(isWeb ? ["http", 3000] : ["worker", 9100]);
          expect(container.livenessProbe.httpGet).to.deep.equal({ path: "/healthz", port: name });
          expect(container.startupProbe.httpGet).to.deep.equal({ path: "/healthz", port: name });
          expect(container.readinessProbe.httpGet).to.deep.equal({ path: "/readyz", port: name });
        }
      });

      it("select the pods that they are for", () => {
        const pods = ofKind(manifests, "Deployment", "StatefulSet").map(
          ({ spec }) => spec.template.metadata.labels,
        );
        const selectors = manifests.flatMap(({ kind, spec }) => {
          if (kind === "Service") return [spec.selector];
          return ["Deployment", "StatefulSet", "PodDisruptionBudget"].includes(kind)
            ? [spec.selector.matchLabels]
            : [];
        });
        for (const selector of selectors) {
          const found = pods.filter(labels =>
            Object.entries(selector).every(([name, value]) => labels[name] === value),
          );
          expect(found, JSON.stringify(selector)).to.have.length(1);
        }
      });
    });
  }

  it("leave room in a runs pod for its sandboxes, and for packages beside the cache", () => {
    const runs = build("overlays/large").find(({ metadata }) => metadata.name === "headwater-runs");
    const pod = runs && podOf(runs);
    const packages = pod.volumes.find(({ name }: { name: string }) => name === "packages");
    const gigabytes = Number(/^(\d+)Gi$/.exec(packages.emptyDir.sizeLimit)?.[1]);
    expect(gigabytes * 2 ** 30).to.be.above(LIMITS.packageCacheBytes.value);
    expect(pod.containers[0].resources.limits.memory).to.equal("4Gi");
  });

  it("give the Prometheus operator the labels by which rules and board find a process", () => {
    const monitor = build("overlays/large").find(({ kind }) => kind === "PodMonitor");
    const endpoints: { relabelings: object[] }[] = monitor?.spec.podMetricsEndpoints;
    expect(endpoints).to.have.length(2);
    for (const { relabelings } of endpoints) {
      expect(relabelings).to.deep.equal([
        { targetLabel: "job", replacement: "headwater" },
        { sourceLabels: ["__meta_kubernetes_pod_label_headwater_process"], targetLabel: "process" },
      ]);
    }
  });

  it("run a deployment for each queue in the large overlay", () => {
    const commands = podProcesses("large", build("overlays/large")).map(({ command }) => command.join(" "));
    expect(commands).to.have.members(["web", "release", ...consumedQueues.map(({ name }) => name)]);
  });

  it("scale deployments that exist, by a metric that exists for their queue", () => {
    const manifests = build("overlays/large");
    const deployments = ofKind(manifests, "Deployment").map(({ metadata }) => metadata.name);
    const scaled = ofKind(manifests, "ScaledObject");
    expect(scaled).to.have.length(3);
    for (const { spec } of scaled) {
      const target = spec.scaleTargetRef.name;
      expect(deployments).to.include(target);
      const [{ type, metadata }] = spec.triggers;
      expect(type).to.equal("prometheus");
      const [, metric, label] = /^max\(headwater_(\w+)\{queue="([\w-]+)"\}\)$/.exec(metadata.query) ?? [];
      expect(Object.keys(CATALOGUE)).to.include(metric);
      expect(`headwater-${label}`).to.equal(target);
      // Otherwise an absent metric would count as an age of 0.
      expect(metadata.ignoreNullValues).to.equal("false");
    }
  });

  it("name the list of each queue's jobs as BullMQ does, where they scale by it", () => {
    const scaled = ofKind(buildWith("scale-by-list"), "ScaledObject");
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name)).to.have.members([
      "headwater-runs",
      "headwater-emissions",
      "headwater-deliveries",
    ]);
    for (const { spec } of scaled) {
      const queue = spec.scaleTargetRef.name.replace("headwater-", "");
      const [{ metadata }] = spec.triggers;
      expect(metadata.listName).to.equal(`${queuePrefix("headwater", queue)}:${queue}:wait`);
    }
  });

  it("have each rung of the sandbox as a component, for the processes with sandboxes only", () => {
    const rungOf = (manifests: Manifest[]) =>
      Object.fromEntries(ofKind(manifests, "Deployment").map(one => [one.metadata.name, podOf(one)]));
    const seccomp = rungOf(buildWith("seccomp"));
    const namespaces = rungOf(buildWith("user-namespaces"));
    // The web process tries components, and deliveries runs functions and actions.
    for (const name of ["headwater-web", "headwater-runs", "headwater-deliveries"]) {
      const profile = { type: "Localhost", localhostProfile: "headwater.json" };
      expect(seccomp[name].securityContext.seccompProfile, name).to.deep.equal(profile);
      const pod = namespaces[name];
      expect(pod, name).to.include({ hostUsers: false });
      expect(pod.securityContext, name).to.include({ runAsUser: 0 });
      expect(pod.containers[0].securityContext.capabilities.add, name).to.include("SYS_ADMIN");
    }
    for (const name of ["headwater-emissions", "headwater-deletions"]) {
      expect(seccomp[name].securityContext.seccompProfile, name).to.deep.equal({ type: "RuntimeDefault" });
      expect(namespaces[name], name).to.not.have.property("hostUsers");
      expect(namespaces[name].securityContext, name).to.include({ runAsUser: 1000 });
    }
  });
});
