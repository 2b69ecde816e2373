import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { derive } from "../../deploy/seccomp/derive.mjs";
import { read } from "../docs/repository.ts";
import { programOrSkip } from "../support/skip.ts";

/** Where Debian's package of the containers library puts the default profile; buildah and podman need it. */
const STANDARD = "/usr/share/containers/seccomp.json";
const CLONE_NEWUSER_AND_NEWNET = 0x50000000;

describe("the seccomp profile", () => {
  const profile = JSON.parse(read("deploy/seccomp/headwater.json"));
  const rulesOf = (name: string) =>
    profile.syscalls.filter(({ names }: { names: string[] }) => names.includes(name));

  it("allows a user namespace with a network namespace, and no other", () => {
    expect(rulesOf("unshare")).to.have.length(1);
    expect(rulesOf("unshare")[0].args).to.deep.equal([
      { index: 0, value: CLONE_NEWUSER_AND_NEWNET, valueTwo: 0, op: "SCMP_CMP_EQ" },
    ]);
    const [{ args }] = rulesOf("clone");
    // Newer kinds of namespaces (time, 0x80) share their bit with the exit signal, and can't be made by clone.
    expect(args).to.deep.equal([{ index: 0, value: 0x7e020000, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }]);
    // Its flags are in memory, where a filter can't read them.
    expect(rulesOf("clone3")).to.deep.equal([]);
    expect(rulesOf("setns")).to.deep.equal([]);
  });

  it("allows nothing that mounts, traces, loads code into the kernel, or reads another process", () => {
    for (const name of [
      "mount",
      "pivot_root",
      "ptrace",
      "bpf",
      "kexec_load",
      "init_module",
      "io_uring_setup",
    ]) {
      expect(rulesOf(name), name).to.deep.equal([]);
    }
    for (const name of ["process_vm_readv", "perf_event_open", "keyctl", "open_by_handle_at", "chroot"]) {
      expect(rulesOf(name), name).to.deep.equal([]);
    }
    expect(profile.defaultAction).to.equal("SCMP_ACT_ERRNO");
  });

  it("has no conditions that one of the container engines would ignore", () => {
    for (const rule of profile.syscalls)
      expect(rule).to.have.all.keys("names", "action", ...(rule.args ? ["args"] : []));
  });

  it("is what derive.mjs makes of the default of this machine's container tools", async function () {
    const find = () => (existsSync(STANDARD) ? STANDARD : undefined);
    await programOrSkip(this, "golang-github-containers-common", { find });
    const standard = JSON.parse(readFileSync(STANDARD, "utf8"));
    // Another version of the default may know further calls; what they have in common is the same.
    const derived = derive(standard).syscalls;
    expect(derived.slice(-2)).to.deep.equal(profile.syscalls.slice(-2));
    const allowed = new Set(profile.syscalls.flatMap(({ names }: { names: string[] }) => names));
    const added = derived
      .flatMap(({ names }: { names: string[] }) => names)
      .filter(name => !allowed.has(name));
    expect(added.length).to.be.below(30);
  });
});
