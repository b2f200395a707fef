// Sets the theme before the first paint, so that a dark page never flashes white.
(function () {
  var kept = null;
  try {
    kept = localStorage.getItem("quotalab.theme");
  } catch (error) {
    kept = null; // storage may be switched off; the system's theme then rules
  }
  var asked = new URLSearchParams(location.search).get("theme");
  var dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = asked || kept || (dark ? "dark" : "light");
})();
