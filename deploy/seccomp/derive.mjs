// Makes headwater.json from the default profile of containers:
//
//   node deploy/seccomp/derive.mjs /usr/share/containers/seccomp.json > deploy/seccomp/headwater.json
//
// The default there (Debian's golang-github-containers-common, Apache-2.0, https://github.com/containers/common) lets a process
// of a container make namespaces of every kind and mount in them. Docker's lets it make none, so that sandboxes would have no
// network namespace of their own. This one lets it make just what a sandbox is made of.
import { readFileSync } from "node:fs";

/** What `unshare --user --net` asks for, and nothing beside it. */
const CLONE_NEWUSER = 0x1000_0000;
const CLONE_NEWNET = 0x4000_0000;
/** The flags of all kinds of namespaces. */
const CLONE_NAMESPACES = 0x7e02_0000;
const ENOSYS = 38;

/** Allowed by the default, and useful only to a program that prepares containers, or to an attacker. */
const LEFT_OUT = [
  ...[
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "mount",
    "mount_setattr",
    "move_mount",
    "open_tree",
    "pivot_root",
  ],
  ...["umount", "umount2", "setns", "unshare", "clone", "clone3", "quotactl", "quotactl_fd", "reboot"],
  ...[
    "sethostname",
    "setdomainname",
    "swapoff",
    "swapon",
    "name_to_handle_at",
    "add_key",
    "keyctl",
    "request_key",
  ],
  ...[
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "userfaultfd",
    "vmsplice",
    "nfsservctl",
  ],
  ...["io_uring_enter", "io_uring_register", "io_uring_setup", "_sysctl", "sysfs", "ustat", "uselib"],
];

const ARCHITECTURES = ["amd64", "arm64"];

/** Whether a rule is for a process without capabilities, on one of these architectures. */
function isOurs({ includes = {}, excludes = {}, action }) {
  if (action !== "SCMP_ACT_ALLOW" || includes.caps?.length || excludes.arches?.length) return false;
  return !includes.arches || includes.arches.some(arch => ARCHITECTURES.includes(arch));
}

/** Returns the profile, without conditions on capabilities: containerd knows none, and would allow what they guard. */
export function derive(standard) {
  const kept = standard.syscalls
    .filter(isOurs)
    .map(({ names, action, args }) => ({
      names: names.filter(name => !LEFT_OUT.includes(name)),
      action,
      ...(args?.length && { args }),
    }))
    .filter(({ names }) => names.length > 0);
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    // As if the kernel did not know the call, so that libraries try an older one.
    defaultErrnoRet: ENOSYS,
    architectures: [
      "SCMP_ARCH_X86_64",
      "SCMP_ARCH_X86",
      "SCMP_ARCH_X32",
      "SCMP_ARCH_AARCH64",
      "SCMP_ARCH_ARM",
    ],
    syscalls: [
      ...kept,
      {
        names: ["clone"],
        action: "SCMP_ACT_ALLOW",
        args: [{ index: 0, value: CLONE_NAMESPACES, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }],
      },
      {
        names: ["unshare"],
        action: "SCMP_ACT_ALLOW",
        args: [{ index: 0, value: CLONE_NEWUSER + CLONE_NEWNET, valueTwo: 0, op: "SCMP_CMP_EQ" }],
      },
    ],
  };
}

const [, program, file] = process.argv;
if (program?.endsWith("derive.mjs")) {
  if (!file) {
    console.error("usage: node deploy/seccomp/derive.mjs DEFAULT.json");
    process.exit(64);
  }
  console.log(JSON.stringify(derive(JSON.parse(readFileSync(file, "utf8"))), undefined, 2));
}
