// Links to the verdict table, which once stood on the start page, lead to where it is: #paper=T&verdict=no, #verdicts.
"use strict";
(() => {
  const FILTERS = ["paper", "level", "verdict", "study", "reason", "words"];
  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (location.hash === "#verdicts" || FILTERS.some((name) => wanted.has(name))) location.replace(`verdicts.html${location.hash}`);
  }
  addEventListener("hashchange", follow);
  follow();
})();
