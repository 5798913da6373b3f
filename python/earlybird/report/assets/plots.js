// Draws the charts of a page with plotly.js: laid out for the width there is, in the colours of the reader's scheme.
// Each <figure class="plot"> holds its chart as JSON; see earlybird/plots/interactive.py for what stands in it.
"use strict";
(() => {
  const PANEL = 215; // pixels of a panel's height, of several
  const LONE_PANEL = 290;
  const STACKED = 150; // of one of those that lie one below the other
  const ROW = 26; // pixels of a row with a name, at least
  const ROW_LINE = 17; // of each line of its name
  const TOOLS = 26; // pixels of the tools above a chart, which phones do without
  const LINE = 15; // pixels of a line of text
  const NARROW = 620; // below this width panels stand one below the other
  const LETTERS = 12; // pixels of their size
  const TITLE_LETTERS = 13; // of axis titles
  const KEY = 62; // pixels that an entry of the legend takes beside its name
  const BETWEEN = 6; // pixels between neighbouring names
  const RIGHT = 14; // pixels right of all panels, for half of the last number
  const config = { displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendDataToCloud", "toggleSpikelines"] };
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const darkColours = JSON.parse(document.getElementById("dark-colours").textContent);

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function chartOf(figure) {
    let text = figure.querySelector("script").textContent;
    if (scheme.matches) for (const [light, dark] of Object.entries(darkColours)) text = text.replaceAll(light, dark);
    return JSON.parse(text);
  }

  // How wide words are, as the page writes them.
  const pen = document.createElement("canvas").getContext("2d");
  function widthOf(text, size = LETTERS, weight = "normal") {
    pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    return Math.max(...text.split("<br>").map((line) => pen.measureText(line).width));
  }

  // Breaks a text into lines between its words, so that they fit.
  function folded(text, room, size, weight) {
    const lines = [];
    for (const word of text.split(" ")) {
      const line = lines[lines.length - 1];
      if (line !== undefined && widthOf(`${line} ${word}`, size, weight) <= room) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(word);
    }
    return lines.join("<br>");
  }

  const linesOf = (text) => (text ? text.split("<br>").length : 0);
  const titleOf = (axis, room) => axis.title.map((line) => folded(line, room, TITLE_LETTERS)).join("<br>");
  const placed = (axis, value) => (axis.type === "log" ? Math.log10(value) : value);

  // The ends of an axis, in powers of ten if it is logarithmic; of named places with room at both ends.
  function endsOf(axis) {
    const [low, high] = axis.range ?? [null, null];
    if (!axis.tickvals) return [low, high];
    const [first, last] = [placed(axis, Math.min(...axis.tickvals)), placed(axis, Math.max(...axis.tickvals))];
    const room = 0.1 * (last - first) || 0.5;
    return [low ?? first - room, high ?? last + room];
  }

  function legendRows(names, width) {
    let [rows, used] = [names.length ? 1 : 0, 0];
    for (const name of names) {
      const needed = widthOf(name) + KEY;
      if (used && used + needed > width) [rows, used] = [rows + 1, 0];
      used += needed;
    }
    return rows;
  }

  // Names of places along x, broken or turned so that neighbours do not touch, those of the next panel included.
  function ticksAlong(x, width, gap) {
    if (!x.ticktext) return { lines: 1, axis: { nticks: Math.max(3, Math.floor(width / 50)) } };
    const [low, high] = endsOf(x);
    const places = x.tickvals.map((value) => ((placed(x, value) - low) / (high - low)) * width).sort((a, b) => a - b);
    if (x.ticktext.every((text) => /^[0-9.]+$/.test(text))) return { axis: { ticktext: thinned(x.ticktext, places), tickangle: 0 }, lines: 1 };
    const atEnds = 2 * Math.min(places[0], width - places[places.length - 1]) + gap; // half of it reaches into the gap
    const room = Math.min(width, atEnds, ...places.slice(1).map((place, index) => place - places[index])) - BETWEEN;
    const ticktext = x.ticktext.map((text) => folded(text, room));
    if (Math.max(...ticktext.map((text) => widthOf(text))) <= room)
      return { axis: { ticktext, tickangle: 0 }, lines: Math.max(...ticktext.map(linesOf)) };
    const longest = Math.max(...x.ticktext.map((text) => widthOf(text)));
    return { axis: { tickangle: -90 }, lines: Math.ceil(longest / LINE) };
  }

  // Numbers without those that would touch one before them; both are in the order of their places.
  function thinned(numbers, places) {
    let end = -Infinity;
    return numbers.map((text, index) => {
      const half = widthOf(text) / 2;
      if (places[index] - half < end + BETWEEN) return "";
      end = places[index] + half;
      return text;
    });
  }

  // How much room the left side of a panel needs, and how high it is; names of rows are broken to fit beside it.
  function sideOf(y, chart, width) {
    const height = chart.isStack ? STACKED : chart.panels.length === 1 && width >= NARROW ? LONE_PANEL : PANEL;
    const title = titleOf(y, height);
    const titleRoom = title ? 18 * linesOf(title) + 4 : 0;
    if (!y.ticktext) return { left: 42 + titleRoom, height, title };
    const ticktext = y.ticktext.map((text) => folded(text, 0.38 * width));
    const left = Math.max(...ticktext.map((text) => widthOf(text))) + 12 + titleRoom;
    const rows = y.rows ? (y.rows + 0.2) * Math.max(ROW, ROW_LINE * Math.max(...ticktext.map(linesOf)) + 6) : 0;
    return { left, height: rows && !chart.panels.some((panel) => panel.y) ? rows : Math.max(rows, height), title, ticktext };
  }

  // Where everything goes: how large a panel is, and the room around it.
  function measured(chart, width) {
    const across = width < NARROW ? 1 : chart.columns;
    const sides = chart.panels.map((panel) => sideOf(panel.y ?? chart.y, chart, width));
    const isApart = !chart.shareY || chart.panels.some((panel) => panel.y);
    const left = Math.max(...sides.map((side) => side.left));
    const gapX = across > 1 ? (isApart ? left : 24) : 0;
    const panelWidth = (width - left - RIGHT - (across - 1) * gapX) / across;
    const panelHeight = Math.max(...sides.map((side) => side.height));
    const xTitle = titleOf(chart.x, panelWidth);
    const ticks = ticksAlong(chart.x, panelWidth, across > 1 ? gapX : 2 * RIGHT);
    const below = 12 + LINE * ticks.lines + 17 * linesOf(xTitle);
    const titles = chart.panels.map((panel) => (panel.title ? folded(panel.title, panelWidth - 8, LETTERS, "bold") : ""));
    const words = chart.panels.some((panel) => panel.words.some((word) => word.y === null)) ? LINE : 0;
    const above = Math.max(...titles.map(linesOf)) * 17 + words + 8;
    return { across, sides, isApart, left, gapX, panelWidth, panelHeight, xTitle, ticks, below, titles, words, above };
  }

  function layoutOf(chart, width) {
    const sheet = measured(chart, width);
    const { across, left, panelHeight } = sheet;
    const down = Math.ceil(chart.panels.length / across);
    const plotWidth = width - left - RIGHT;
    const gapY = sheet.above + (chart.isStack ? 6 : sheet.below);
    const plotHeight = down * panelHeight + (down - 1) * gapY;
    const top = sheet.above + (width < NARROW ? 0 : TOOLS);
    const legend = 22 * legendRows(chart.names.map((entry) => entry.name), plotWidth) + 8;
    const layout = {
      ...chart.layout,
      width,
      height: plotHeight + top + sheet.below + legend,
      margin: { l: left, r: RIGHT, t: top, b: sheet.below + legend },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: LETTERS, color: colour("--ink") },
      hoverlabel: { bgcolor: colour("--paper"), bordercolor: colour("--line"), font: { color: colour("--ink"), size: LETTERS }, namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--accent") },
      legend: { orientation: "h", x: 0, xanchor: "left", y: -sheet.below / plotHeight, yanchor: "top", font: { size: LETTERS } },
      showlegend: chart.names.length > 0,
      annotations: [],
      shapes: [],
      dragmode: width < NARROW ? false : "zoom",
    };
    chart.panels.forEach((panel, index) => {
      const [row, column] = [Math.floor(index / across), index % across];
      const place = { row, column, index, isLast: row === down - 1, name: index ? String(index + 1) : "" };
      place.from = (column * (sheet.panelWidth + sheet.gapX)) / plotWidth;
      place.to = place.from + sheet.panelWidth / plotWidth;
      place.upper = 1 - (row * (panelHeight + gapY)) / plotHeight;
      place.lower = place.upper - panelHeight / plotHeight;
      addPanel(layout, chart, panel, sheet, place);
    });
    return layout;
  }

  function addPanel(layout, chart, panel, sheet, place) {
    const { name, index } = place;
    const y = panel.y ?? chart.y;
    const line = { gridcolor: colour("--line"), linecolor: colour("--muted"), zeroline: false, automargin: false };
    const isLabelled = !chart.isStack || place.isLast;
    const xAxis = layout[`xaxis${name}`] = {
      ...line, ...axisOf(chart.x), ...sheet.ticks.axis, showgrid: false, showline: true, ticks: "outside", tickcolor: colour("--muted"),
      showticklabels: isLabelled, title: { text: isLabelled ? sheet.xTitle : "", standoff: 6, font: { size: TITLE_LETTERS } },
      domain: [place.from, place.to], anchor: `y${name}`,
    };
    const side = sheet.sides[index];
    const yAxis = layout[`yaxis${name}`] = {
      ...line, ...axisOf(y), ...(side.ticktext && { ticktext: side.ticktext }),
      title: { text: place.column === 0 || sheet.isApart ? side.title : "", standoff: 6, font: { size: TITLE_LETTERS } },
      domain: [place.lower, place.upper], anchor: `x${name}`,
    };
    if (!sheet.isApart && index) yAxis.matches = "y";
    if (!sheet.isApart && place.column) yAxis.showticklabels = false;
    if (chart.isStack && index) xAxis.matches = "x";
    const axes = { x: chart.x, y };
    layout.shapes.push(...panel.shapes.map((shape) => shapeOf(shape, axes, name)));
    layout.annotations.push(...panel.words.map((word) => wordsOf(word, axes, name)));
    if (sheet.titles[index])
      layout.annotations.push({
        text: `<b>${sheet.titles[index]}</b>`, showarrow: false, align: "left", x: place.from, xref: "paper", xanchor: "left",
        y: place.upper, yref: "paper", yanchor: "bottom", yshift: sheet.words + 2,
      });
  }

  function axisOf(axis) {
    const { rows, title, range, ...described } = axis;
    const ends = endsOf(axis);
    return ends.every((end) => end === null) ? described : { ...described, range: ends };
  }

  // A line or an area across a panel.
  function shapeOf(shape, axes, name) {
    const { along, low, high, ...drawn } = shape;
    const axis = axes[along];
    const [first, last] = endsOf(axis).map((end) => (axis.type === "log" ? 10 ** end : end));
    const other = along === "x" ? "y" : "x";
    return {
      ...drawn, type: low !== null && low === high ? "line" : "rect",
      [`${along}ref`]: `${along}${name}`, [`${along}0`]: low ?? first, [`${along}1`]: high ?? last,
      [`${other}ref`]: `${other}${name} domain`, [`${other}0`]: 0, [`${other}1`]: 1,
    };
  }

  // Words at a place of a panel; without a height they stand on top of it, without a place along x at its right end.
  function wordsOf(word, axes, name) {
    const side = { left: "right", right: "left", middle: "center" }[word.side];
    const x = word.x === null ? { x: 1, xref: `x${name} domain` } : { x: placed(axes.x, word.x), xref: `x${name}` };
    const inside = { y: placed(axes.y, word.y), yref: `y${name}`, yanchor: word.x === null ? "bottom" : "middle" };
    const y = word.y === null ? { y: 1, yref: `y${name} domain`, yanchor: "bottom" } : inside;
    return { text: word.text, showarrow: false, xanchor: side, borderpad: 0, font: { size: 11, color: colour("--muted") }, ...x, ...y };
  }

  function tracesOf(chart) {
    const shown = chart.panels.flatMap((panel, index) => {
      const name = index ? String(index + 1) : "";
      return panel.traces.map((trace) => ({ ...trace, xaxis: `x${name}`, yaxis: `y${name}` }));
    });
    return [...shown, ...chart.names];
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const chart = chartOf(figure);
    const layout = layoutOf(chart, place.clientWidth);
    figure.dataset.width = place.clientWidth;
    await Plotly.react(place, tracesOf(chart), layout, { ...config, displayModeBar: layout.width < NARROW ? false : "hover" });
    figure.dataset.points = place.data.reduce((sum, trace) => sum + trace.y.filter((y) => y !== null).length, 0);
  }

  async function drawAll() {
    for (const figure of document.querySelectorAll("figure.plot")) {
      if (!figure.clientWidth) continue; // folded: drawn once it is seen
      await draw(figure);
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets the page be read meanwhile
    }
    document.documentElement.dataset.plots = "drawn";
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const figure = target.closest("figure");
      const isDrawn = figure.dataset.points || document.documentElement.dataset.plots;
      if (isDrawn && target.clientWidth && target.clientWidth !== Number(figure.dataset.width)) draw(figure);
    }
  });

  for (const place of document.querySelectorAll(".chart")) resized.observe(place);
  scheme.addEventListener("change", drawAll);
  drawAll();
})();
