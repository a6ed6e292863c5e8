// Filters the rows, and opens the row that the address or a link names.
"use strict";
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll(".rows > li")];
const words = rows.map((row) => row.querySelector("summary").textContent.toLowerCase() + "\n" +
  [...row.querySelectorAll("pre, .figures")].map((part) => part.textContent.toLowerCase()).join("\n"));

function matches(row, index) {
  const data = new FormData(form);
  return (!data.get("release") || JSON.parse(row.dataset.release).includes(data.get("release"))) &&
    ["contract", "oracle", "tier"].every((name) => !data.get(name) ||
      row.dataset[name] === data.get(name)) &&
    words[index].includes(data.get("words").trim().toLowerCase());
}

function filter() {
  let count = 0;
  rows.forEach((row, index) => {
    row.hidden = !matches(row, index);
    count += !row.hidden;
  });
  document.getElementById("shown").textContent = `${count} of ${rows.length} root causes`;
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || target.tagName !== "DETAILS") return;
  if (target.closest("li[hidden]")) {
    form.reset();
    filter();
  }
  target.open = true;
  target.scrollIntoView();
  target.querySelector("summary").focus({preventScroll: true});
}

if (form) {
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));  // the event comes before the reset
  filter();  // a browser may have kept what was chosen before a reload
}
window.addEventListener("hashchange", openTarget);
openTarget();
