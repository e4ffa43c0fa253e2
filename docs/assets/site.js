// Wide tables scroll: they can be reached by the keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  const reachable = () =>
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => (table.tabIndex = 0))
  reachable()
  setTimeout(reachable, 500) // the theme wraps tables while the page is shown
})
