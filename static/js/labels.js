// Places a name at the end of each line of the chart where it hides nothing.
(() => {
  "use strict";
  const LABEL = { size: 11, gap: 9 };
  const ROOM = 640; // below this width the legend has to do, unless the plot says so
  const pen = document.createElement("canvas").getContext("2d");

  const pixels = (plot, trace) => {
    const { xaxis, yaxis } = plot._fullLayout;
    return trace.x.map((x, i) => [xaxis.d2p(x), yaxis.d2p(trace.y[i])]);
  };

  // What of a line is in sight: a name belongs to an end that one can see.
  const inSight = (plot, places) => {
    const { _length: width } = plot._fullLayout.xaxis;
    const { _length: height } = plot._fullLayout.yaxis;
    return places.filter(([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height);
  };

  // Where ink is, as [x, y, key]: every marker, and lines every few pixels.
  const inked = (plot, traces) => {
    const taken = [];
    for (const trace of traces) {
      const { key } = trace.meta;
      const places = pixels(plot, trace);
      for (const [x, y] of places) taken.push([x, y, key]);
      if (trace.mode === "markers") continue;
      places.slice(1).forEach(([x, y], i) => {
        const [fromX, fromY] = places[i];
        const steps = Math.min(500, Math.ceil(Math.hypot(x - fromX, y - fromY) / 5));
        for (let k = 1; k < steps; k += 1) {
          const part = k / steps;
          taken.push([fromX + (x - fromX) * part, fromY + (y - fromY) * part, key]);
        }
      });
    }
    return taken;
  };

  const boxes = (places, width) => {
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
      beside(endX - width, endY + 16),
    ];
  };

  // Other curves keep a wider distance, so that a label never seems to be theirs.
  const isFree = (plot, box, key, taken, placed) => {
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

  const annotation = (plot, text, box, color) => ({
    text,
    x: plot._fullLayout.xaxis.p2r(box.left),
    y: plot._fullLayout.yaxis.p2r((box.top + box.bottom) / 2),
    xanchor: "left",
    yanchor: "middle",
    showarrow: false,
    captureevents: false,
    borderpad: 0,
    font: { size: LABEL.size, color },
  });

  // Returns plotly annotations for the lines among the traces that are visible.
  const labels = (plot, traces, color) => {
    if (plot._fullLayout.xaxis._length < (Number(plot.dataset.room) || ROOM)) return [];
    pen.font = `${LABEL.size}px ${window.getComputedStyle(plot).fontFamily}`;
    const taken = inked(plot, traces);
    const placed = [];
    const found = [];
    const named = (role) => traces.filter((t) => t.meta.role === role && t.meta.label);
    // What was before a swap is named where the lines of today leave room.
    for (const trace of ["frontier", "overlay", "ghost", "series"].flatMap(named)) {
      const places = inSight(plot, pixels(plot, trace));
      if (!places.length) continue;
      const { key, label, short } = trace.meta;
      for (const name of [label, short].filter(Boolean)) {
        const room = pen.measureText(name).width + 4;
        const box = boxes(places, room).find((b) => isFree(plot, b, key, taken, placed));
        if (!box) continue;
        placed.push(box);
        found.push(annotation(plot, name, box, color));
        break;
      }
    }
    return found;
  };

  window.Frontierboard = { ...window.Frontierboard, labels };
})();
