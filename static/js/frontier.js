// Draws the frontier chart from the figure in the page: colours, dimming, pictures.
(() => {
  "use strict";
  const DIMMED = 0.15;
  const NARROW = 640;
  const PAPER = "#ffffff"; // rings and dots of markers: charts/theme.py

  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    if (chosen) return chosen === "dark";
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  };

  const parsed = (id) => JSON.parse(document.getElementById(id).textContent);

  // One drawn chart. `hidden` holds the keys that are switched off.
  class Chart {
    constructor(holder, hidden) {
      this.holder = holder;
      this.plot = holder.querySelector("[data-plot]");
      this.figure = parsed(holder.dataset.figure);
      this.alone = parsed(holder.dataset.alone || "frontier-alone");
      this.hidden = hidden;
      this.singled = null; // the key that the legend is pointed at
      this.labelled = ""; // the ranges at which the names of lines were written
      this.drawing = null;
      this.isStale = false;
    }

    tokens() {
      const style = window.getComputedStyle(this.plot);
      return {
        ink: style.color,
        ground: style.backgroundColor,
        grid: style.borderTopColor,
        edge: style.outlineColor,
      };
    }

    themed(layout) {
      const { ink, ground, grid, edge } = this.tokens();
      const axis = { gridcolor: grid, zerolinecolor: edge, linecolor: edge };
      const themed = {
        ...layout,
        font: { ...layout.font, color: ink },
        hoverlabel: {
          ...layout.hoverlabel,
          bgcolor: ground,
          font: { ...layout.hoverlabel.font, color: ink },
        },
      };
      for (const name of Object.keys(layout)) {
        if (/^[xy]axis\d*$/.test(name)) themed[name] = { ...layout[name], ...axis };
      }
      // Beside a narrow plot long names leave no room.
      const { short, narrow, narrow_annotations: notes } = layout.meta || {};
      const isNarrow = this.plot.clientWidth < NARROW;
      if (short && isNarrow) {
        themed.yaxis = { ...themed.yaxis, ticktext: short };
        themed.xaxis = { ...themed.xaxis, ...narrow };
      }
      if (notes && isNarrow) themed.annotations = notes;
      // A note under an axis' name is longer than the axis; it stands below the chart too.
      if (!short && isNarrow) {
        for (const name of ["xaxis", "yaxis"]) {
          const title = themed[name]?.title;
          if (!title?.text) continue;
          const [text] = title.text.split("<br>");
          themed[name] = { ...themed[name], title: { ...title, text } };
        }
      }
      if (layout.shapes) {
        themed.shapes = layout.shapes.map((shape) => ({
          ...shape, line: { ...shape.line, color: ink },
        }));
      }
      return themed;
    }

    // Rings and dots of markers are of the ground, whichever that is.
    painted(trace, ground) {
      const { key, dark, light } = trace.meta;
      const color = isDark() ? dark : light;
      const copy = { ...trace, marker: { ...trace.marker, color } };
      const rings = copy.marker.line;
      if (rings) {
        const own = (color) => (color === PAPER ? ground : color);
        copy.marker.line = { ...rings, color: rings.color.map(own) };
      }
      copy.hoverlabel = { bordercolor: color };
      if (trace.line) copy.line = { ...trace.line, color };
      copy.visible = !this.hidden.has(key);
      copy.opacity = this.singled === null || this.singled === key ? 1 : DIMMED;
      return copy;
    }

    visible() {
      return this.figure.data.filter((trace) => !this.hidden.has(trace.meta.key));
    }

    async draw() {
      const layout = this.themed(this.figure.layout);
      layout.uirevision = "kept"; // the reader's zoom outlives a redraw
      const { ground } = this.tokens();
      const traces = this.figure.data.map((trace) => this.painted(trace, ground));
      const isFirst = !this.plot.on;
      await window.Plotly.react(this.plot, traces, layout, {
        displayModeBar: false,
        responsive: true,
        doubleClick: false, // one's own reset, as the server may have set the range
      });
      if (isFirst) this.follow();
      this.label();
    }

    label() {
      window.Frontierboard.label(this.plot, this.visible());
      this.labelled = String(this.ranges());
    }

    // The names stand beside their lines however the axes change. A rectangle that is
    // drawn changes none, and one that is too small to zoom to is told by no event.
    follow() {
      this.plot.on("plotly_relayouting", () => {
        if (String(this.ranges()) !== this.labelled) {
          window.Frontierboard.unlabel(this.plot);
        }
      });
      this.plot.on("plotly_relayout", () => this.label());
    }

    // One redraw at a time: what changes meanwhile is drawn by the next.
    refresh() {
      this.isStale = true;
      this.drawing ??= (async () => {
        while (this.isStale) {
          this.isStale = false;
          await this.draw();
        }
        this.drawing = null;
      })();
      return this.drawing;
    }

    dimOthers(key) {
      this.singled = key;
      return this.refresh();
    }

    // The shown rectangle in the metrics' units, whatever the scale.
    ranges() {
      const { xaxis, yaxis } = this.plot._fullLayout;
      const values = (axis) =>
        axis.type === "log" ? axis.range.map((end) => 10 ** end) : axis.range;
      return [...values(xaxis), ...values(yaxis)];
    }

    // The chart with title, legend and source, in light colours, for use elsewhere.
    standalone(at) {
      const { xaxis, yaxis } = this.plot._fullLayout;
      const base = this.figure.layout;
      const layout = { ...base, ...this.alone };
      layout.xaxis = { ...base.xaxis, range: xaxis.range, autorange: false };
      layout.yaxis = { ...base.yaxis, range: yaxis.range, autorange: false };
      if (at !== null) {
        layout.shapes = [
          {
            type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1,
            line: { color: base.font.color, width: 1, dash: "dash" },
          },
        ];
      }
      return { data: this.visible(), layout };
    }

    save(format, at, filename) {
      const figure = this.standalone(at);
      const { width, height } = figure.layout;
      return window.Plotly.downloadImage(figure, {
        format, filename, width, height, scale: 2,
      });
    }
  }

  window.Frontierboard = { ...window.Frontierboard, Chart };
})();
