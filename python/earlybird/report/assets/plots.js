// Draws the charts of a page with plotly.js: laid out for the width there is, in the colours of the reader's scheme.
// Each <figure class="plot"> holds its chart as JSON; see earlybird/plots/chart.py for what stands in it.
"use strict";
(() => {
  const PANEL = 215; // pixels of a panel's height, of several
  const LONE_PANEL = 290;
  const TOOLS = 26; // pixels of the tools above a chart, which phones do without
  const LINE = 15; // pixels of a line of text
  const NARROW = 620; // below this width panels stand one below the other
  const LETTER = 6.6; // pixels of a letter, to estimate how much room a legend needs
  const TITLE_LETTER = 8.2; // pixels of a letter of an axis title, which is larger
  const config = { displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendDataToCloud", "toggleSpikelines"] };
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const darkColours = JSON.parse(document.getElementById("dark-colours").textContent);

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function chartOf(figure) {
    let text = figure.querySelector("script").textContent;
    if (scheme.matches) for (const [light, dark] of Object.entries(darkColours)) text = text.replaceAll(light, dark);
    return JSON.parse(text);
  }

  function columnsFor(panels, width) {
    return width < NARROW ? 1 : Math.min(panels, 4);
  }

  // The names in a legend, each once.
  function nameOnce(traces) {
    const seen = new Set();
    for (const trace of traces) {
      if (trace.showlegend === false) continue;
      trace.showlegend = !seen.has(trace.legendgroup);
      seen.add(trace.legendgroup);
    }
    return [...seen];
  }

  function legendRows(names, width) {
    let [rows, used] = [names.length ? 1 : 0, 0];
    for (const name of names) {
      const needed = name.length * LETTER + 62; // with its line
      if (used && used + needed > width) [rows, used] = [rows + 1, 0];
      used += needed;
    }
    return rows;
  }

  // The ticks of a logarithmic axis: powers of ten, and between few of them 2 and 5 times these, all with their numbers in full.
  function logTicks(axis, chart, name) {
    if (axis.type !== "log" || axis.tickvals) return {};
    const values = chart.panels.flatMap((panel) => panel.traces.flatMap((trace) => trace[name])).filter((value) => value > 0);
    if (!values.length) return {};
    const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
    const steps = high - low > 2 ? [1] : [1, 2, 5];
    const decades = Array.from({ length: high - low + 3 }, (_, index) => low - 1 + index);
    const tickvals = decades.flatMap((decade) => steps.map((step) => Number(`${step}e${decade}`)));
    return { tickvals, ticktext: tickvals.map(String) };
  }

  // Breaks a long title of an axis into lines that fit beside a panel.
  function folded(text, letters) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const line = lines[lines.length - 1];
      if (line && line.length + word.length >= letters) lines.push(word);
      else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines.join("<br>");
  }

  // Named places along x, folded so that neighbours do not touch.
  function foldedTicks(x, width) {
    if (!x.ticktext || x.ticktext.every((text) => !isNaN(text))) return {};
    const letters = width / x.ticktext.length / LETTER - 1;
    const ticktext = x.ticktext.map((text) => folded(text, letters));
    const longest = Math.max(...ticktext.flatMap((text) => text.split("<br>")).map((line) => line.length));
    return longest <= letters ? { ticktext, tickangle: 0 } : {};
  }

  // How much room the left side needs, and how high a panel is; names of rows are folded to fit beside it.
  function leftSide(chart, yTitle, width) {
    const lines = (text) => text.split("<br>").length;
    const height = chart.panels.length === 1 && width >= NARROW ? LONE_PANEL : PANEL;
    if (!chart.rows) return { left: 44 + 16 * lines(yTitle), panelHeight: height };
    const longest = Math.max(...chart.y.ticktext.map((text) => text.length));
    const left = Math.min(0.42 * width, longest * LETTER + 20);
    const ticktext = chart.y.ticktext.map((text) => folded(text, (left - 20) / LETTER));
    return { left, panelHeight: chart.rows * (LINE * Math.max(...ticktext.map(lines)) + 14), ticktext };
  }

  function layoutOf(chart, width) {
    const count = chart.panels.length;
    const columns = columnsFor(count, width);
    const rows = Math.ceil(count / columns);
    const titled = chart.panels.some((panel) => panel.title);
    const yTitle = folded(chart.y.title, 30);
    const { left, panelHeight, ticktext } = leftSide(chart, yTitle, width);
    const names = nameOnce(chart.panels.flatMap((panel) => panel.traces));
    const plotWidth = width - left - 8;
    const legend = 22 * legendRows(names, plotWidth) + 8;
    const gapX = columns > 1 ? (chart.shareY ? 22 : 50) : 0;
    const share = (plotWidth - (columns - 1) * gapX) / columns / plotWidth;
    const xTitle = folded(chart.x.title, (share * plotWidth) / TITLE_LETTER);
    const xTicks = foldedTicks(chart.x, share * plotWidth);
    const tickLines = Math.max(...(xTicks.ticktext ?? [""]).map((text) => text.split("<br>").length));
    const xRoom = 20 + LINE * tickLines + 19 * xTitle.split("<br>").length;
    const gapY = xRoom + 26; // below a panel its ticks and title, then the name of the next one
    const height = rows * panelHeight + (rows - 1) * gapY;
    const top = (titled ? 30 : 12) + (width < NARROW ? 0 : TOOLS);
    const bottom = xRoom + legend;
    const layout = {
      ...chart.layout,
      width,
      height: height + top + bottom,
      margin: { l: left, r: 8, t: top, b: bottom },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--ink") },
      hoverlabel: { bgcolor: colour("--paper"), bordercolor: colour("--line"), font: { color: colour("--ink"), size: 12 }, namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--accent") },
      legend: { orientation: "h", x: 0, xanchor: "left", y: (2 - xRoom) / height, yanchor: "top", font: { size: 12 } },
      annotations: [],
      dragmode: width < NARROW ? false : "zoom",
    };
    chart.panels.forEach((panel, index) => {
      const [row, column] = [Math.floor(index / columns), index % columns];
      const from = column * (share + gapX / plotWidth);
      const above = 1 - (row * (panelHeight + gapY)) / height;
      const name = index ? String(index + 1) : "";
      const axis = { gridcolor: colour("--line"), linecolor: colour("--muted"), zeroline: false, automargin: false };
      const xAxis = { ...chart.x, ...logTicks(chart.x, chart, "x"), ...xTicks, title: { text: xTitle, standoff: 8 }, showgrid: false, showline: true, ticks: "outside", tickcolor: colour("--muted") };
      const yAxis = { ...chart.y, ...logTicks(chart.y, chart, "y"), ...(ticktext && { ticktext }), title: { text: column === 0 ? yTitle : "", standoff: 6 } };
      layout[`xaxis${name}`] = { ...axis, ...xAxis, domain: [from, from + share], anchor: `y${name}` };
      layout[`yaxis${name}`] = { ...axis, ...yAxis, domain: [above - panelHeight / height, above], anchor: `x${name}` };
      if (chart.shareY && index) layout[`yaxis${name}`].matches = "y";
      if (chart.shareY && column) layout[`yaxis${name}`].showticklabels = false;
      if (panel.title)
        layout.annotations.push({
          text: `<b>${folded(panel.title, (share * plotWidth) / LETTER)}</b>`, showarrow: false, align: "left",
          x: from, xref: "paper", xanchor: "left", y: above, yref: "paper", yanchor: "bottom", yshift: 4,
        });
    });
    return layout;
  }

  function tracesOf(chart) {
    return chart.panels.flatMap((panel, index) => {
      const name = index ? String(index + 1) : "";
      return panel.traces.map((trace) => ({ type: "scatter", ...trace, xaxis: `x${name}`, yaxis: `y${name}` }));
    });
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
      await draw(figure);
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets the page be read meanwhile
    }
    document.documentElement.dataset.plots = "drawn";
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const figure = target.closest("figure");
      if (figure.dataset.points && target.clientWidth !== Number(figure.dataset.width)) draw(figure);
    }
  });

  for (const place of document.querySelectorAll(".chart")) resized.observe(place);
  scheme.addEventListener("change", drawAll);
  drawAll();
})();
