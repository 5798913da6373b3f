// Unfolds what an address leads to: a figure, a statement or a panel below a heading that is closed.
"use strict";
(() => {
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
