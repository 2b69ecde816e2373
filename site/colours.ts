// Before the first paint, the colours that were chosen here or in the dashboard (dashboard/lib/theme.ts); else those of the system.
{
  const chosen = localStorage.getItem("headwater-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
