// Marks the fields that the server refuses and goes to the first of them; says when the server does not answer.
"use strict";
(() => {
  function mark() {
    let first = null;
    for (const error of document.querySelectorAll(".error")) {
      const field = document.getElementById(error.id.replace(/-error$/, ""));
      if (error.textContent) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
      if (error.textContent) first ??= field;
    }
    return first;
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    const isForm = event.detail.requestConfig?.elt?.id === "form";
    const first = mark();
    if (!isForm || !first) return;
    for (let each = first; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    first.focus();
  });
  document.addEventListener("htmx:sendError", () => {
    const status = document.getElementById("status"), text = "The server does not answer. Is earlybird web still running?";
    if (status.textContent === text) return;
    status.textContent = text;
    document.getElementById("result").insertAdjacentHTML("afterbegin", `<p class="answer failed">${text}</p>`);
  });
})();
