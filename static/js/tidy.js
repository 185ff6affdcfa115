// A form's address holds only what was filled in. Works without: empty values are
// ignored by the server.
(() => {
  "use strict";
  const empty = (form) =>
    [...form.elements].filter((field) => field.name && field.value === "");

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-tidy]")) return;
    for (const field of empty(event.target)) field.disabled = true;
  });

  // Back shows the page as it was left, with its fields disabled.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-tidy]")) {
      for (const field of form.elements) field.disabled = false;
    }
  });
})();
