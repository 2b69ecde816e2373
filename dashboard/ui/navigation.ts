import type { IconName } from "./icon";

/** A screen that the navigation names. */
interface Entry {
  path: string;
  label: string;
  icon: IconName;
}

/** The screens that the navigation names, in groups. */
export const NAVIGATION: { title: string; entries: Entry[] }[] = [
  { title: "", entries: [{ path: "/", label: "Overview", icon: "home" }] },
  {
    title: "Events",
    entries: [
      { path: "/sources", label: "Sources", icon: "zap" },
      { path: "/workflows", label: "Workflows", icon: "code" },
      { path: "/subscriptions", label: "Subscriptions", icon: "route" },
      { path: "/map", label: "Map", icon: "share" },
      { path: "/webhooks", label: "Webhooks", icon: "webhook" },
      { path: "/destinations", label: "Destinations", icon: "database" },
      { path: "/agents", label: "Agents", icon: "radio" },
      { path: "/deliveries", label: "Deliveries", icon: "send" },
      { path: "/issues", label: "Issues", icon: "alert" },
      { path: "/queues", label: "Queues", icon: "clock" },
    ],
  },
  {
    title: "Code",
    entries: [
      { path: "/components", label: "Components", icon: "box" },
      { path: "/connections", label: "Connections", icon: "link" },
    ],
  },
  {
    title: "Account",
    entries: [
      { path: "/alerts", label: "Alerts", icon: "bell" },
      { path: "/audit-log", label: "Audit log", icon: "clock" },
      { path: "/usage", label: "Usage", icon: "chart" },
      { path: "/keys", label: "API keys", icon: "key" },
      { path: "/sessions", label: "Sessions", icon: "monitor" },
      { path: "/organization", label: "Organizations", icon: "users" },
      { path: "/help", label: "Help", icon: "info" },
    ],
  },
];
