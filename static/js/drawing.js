// Lets the chart come before the table below it, which is laid out once it is drawn.
(() => {
  "use strict";
  const LONGEST_MS = 1500; // where scripts are slow to come, the table is there first
  const root = document.documentElement;
  const show = () => root.classList.remove("is-drawing");
  root.classList.add("is-drawing");
  window.setTimeout(show, LONGEST_MS);
  document.addEventListener("chartdrawn", show);
})();
