// What a request of the inference page asks for: filters, links of the table, typed values.
(() => {
  "use strict";
  const view = document.getElementById("view");

  const OF_AXES = ["zoom", "at"];
  const OF_SCENARIO = ["x", "y", "key", "hide", "sort", ...OF_AXES];
  // Parameters that make no sense any more when another one changes.
  const RESETS = {
    scenario: OF_SCENARIO,
    x: OF_AXES,
    y: ["zoom"],
    logx: ["zoom"],
    logy: ["zoom"],
    date: ["asof_run"],
    asof_run: ["date"],
  };

  // A link of the table changes one parameter of the address as it is by now.
  const withOwn = ({ href, dataset: { sets } }) => {
    const query = new URLSearchParams(window.location.search);
    query.set(sets, new URL(href).searchParams.get(sets));
    return `?${query}`;
  };

  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters, triggeringEvent } = event.detail;
    // What changed in the address without a request is asked for as well.
    if (elt.id === "asked") event.detail.path = window.location.href;
    else if (elt.dataset.sets) event.detail.path = withOwn(elt);
    const changed = triggeringEvent && triggeringEvent.target && triggeringEvent.target.name;
    // The server knows what of the query another model has.
    if (changed === "model") event.detail.headers["X-Changed"] = "model";
    for (const name of RESETS[changed] || []) delete parameters[name];
    for (const name of Object.keys(parameters)) {
      if (parameters[name] === "") delete parameters[name];
    }
  });

  // A ranking alone would take the place of the view that is on its way: ask for both.
  document.addEventListener("change", (event) => {
    const { target } = event;
    if (target.id !== "ranking-at" || !view.hasAttribute("aria-busy")) return;
    event.stopPropagation();
    target.form.requestSubmit();
  }, true);

  // What only helps to find a choice asks nothing of the server.
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-local]")) event.stopPropagation();
  }, true);

  // Enter means "changed"; submitting as well would ask twice.
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isTyped = target.matches("input:not([type=checkbox], [type=search])");
    if (key !== "Enter" || !isTyped || !target.form || target.form.id !== "filters") return;
    event.preventDefault();
    target.blur();
    target.focus();
  });
})();
