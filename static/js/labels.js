// Places a name at the end of each line of the chart where it hides nothing.
(() => {
  "use strict";
  const LABEL = { size: 11, gap: 9 };
  const ROOM = 640; // below this width the legend has to do, unless the plot says so
  const SVG = "http://www.w3.org/2000/svg";
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

  // A label is what plotly takes as text: escaped.
  const plain = (text) =>
    text.includes("&")
      ? new DOMParser().parseFromString(text, "text/html").documentElement.textContent
      : text;

  // Returns {text, left, top} in px of the plot area for lines that are in sight.
  const labels = (plot, traces) => {
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
      for (const text of [label, short].filter(Boolean).map(plain)) {
        const room = pen.measureText(text).width + 4;
        const box = boxes(places, room).find((b) => isFree(plot, b, key, taken, placed));
        if (!box) continue;
        placed.push(box);
        found.push({ text, left: box.left, top: (box.top + box.bottom) / 2 });
        break;
      }
    }
    return found;
  };

  const unlabel = (plot) => plot.querySelector(".line-labels")?.remove();

  // Writes the names into the plot. As annotations of plotly's own they would have it
  // draw the whole chart once more.
  const label = (plot, traces) => {
    unlabel(plot);
    const { xaxis, yaxis } = plot._fullLayout;
    const names = labels(plot, traces).map(({ text, left, top }) => {
      const name = document.createElementNS(SVG, "text");
      name.setAttribute("x", xaxis._offset + left);
      name.setAttribute("y", yaxis._offset + top);
      name.textContent = text;
      return name;
    });
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", "line-labels");
    group.append(...names);
    plot.querySelector(".infolayer").append(group);
  };

  window.Frontierboard = { ...window.Frontierboard, label, unlabel };
})();
