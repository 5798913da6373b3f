// Filters the verdict table; the choice stands in the address, so that it can be shared: #paper=T&level=must.
"use strict";
(() => {
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll("#rows tr")];
  const shown = document.getElementById("shown");

  function matches(row, chosen) {
    const isOf = (name) => !chosen[name] || row.dataset[name].split(name === "paper" ? " " : "\n").includes(chosen[name]);
    const text = row.textContent.toLowerCase();
    const words = chosen.words.toLowerCase().split(" ");
    return ["paper", "level", "verdict", "study", "reason"].every(isOf) && words.every((word) => text.includes(word));
  }

  function filter() {
    const chosen = Object.fromEntries(new FormData(form));
    for (const row of rows) row.hidden = !matches(row, chosen);
    const count = rows.filter((row) => !row.hidden).length;
    shown.textContent = count === rows.length ? `${count} rows` : `${count} of ${rows.length} rows`;
  }

  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const fields = [...form.elements].filter((field) => field.name);
    if (!fields.some((field) => wanted.has(field.name))) return;
    for (const field of fields) field.value = wanted.get(field.name) ?? "";
    filter();
    document.getElementById("verdicts").scrollIntoView();
  }

  form.addEventListener("input", () => {
    filter();
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    history.replaceState(null, "", `#${new URLSearchParams(chosen)}`);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
