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
  let singled = null; // the key that the legend is pointed at

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
      hoverlabel: {
        ...layout.hoverlabel,
        bgcolor: ground,
        font: { ...layout.hoverlabel.font, color: ink },
      },
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
    copy.opacity = singled === null || singled === trace.meta.key ? 1 : DIMMED;
    return copy;
  };

  // Labels at the ends of lines, where they hide nothing

  const LABEL = { size: 11, gap: 9 };
  const ROOM = 640;
  const pen = document.createElement("canvas").getContext("2d");

  const pixels = (trace) => {
    const { xaxis, yaxis } = plot._fullLayout;
    return trace.x.map((x, i) => [xaxis.d2p(x), yaxis.d2p(trace.y[i])]);
  };

  // Where ink is, as [x, y, key]: every marker, and lines every few pixels.
  const inked = (traces) => {
    const taken = [];
    for (const trace of traces) {
      const { key } = trace.meta;
      const places = pixels(trace);
      for (const [x, y] of places) taken.push([x, y, key]);
      if (trace.mode === "markers") continue;
      places.slice(1).forEach(([x, y], i) => {
        const [fromX, fromY] = places[i];
        const steps = Math.ceil(Math.hypot(x - fromX, y - fromY) / 5);
        for (let k = 1; k < steps; k += 1) {
          const part = k / steps;
          taken.push([fromX + (x - fromX) * part, fromY + (y - fromY) * part, key]);
        }
      });
    }
    return taken;
  };

  const boxes = (trace, width) => {
    const places = pixels(trace);
    const [endX, endY] = places.at(-1);
    const [startX, startY] = places[0];
    const beside = (x, y) => ({ left: x, right: x + width, top: y - 7, bottom: y + 7 });
    return [
      beside(endX + LABEL.gap, endY),
      beside(endX + LABEL.gap, endY - 12),
      beside(startX + LABEL.gap, startY - 4),
      beside(startX - LABEL.gap - width, startY),
      beside(startX - width / 2, startY - 17),
      beside(endX - LABEL.gap - width, endY + 3),
    ];
  };

  // Other curves keep a wider distance, so that a label never seems to be theirs.
  const isFree = (box, key, taken, placed) => {
    const { _length: width } = plot._fullLayout.xaxis;
    const { _length: height } = plot._fullLayout.yaxis;
    if (box.left < 2 || box.right > width || box.top < 0 || box.bottom > height) return false;
    const hits = ([x, y, owner]) => {
      const far = owner === key ? 1 : 9;
      return (
        x > box.left - far && x < box.right + far &&
        y > box.top - far && y < box.bottom + far
      );
    };
    const meets = (other) =>
      box.left < other.right && box.right > other.left &&
      box.top < other.bottom && box.bottom > other.top;
    return !taken.some(hits) && !placed.some(meets);
  };

  const annotation = (text, box, color) => ({
    text,
    x: plot._fullLayout.xaxis.p2d(box.left),
    y: plot._fullLayout.yaxis.p2d((box.top + box.bottom) / 2),
    xanchor: "left",
    yanchor: "middle",
    showarrow: false,
    captureevents: false,
    borderpad: 0,
    font: { size: LABEL.size, color },
  });

  const labels = () => {
    const { _length: width } = plot._fullLayout.xaxis;
    const traces = figure.data.filter((trace) => !hidden.has(trace.meta.key));
    if (width < ROOM) return [];
    pen.font = `${LABEL.size}px ${window.getComputedStyle(plot).fontFamily}`;
    const taken = inked(traces);
    const placed = [];
    const found = [];
    for (const trace of traces.filter((t) => t.meta.role === "frontier")) {
      const room = pen.measureText(trace.meta.label).width + 4;
      const box = boxes(trace, room).find((b) => isFree(b, trace.meta.key, taken, placed));
      if (!box) continue;
      placed.push(box);
      found.push(annotation(trace.meta.label, box, tokens().ink));
    }
    return found;
  };

  const label = () => Plotly.relayout(plot, { annotations: labels() });

  const draw = () => {
    const layout = themed(figure.layout);
    layout.annotations = plot.layout ? plot.layout.annotations : [];
    layout.uirevision = "kept"; // the reader's zoom outlives a redraw
    return Plotly.react(plot, figure.data.map(painted), layout, {
      displayModeBar: false,
      responsive: true,
      doubleClick: "reset",
    });
  };

  // One redraw at a time: what changes meanwhile is drawn by the next.
  let drawing = null;
  let isStale = false;
  const refresh = () => {
    isStale = true;
    drawing ??= (async () => {
      while (isStale) {
        isStale = false;
        await draw();
        await label();
      }
      drawing = null;
    })();
    return drawing;
  };

  // Legend

  const dimOthers = (key) => {
    singled = key;
    refresh();
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
    refresh();
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
      if (!keys.includes("annotations")) refresh();
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
  refresh().then(() => {
    bindLegend();
    bindTable();
    bindExports();
    plot.dataset.drawn = "";
  });
  document.addEventListener("themechange", refresh);
})();
