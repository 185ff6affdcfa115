// Light or dark: the system decides until the reader does; the choice is remembered.
(() => {
  "use strict";
  const KEY = "frontierboard-theme";
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  const remembered = () => {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null; // storage is refused in some private windows
    }
  };

  const remember = (theme) => {
    try {
      window.localStorage.setItem(KEY, theme);
    } catch {
      // the choice then holds for this page only
    }
  };

  const shown = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const announce = () =>
    document.dispatchEvent(new CustomEvent("themechange", { detail: shown() }));

  const stored = remembered();
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  root.classList.add("has-script");
  // What can be copied is known before anything is shown: see tables.js.
  if (navigator.clipboard) root.dataset.clipboard = "";
  system.addEventListener("change", announce);

  document.addEventListener("DOMContentLoaded", () => {
    const toggle = document.querySelector("[data-theme-toggle]");
    const label = document.querySelector("[data-theme-label]");
    if (!toggle || !label) return;
    const say = () => {
      label.textContent = shown() === "dark" ? "Use light colours" : "Use dark colours";
    };
    say();
    toggle.hidden = false;
    toggle.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      remember(root.dataset.theme);
      say();
      announce();
    });
  });
})();
