import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { needs, useNeeds } from "../api/attention";
import { isReachable } from "../api/client";
import { hadOrgs, me, signOutEverywhere } from "../api/session";
import { BASE, to } from "../lib/address";
import { counted } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { isDark, switchTheme, theme } from "../lib/theme";
import { Button } from "./basics";
import { Confirm } from "./dialog";
import { Select } from "./form";
import { Icon, Logo } from "./icon";
import { NAVIGATION } from "./navigation";
import { Toasts } from "./toasts";
import { leaveNow, leaveThen, useLeaving, waiting } from "./unsaved";

const isWithin = (path: string, entry: string) =>
  entry === "/" ? path === BASE : path === BASE + entry || path.startsWith(`${BASE}${entry}/`);

/** What is around every screen: navigation, account, theme, and the banner while a store is away. */
export function Shell({ find, children }: { find: ComponentChildren; children: ComponentChildren }) {
  const { path } = useLocation();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  useNeeds();
  const invitations = me.value?.invitations ?? 0;
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <div class="topbar">
        <Brand />
        <ThemeButton />
        <Button
          kind="ghost"
          icon={isOpen ? "x" : "menu"}
          label={isOpen ? "Close menu" : "Menu"}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      <div class={`sidebar${isOpen ? " open" : ""}`}>
        <Brand />
        <AccountSwitch />
        <div class="find">{find}</div>
        <nav aria-label="Main">
          {NAVIGATION.map(group => (
            <div key={group.title}>
              {group.title && <div class="nav-title">{group.title}</div>}
              {group.entries.map(entry => (
                <a
                  key={entry.path}
                  class="nav-link"
                  href={to(entry.path)}
                  aria-current={isWithin(path, entry.path) ? "page" : undefined}
                >
                  <Icon name={entry.icon} size={17} />
                  {entry.label}
                  {entry.path === "/issues" && needs.value > 0 && (
                    <span class="needs" title="What needs somebody now">
                      {needs.value}
                    </span>
                  )}
                  {entry.path === "/organization" && invitations > 0 && (
                    <span class="needs" title="Invitations to you">
                      {invitations}
                    </span>
                  )}
                </a>
              ))}
            </div>
          ))}
        </nav>
        <div class="sidebar-end">
          <span class="who" title={me.value?.email}>
            {me.value?.email}
          </span>
          <ThemeButton />
          <Button kind="ghost" isSmall icon="logout" label="Sign out" onClick={signOutEverywhere} />
        </div>
      </div>
      <div class="main">
        {!isReachable.value && (
          <div class="banner" role="alert">
            <Icon name="alert" />
            <span>
              Headwater or one of its stores is away. This page continues by itself once it is back.
            </span>
          </div>
        )}
        {invitations > 0 && !isWithin(path, "/organization") && (
          <div class="banner calm">
            <Icon name="users" />
            <a href={`${BASE}/organization`}>
              {counted(invitations, "invitation")} to an organization {invitations === 1 ? "waits" : "wait"}{" "}
              for you
            </a>
          </div>
        )}
        {children}
      </div>
      <Toasts />
      <LeaveQuestion />
    </div>
  );
}

/** Asked before what was changed is lost. */
function LeaveQuestion() {
  useLeaving();
  if (waiting.value === null) return null;
  return (
    <Confirm
      title="Leave without saving?"
      action="Leave"
      onClose={() => {
        waiting.value = null;
      }}
      onConfirm={leaveNow}
    >
      <p>{waiting.value.loss}</p>
    </Confirm>
  );
}

const Brand = () => (
  <a class="brand" href={to("/")}>
    <Logo />
    Headwater
  </a>
);

function ThemeButton() {
  // Read, so that the icon follows.
  void theme.value;
  const dark = isDark();
  return (
    <Button
      kind="ghost"
      isSmall
      icon={dark ? "sun" : "moon"}
      label={dark ? "Light colours" : "Dark colours"}
      onClick={switchTheme}
    />
  );
}

function AccountSwitch() {
  const { route } = useLocation();
  const user = me.value;
  // Its room is kept until it is known: nothing below it moves then.
  if (user === null ? !hadOrgs() : user.orgs.length === 0) return null;
  const choices = [
    { value: "", label: "Personal account" },
    ...(user?.orgs ?? []).map(org => ({
      value: org.id,
      label: org.role === "viewer" ? `${org.name} (viewer)` : org.name,
    })),
  ];
  const change = (id: string) =>
    leaveThen(() => {
      orgId.value = id || null;
      route(to("/"));
    });
  return (
    <div class="account">
      <Select label="Account" isBare value={orgId.value ?? ""} choices={choices} onChange={change} />
    </div>
  );
}
