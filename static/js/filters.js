// Filters apply as they change; the address stays short. Works without: the form has
// its own button.
(() => {
  "use strict";
  const form = document.querySelector("[data-filters]");
  const rail = document.querySelector("[data-rail]");
  if (!form) return;

  const narrow = window.matchMedia("(max-width: 800px)");
  const fold = () => {
    rail.open = !narrow.matches;
  };
  fold();
  narrow.addEventListener("change", fold);

  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-resets]")) {
      // Another model or scenario has other keys, precisions and default axes.
      for (const box of form.querySelectorAll("input:checked")) box.checked = false;
      for (const axis of form.querySelectorAll("[name=x], [name=y]")) axis.disabled = true;
      if (event.target.name === "model") form.elements.scenario.disabled = true;
    }
    form.requestSubmit();
  });
})();
