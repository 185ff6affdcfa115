// Ties filters, legend, cursor, table and address of the inference page together.
(() => {
  "use strict";
  const { Chart, Cursor } = window.Frontierboard;
  const LATE = 150; // ms after which waiting is shown
  const view = document.getElementById("view");
  let chart = null;
  let cursor = null;

  const all = (selector) => [...view.querySelectorAll(selector)];
  const one = (selector) => view.querySelector(selector);
  const items = () => all(".legend-item");

  // The address is the whole state; what changes without a request is kept there too.
  const keepInAddress = (change) => {
    const query = new URLSearchParams(window.location.search);
    change(query);
    const text = query.toString();
    window.history.replaceState(window.history.state, "", text ? `?${text}` : window.location.pathname);
  };

  // Filters

  const bindSearch = (input, entries) => {
    if (!input) return;
    input.hidden = entries.length < 6;
    const find = () => {
      const text = input.value.trim().toLowerCase();
      for (const entry of entries) {
        entry.hidden = !entry.textContent.toLowerCase().includes(text);
      }
    };
    input.addEventListener("input", find);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
  };

  // Waiting and failing

  let waiting = 0;
  const wait = (target) => {
    // What is asked for every few seconds is no waiting.
    if (!target || target.id === "asked" || one("#awaited")) return;
    if (!view.contains(target) && target !== view) return;
    target.setAttribute("aria-busy", "true");
    waiting = window.setTimeout(() => view.classList.add("is-late"), LATE);
  };
  const rest = () => {
    window.clearTimeout(waiting);
    view.classList.remove("is-late");
    for (const busy of [view, ...all("[aria-busy]")]) busy.removeAttribute("aria-busy");
  };
  document.addEventListener("htmx:beforeRequest", (event) => wait(event.detail.target));
  document.addEventListener("htmx:afterRequest", rest);
  document.addEventListener("htmx:historyCacheMiss", () => wait(view));

  const note = document.querySelector("[data-failed]");
  const fail = (reason) => {
    note.querySelector("[data-failed-reason]").textContent = reason;
    note.hidden = false;
  };
  document.addEventListener("htmx:responseError", (event) =>
    fail(`It said ${event.detail.xhr.status}.`));
  document.addEventListener("htmx:sendError", () => fail("It could not be reached."));
  document.addEventListener("htmx:timeout", () => fail("It took too long."));
  document.addEventListener("htmx:historyCacheMissLoadError", () => window.location.reload());
  note.querySelector("[data-retry]").addEventListener("click", () => {
    const form = one("[data-filters]");
    if (form) form.requestSubmit();
  });

  // Cursor and ranking

  const atNow = () => {
    const input = one("#ranking-at");
    return input && Number(input.value) > 0 ? Number(input.value) : null;
  };

  const rank = (at) => {
    const input = one("#ranking-at");
    if (!input || input.value === String(at)) return;
    input.value = String(at);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };

  // Legend

  const keepHidden = () => {
    for (const item of items()) {
      const kept = item.querySelector("input[name=hide]");
      const isOff = chart.hidden.has(item.dataset.key);
      if (kept && !isOff) kept.remove();
      if (kept || !isOff) continue;
      const input = document.createElement("input");
      input.type = "hidden";
      input.name = "hide";
      input.setAttribute("form", "filters");
      input.value = item.dataset.key;
      item.append(input);
    }
    keepInAddress((query) => {
      query.delete("hide");
      for (const key of [...chart.hidden].sort()) query.append("hide", key);
    });
  };

  const showState = () => {
    for (const item of items()) {
      const off = chart.hidden.has(item.dataset.key);
      item.querySelector("button").setAttribute("aria-pressed", String(!off));
    }
    for (const row of all("#points tr[data-key]")) {
      row.classList.toggle("is-hidden", chart.hidden.has(row.dataset.key));
    }
    one("[data-show-all]").hidden = chart.hidden.size === 0;
  };

  const changeHidden = (change) => {
    const before = [...chart.hidden].sort().join();
    change(chart.hidden);
    showState();
    chart.refresh();
    if ([...chart.hidden].sort().join() === before) return;
    keepHidden();
    if (atNow() !== null) window.htmx.trigger("#ranking-at", "change");
  };

  const isolate = (key) =>
    changeHidden((hidden) => {
      hidden.clear();
      for (const item of items()) if (item.dataset.key !== key) hidden.add(item.dataset.key);
    });

  const bindOverlays = () => {
    for (const item of all(".legend-overlay")) {
      item.addEventListener("mouseenter", () => chart.dimOthers(item.dataset.key));
      item.addEventListener("mouseleave", () => chart.dimOthers(null));
    }
  };

  const bindLegend = () => {
    for (const item of items()) {
      const { key } = item.dataset;
      const button = item.querySelector("button");
      button.addEventListener("click", () =>
        changeHidden((hidden) => hidden.delete(key) || hidden.add(key)));
      button.addEventListener("dblclick", () => isolate(key));
      item.addEventListener("mouseenter", () => chart.dimOthers(key));
      item.addEventListener("mouseleave", () => chart.dimOthers(null));
      button.addEventListener("focus", () => {
        if (button.matches(":focus-visible")) chart.dimOthers(key);
      });
      button.addEventListener("blur", () => chart.singled && chart.dimOthers(null));
    }
    one("[data-show-all]").addEventListener("click", () =>
      changeHidden((hidden) => hidden.clear()));
    one("[data-legend-hint]").hidden = items().length < 2;
    bindSearch(one("[data-legend-search]"), items());
  };

  // Table

  const lightRow = (point, on) => {
    const row = one(`tr[data-point="${point.customdata[0]}"]`);
    if (row) row.classList.toggle("is-lit", on);
  };

  // Where plotly has a point, undefined where the table alone has it.
  const placeOf = (id) => {
    for (const [curveNumber, { customdata }] of chart.figure.data.entries()) {
      const pointNumber = customdata.findIndex((facts) => String(facts[0]) === id);
      if (pointNumber >= 0) return { curveNumber, pointNumber };
    }
    return undefined;
  };

  const bindHover = (drawn) => {
    drawn.plot.on("plotly_hover", (event) => event.points.forEach((p) => lightRow(p, true)));
    drawn.plot.on("plotly_click", (event) => {
      const row = one(`tr[data-point="${event.points[0].customdata[0]}"]`);
      const link = row && row.querySelector('a[href^="/points/"]');
      if (link) window.location.assign(link.href);
    });
    drawn.plot.on("plotly_unhover", (event) => event.points.forEach((p) => lightRow(p, false)));
  };

  // The row that the mouse is on tells of its point in the chart.
  let pointed = null;
  const point = (row) => {
    if (row === pointed) return;
    if (pointed && cursor) window.Plotly.Fx.unhover(chart.plot);
    pointed = row;
    const place = row && cursor && placeOf(row.dataset.point); // none before it is drawn
    if (place) window.Plotly.Fx.hover(chart.plot, [place]);
  };
  view.addEventListener("mouseover", (event) => point(event.target.closest("tr[data-point]")));
  view.addEventListener("mouseleave", () => point(null));

  // Zoom and exports

  const showZoom = () => {
    const isZoomed = Boolean(one("[data-zoom]").value);
    one("[data-reset-zoom]").hidden = !isZoomed;
  };

  const keepZoom = (ranges) => {
    const text = ranges ? ranges.map((end) => Number(end.toPrecision(4))).join(",") : "";
    one("[data-zoom]").value = text;
    keepInAddress((query) => (text ? query.set("zoom", text) : query.delete("zoom")));
    showZoom();
  };

  const resetZoom = () => {
    for (const axis of [chart.figure.layout.xaxis, chart.figure.layout.yaxis]) {
      delete axis.range;
      delete axis.autorange;
    }
    keepZoom(null);
    return window.Plotly.relayout(chart.plot, { "xaxis.autorange": true, "yaxis.autorange": true });
  };

  const bindZoom = (drawn) => {
    drawn.plot.on("plotly_relayout", (change) => {
      const isZoom = Object.keys(change).some((name) => name.includes(".range["));
      if (isZoom) keepZoom(drawn.ranges());
      if (cursor && cursor.chart === drawn) cursor.show();
    });
    drawn.plot.on("plotly_doubleclick", resetZoom);
    one("[data-reset-zoom]").addEventListener("click", resetZoom);
    showZoom();
  };

  const bindExports = (drawn) => {
    for (const button of all("[data-export]")) {
      button.hidden = false;
      button.addEventListener("click", () =>
        drawn.save(button.dataset.export, atNow(), drawn.holder.dataset.filename));
    }
  };

  // Downloads show what is shown, also after the address changed without a request.
  view.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-follows]");
    if (link) link.search = window.location.search;
  });

  // The view comes and goes; the page stays.

  let height = 0;
  new ResizeObserver(([entry]) => {
    height = entry.borderBoxSize[0].blockSize;
  }).observe(view);

  // What a view that goes hands on to the next one.
  let left = { isOpen: false, focus: "" };
  const refocus = () => {
    const found = left.focus && document.getElementById(left.focus);
    if (found && document.activeElement === document.body) {
      found.focus({ preventScroll: true });
    }
  };

  const leave = () => {
    const fold = one("[data-fold]");
    const { activeElement } = document;
    left = {
      isOpen: Boolean(fold && fold.open),
      focus: view.contains(activeElement) ? activeElement.id : "",
    };
    // Who has scrolled down stays there until the table is back.
    view.style.minHeight = `${height}px`;
    if (chart) window.Plotly.purge(chart.plot);
    chart = null;
    cursor = null;
  };

  // A table has more elements than all else; the chart does not wait for them.
  const placeTable = () => {
    const later = one("[data-later]");
    if (later) {
      const table = later.querySelector("template").content.firstElementChild;
      later.replaceWith(table);
      window.htmx.process(table);
    }
    view.style.minHeight = "";
    document.dispatchEvent(new Event("chartdrawn"));
    if (chart) showState();
    refocus();
  };

  // Waits for a frame that shows what is in the page by now.
  const shown = () =>
    new Promise((resolve) => {
      window.requestAnimationFrame(() => window.setTimeout(resolve));
    });

  const enter = async ({ isChange = false } = {}) => {
    note.hidden = true;
    const fold = one("[data-fold]");
    if (fold) fold.open = left.isOpen;
    refocus(); // htmx could not while the filters were closed
    bindSearch(one("[data-key-search]"), all(".key-list .check"));
    const holder = one("[data-figure]");
    if (!holder || !window.Plotly) { // nothing to draw, or its script never came
      placeTable();
      return;
    }
    const off = all("input[name=hide]").map((input) => input.value);
    const drawn = new Chart(holder, new Set(off));
    chart = drawn;
    if (isChange) await shown(); // the still picture is quicker there
    if (chart !== drawn) return; // another view came meanwhile
    await drawn.refresh().catch((error) => {
      placeTable(); // it is there whatever becomes of the chart
      throw error;
    });
    if (chart !== drawn) return;
    one("[data-still]").remove();
    bindLegend();
    bindOverlays();
    bindHover(drawn);
    bindZoom(drawn);
    bindExports(drawn);
    showState();
    cursor = new Cursor(drawn, one("[data-cursor]"), atNow(), rank);
    drawn.plot.dataset.drawn = "";
    await shown();
    if (chart === drawn) placeTable();
  };

  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target !== view || !event.detail.shouldSwap) return;
    leave();
    // htmx looks at all that goes, one by one; in the rows there is nothing of it.
    for (const body of all("tbody")) body.remove();
  });
  document.addEventListener("htmx:historyCacheMissLoad", leave);
  document.addEventListener("htmx:historyRestore", () => { rest(); enter(); });
  document.addEventListener("htmx:afterSwap", (event) => {
    const { target } = event.detail;
    if (!target) return; // Back: historyRestore follows
    if (target.id === "ranking" && cursor) cursor.clear(atNow());
    else if (target.id === "points" && chart) showState();
  });
  // Drawn before, the chart would be looked through for attributes of htmx's.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target === view) enter({ isChange: true });
  });
  document.addEventListener("themechange", () => chart && chart.refresh());
  enter();
})();
