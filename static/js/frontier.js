// Draws the frontier chart from the figure in the page, and ties legend and table to it.
(() => {
  "use strict";
  const Plotly = window.Plotly;
  const holder = document.querySelector("[data-figure]");
  const figure = JSON.parse(document.getElementById(holder.dataset.figure).textContent);
  const plot = holder.querySelector("[data-plot]");
  const items = [...document.querySelectorAll(".legend-item")];
  const rows = new Map(
    [...document.querySelectorAll("tr[data-point]")].map((row) => [row.dataset.point, row]),
  );
  const hidden = new Set();
  const DIMMED = 0.15;

  // Colours

  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    if (chosen) return chosen === "dark";
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  };

  const tokens = () => {
    const style = window.getComputedStyle(plot);
    return {
      ink: style.color,
      ground: style.backgroundColor,
      grid: style.borderTopColor,
      edge: style.outlineColor,
    };
  };

  const themed = (layout) => {
    const { ink, ground, grid, edge } = tokens();
    const axis = { gridcolor: grid, zerolinecolor: edge, linecolor: edge };
    return {
      ...layout,
      font: { ...layout.font, color: ink },
      hoverlabel: { ...layout.hoverlabel, bgcolor: ground, font: { size: 12, color: ink } },
      xaxis: { ...layout.xaxis, ...axis },
      yaxis: { ...layout.yaxis, ...axis },
    };
  };

  const painted = (trace) => {
    const color = isDark() ? trace.meta.dark : trace.meta.light;
    const copy = { ...trace, marker: { ...trace.marker, color } };
    copy.hoverlabel = { bordercolor: color };
    if (trace.line) copy.line = { ...trace.line, color };
    copy.visible = !hidden.has(trace.meta.key);
    return copy;
  };

  const draw = () =>
    Plotly.react(plot, figure.data.map(painted), themed(figure.layout), {
      displayModeBar: false,
      responsive: true,
      doubleClick: "reset",
    });

  // Legend

  const dimOthers = (key) => {
    const opacity = figure.data.map((t) => (!key || t.meta.key === key ? 1 : DIMMED));
    Plotly.restyle(plot, { opacity });
  };

  const showState = () => {
    for (const item of items) {
      const off = hidden.has(item.dataset.key);
      item.querySelector("button").setAttribute("aria-pressed", String(!off));
    }
    for (const row of rows.values()) {
      row.classList.toggle("is-hidden", hidden.has(row.dataset.key));
    }
    document.querySelector("[data-show-all]").hidden = hidden.size === 0;
    const visible = figure.data.map((trace) => !hidden.has(trace.meta.key));
    Plotly.restyle(plot, { visible });
  };

  const toggle = (key) => {
    if (!hidden.delete(key)) hidden.add(key);
    showState();
  };

  const isolate = (key) => {
    const others = items.map((item) => item.dataset.key).filter((other) => other !== key);
    hidden.clear();
    for (const other of others) hidden.add(other);
    showState();
  };

  const bindLegend = () => {
    for (const item of items) {
      const key = item.dataset.key;
      const button = item.querySelector("button");
      button.addEventListener("click", () => toggle(key));
      button.addEventListener("dblclick", () => isolate(key));
      item.addEventListener("mouseenter", () => dimOthers(key));
      item.addEventListener("mouseleave", () => dimOthers(null));
    }
    document.querySelector("[data-show-all]").addEventListener("click", () => {
      hidden.clear();
      showState();
    });
    const search = document.querySelector("[data-legend-search]");
    search.hidden = items.length < 6;
    search.addEventListener("input", () => {
      const text = search.value.trim().toLowerCase();
      for (const item of items) {
        item.hidden = !item.textContent.toLowerCase().includes(text);
      }
    });
  };

  // Table

  const light = (point, on) => {
    const row = rows.get(String(point.customdata[0]));
    if (row) row.classList.toggle("is-lit", on);
  };

  const bindTable = () => {
    plot.on("plotly_hover", (event) => event.points.forEach((p) => light(p, true)));
    plot.on("plotly_unhover", (event) => event.points.forEach((p) => light(p, false)));
    const places = new Map();
    figure.data.forEach((trace, curveNumber) =>
      trace.customdata.forEach(([id], pointNumber) =>
        places.set(String(id), { curveNumber, pointNumber }),
      ),
    );
    for (const [id, row] of rows) {
      const place = places.get(id);
      if (!place) continue;
      row.addEventListener("mouseenter", () => Plotly.Fx.hover(plot, [place]));
      row.addEventListener("mouseleave", () => Plotly.Fx.unhover(plot));
    }
  };

  // Exports

  const bindExports = () => {
    const reset = holder.querySelector("[data-reset-zoom]");
    plot.on("plotly_relayout", (change) => {
      const keys = Object.keys(change);
      if (keys.some((key) => key.includes(".range["))) reset.hidden = false;
      if (keys.some((key) => key.includes(".autorange"))) reset.hidden = true;
    });
    reset.addEventListener("click", () =>
      Plotly.relayout(plot, { "xaxis.autorange": true, "yaxis.autorange": true }),
    );
    for (const button of holder.querySelectorAll("[data-export]")) {
      button.hidden = false;
      button.addEventListener("click", () =>
        Plotly.downloadImage(plot, {
          format: button.dataset.export,
          filename: "frontiers",
          width: plot.clientWidth,
          height: plot.clientHeight,
          scale: 2,
        }),
      );
    }
  };

  plot.replaceChildren();
  draw().then(() => {
    bindLegend();
    bindTable();
    bindExports();
    plot.dataset.drawn = "";
  });
  document.addEventListener("themechange", draw);
})();
